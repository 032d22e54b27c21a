"""Amounts that are one in two units of a dimension, and amounts that are the sum or difference of two others. Pure.

24 months are two years, 3 km are 3000 m, 2.5 litres per second are 9 m³ per hour. What is per a month and what is per a day are of two dimensions.
"""

import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise

from msgspec import Struct

from api.agent.dimensions import PHYSICAL, SCALES, ZERO
from api.agent.quantities import Quantity
from api.agent.units import usual

# each a thousand of the one before, or 1024; in bits
_DATA = {
    "KB": (8, 1),
    "MB": (8, 2),
    "GB": (8, 3),
    "TB": (8, 4),
    "PB": (8, 5),
    "kbit": (1, 1),
    "Mbit": (1, 2),
    "Gbit": (1, 3),
}
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
_LONGEST = 40  # digits; what is longer measures nothing
_PERCENT_OFF = Fraction(1, 100)


class Amount(Struct, frozen=True, kw_only=True):
    """`dimension`: of what, and per what; a unit that is in none, and what is counted without one, is one of its own. `value`: in its base.

    `step`: what one of the unit is in the base. `physical`: whether the same amount in another unit is the same statement: 300 € a month
    may not be 3600 € a year.
    """

    dimension: str
    value: Fraction
    step: Fraction
    physical: bool


class Amounts:
    """The figures of a text by dimension, worked out once for all that is held against them."""

    def __init__(self, seen: Sequence[Quantity]) -> None:
        self._data = [one for one in seen if one.unit in _DATA][:_MOST]
        self._percentages = any(one.unit == "%" for one in seen)
        self._by_dimension: dict[str, dict[Fraction, list[Quantity]]] = {}
        for one in (*seen, *joined(seen).values()):
            if (here := amount(one)) is not None:
                self._by_dimension.setdefault(here.dimension, {}).setdefault(here.value, []).append(one)

    def equal(self, one: Quantity) -> list[Quantity]:
        """Those of these that are exactly it in another unit of its dimension."""
        said = amount(one)
        if said is None or said.dimension.partition("/")[0] not in _NAMED:
            return []
        return self._by_dimension.get(said.dimension, {}).get(said.value, [])

    def perhaps_equal(self, one: Quantity) -> bool:
        """GB and MB, which are a thousand or 1024 of one another; the same rate of what is no physical unit; or rounded as it is written."""
        if any(_data_fit(one, other) for other in self._data):
            return True
        said = amount(one)
        if said is None:
            return False
        seen = self._by_dimension.get(said.dimension, {})
        if not said.physical:
            return bool(one.per) and said.value in seen
        return any(
            _is_rounded(one, said, value) and any((other.unit, other.per) != (one.unit, one.per) for other in others)
            for value, others in seen.items()
        )

    def make(self, one: Quantity, sentence: str) -> bool:
        """Whether the sentence tells it as a sum or difference, and two of these of its dimension make it."""
        said = amount(one)
        if said is None or not _tells_of_reckoning(sentence):
            return False
        dimension, value = "share" if said.dimension == "pp" else said.dimension, abs(said.value)
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
        if first.unit not in _BASES or second.unit not in _BASES or first.per or second.per:
            continue
        large, small = amount(first), amount(second)
        if large and small and large.dimension == small.dimension and large.value > small.value > 0:
            whole = Quantity(
                value=_plain(large.value + small.value),
                unit=_BASES[first.unit],
                written=f"{first.written}{second.written}",
            )
            found[first.written] = found[second.written] = whole
    return found


_NAMED = {dimension for dimension, _ in SCALES.values()}
_BASES = {
    unit: "s" if dimension == "time" else "month"
    for unit, (dimension, _) in SCALES.items()
    if dimension in ("time", "calendar")
}


@lru_cache(maxsize=512)
def amount(one: Quantity) -> Amount | None:
    """None for what is no number that measures anything."""
    if len(one.value) > _LONGEST:
        return None
    value, step = Fraction(one.value), Fraction(1)
    dimension = usual(one.unit or f"count {one.after}")
    physical = False
    if one.unit in SCALES:
        dimension, step = SCALES[one.unit]
        physical = dimension in PHYSICAL
        value += ZERO.get(one.unit, 0) if not one.per else 0
    for per in sorted(one.per, key=lambda each: each.name):
        if per.dimension:
            of, factor = SCALES[per.name]
            step /= factor * Fraction(per.count)
            dimension = f"{dimension}/{of}"
    return Amount(dimension=dimension, value=value * step, step=step, physical=physical)


def _is_rounded(one: Quantity, said: Amount, seen: Fraction) -> bool:
    """Whether another amount, rounded to the last digit that the figure gives, is the figure; by a hundredth at most, but a temperature has no zero to
    reckon from."""
    off = abs(said.value - seen)
    if said.dimension == "temperature":
        return off <= _last_digit(one.value, noughts=True) * said.step / 2
    return off <= _last_digit(one.value) * said.step / 2 and off <= abs(seen) * _PERCENT_OFF


def _last_digit(value: str, *, noughts: bool = False) -> Fraction:
    """What one of its last digit is worth. `noughts`: whether those at its end are digits too."""
    _, point, decimals = value.partition(".")
    if point:
        return Fraction(1, 10 ** len(decimals))
    return Fraction(10 ** (0 if noughts else len(value) - len(value.rstrip("0"))))


def _data_fit(one: Quantity, other: Quantity) -> bool:
    if one.unit not in _DATA or one.per != other.per:
        return False
    (said_bits, said_power), (seen_bits, seen_power) = _DATA[one.unit], _DATA[other.unit or ""]
    said, seen = Fraction(one.value) * said_bits, Fraction(other.value) * seen_bits
    return any(said * Fraction(base) ** (said_power - seen_power) == seen for base in (1000, 1024))


def _plain(value: Fraction) -> str:
    return format((Decimal(value.numerator) / Decimal(value.denominator)).normalize(), "f")
