"""Amounts that are one in two units of a dimension, and amounts that are the sum or difference of two others. Pure.

24 months are two years and 3 km are 3000 m. A day of 24 hours is meant where 天 or day stands; months and years have no fixed number
of days and are of a dimension of their own.
"""

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from itertools import combinations, pairwise

from api.agent.facts import Quantity
from api.agent.units import usual

_DIMENSIONS: dict[str, dict[str, str]] = {
    "time": {"ms": "0.001", "s": "1", "min": "60", "h": "3600", "day": "86400", "week": "604800"},
    "calendar": {"month": "1", "year": "12"},
    "length": {"nm": "0.000000001", "mm": "0.001", "cm": "0.01", "m": "1", "km": "1000"},
    "area": {"cm2": "0.0001", "m2": "1", "ha": "10000", "km2": "1000000"},
    "mass": {"mg": "0.001", "g": "1", "jin": "500", "kg": "1000", "t": "1000000"},
    "volume": {"ml": "1", "cm3": "1", "l": "1000", "m3": "1000000"},
    "power": {"W": "1", "kW": "1000", "MW": "1000000", "GW": "1000000000"},
    "energy": {"kWh": "1", "MWh": "1000"},
    "heat": {"J": "1", "kJ": "1000"},
    "voltage": {"mV": "0.001", "V": "1", "kV": "1000"},
    "current": {"mA": "0.001", "A": "1", "kA": "1000"},
    "charge": {"mAh": "0.001", "Ah": "1"},
    "resistance": {"Ω": "1", "kΩ": "1000"},
    "pressure": {"Pa": "1", "kPa": "1000", "bar": "100000", "MPa": "1000000"},
    "force": {"N": "1", "kN": "1000"},
    "frequency": {"Hz": "1", "kHz": "1000", "MHz": "1000000", "GHz": "1000000000"},
    "share": {"%": "1"},
}
_IN_BASE = {
    unit: (dimension, Decimal(factor)) for dimension, units in _DIMENSIONS.items() for unit, factor in units.items()
}
_BYTES = ("KB", "MB", "GB", "TB", "PB")  # each a thousand of the one before, or 1024
_RATES = ("Mbps", "Gbps")
_TOLD = re.compile(
    r"净[增减]|[合总共]计|总[共和额数]|[一总]共|加起来|之和|相[差减加]|差[额距值]|[多少高低快慢长短贵](?:出|了|\d)|[增减]加?了?|[上下]降|上升|提高|降低|增长|余下|剩余|剩下|其余|比"
    r"|\b(?:net|totals?|totall?ing|altogether|together|combined|sum|more|less|fewer|higher|lower|longer|shorter|cheaper|dearer|differ\w*|rose|fell"
    r"|increase[sd]?|decrease[sd]?|remaining|left|difference|up|down|than|gap)\b",
    re.IGNORECASE,
)
_ROUGHLY = re.compile(
    r"[一过近大]半|半数|[二三四五六七八九十]分之[一二三四五六七八九]|\b(?:half|a third|two thirds|a quarter|three quarters|a fifth|majority)\b",
    re.IGNORECASE,
)
_MOST = 40  # figures of one dimension whose pairs are tried


class Amounts:
    """The figures of a text by dimension, worked out once for all that is held against them."""

    def __init__(self, seen: Sequence[Quantity]) -> None:
        self._bytes = [one for one in seen if one.unit in _BYTES or one.unit in _RATES][:_MOST]
        self._percentages = any(one.unit == "%" for one in seen)
        self._by_dimension: dict[str, dict[Decimal, None]] = {}
        for amount in map(_amount, (*seen, *joined(seen).values())):
            if amount is not None:
                self._by_dimension.setdefault(amount[0], {})[amount[1]] = None

    def convert(self, one: Quantity) -> bool:
        """Whether one of these is exactly it in another unit of its dimension."""
        amount = _amount(one)
        return amount is not None and amount[0] in _DIMENSIONS and amount[1] in self._by_dimension.get(amount[0], ())

    def perhaps_convert(self, one: Quantity) -> bool:
        """GB and MB, which are a thousand or 1024 of one another."""
        return any(_bytes_fit(one, other) for other in self._bytes)

    def make(self, one: Quantity, sentence: str) -> bool:
        """Whether the sentence tells it as a sum or difference, and two of these of its dimension make it."""
        amount = _amount(one)
        if amount is None or not _tells_of_reckoning(sentence):
            return False
        dimension, value = "share" if amount[0] == "pp" else amount[0], abs(amount[1])
        like = dict.fromkeys(map(abs, [*self._by_dimension.get(dimension, ())][:_MOST]))
        return any(value in (first + second, abs(first - second)) for first, second in combinations(like, 2))

    def are_roughly(self, sentence: str) -> bool:
        """Whether the sentence may say in words, 一半 or "a third", what is a percentage here."""
        return self._percentages and _ROUGHLY.search(sentence) is not None


@lru_cache(maxsize=64)
def _tells_of_reckoning(sentence: str) -> bool:
    """Asked for every figure of a sentence."""
    return _TOLD.search(sentence) is not None


def joined(said: Sequence[Quantity]) -> dict[str, Quantity]:
    """Two that follow one another from large to small, 1小时30分钟: each, as written, with what they are together."""
    found: dict[str, Quantity] = {}
    for first, second in pairwise(said):
        large, small = _amount(first), _amount(second)
        if large and small and large[0] == small[0] and large[0] in ("time", "calendar") and large[1] > small[1] > 0:
            base = "s" if large[0] == "time" else "month"
            whole = Quantity(value=_plain(large[1] + small[1]), unit=base, written=f"{first.written}{second.written}")
            found[first.written] = found[second.written] = whole
    return found


def _amount(one: Quantity) -> tuple[str, Decimal] | None:
    """Its dimension and how much; a unit that is in none, and what is counted without one, is a dimension of its own."""
    try:
        value = Decimal(one.value)
    except InvalidOperation:
        return None
    dimension, factor = _IN_BASE.get(one.unit or "", (usual(one.unit or f"count {one.after}"), Decimal(1)))
    return dimension, (value * factor).normalize()


def _bytes_fit(one: Quantity, other: Quantity) -> bool:
    for row in (_BYTES, _RATES):
        if one.unit in row and other.unit in row:
            steps = row.index(one.unit) - row.index(other.unit)
            said, seen = Decimal(one.value), Decimal(other.value)
            return any(said * Decimal(base) ** steps == seen for base in (1000, 1024))
    return False


def _plain(value: Decimal) -> str:
    return format(value.normalize(), "f")
