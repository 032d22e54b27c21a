"""How figures are written: number, sign, multiplier, the unit on either side, what it is per. Pure."""

import re
from decimal import Decimal, InvalidOperation

from msgspec import Struct

from api.agent.denominators import Per
from api.agent.dimensions import SCALES
from api.agent.money import CODES, MONEY
from api.agent.numerals import Spelled, in_groups
from api.agent.rates import Rates
from api.agent.units import (
    BEHIND_SHORT,
    RATES,
    SHORT,
    SPELLINGS,
    TIMES,
    alternatives,
    clearer,
    money_before,
    short_times,
)


class Quantity(Struct, frozen=True, kw_only=True):
    """`value`: normalised, multipliers applied (3.5万 and 35000 are one), signed. `unit`: canonical, a currency's sign in front
    included; None if none of the table stands there.

    `in_words`: written 三百 or "three hundred". `after`: the character or word behind it. `per`: "5 km per hour" is 5 km, and per what.
    """

    value: str
    unit: str | None
    written: str
    in_words: bool = False
    after: str = ""
    per: tuple[Per, ...] = ()

    @property
    def is_article(self) -> bool:
        """一种, "one of": may be a number, and may be no more than an article."""
        return self.in_words and self.value == "1"


# "-40" is negative, "30-40", "3天-5天", "30°C-40°C" and "GB-40" are not
_SIGN = re.compile(
    r"(?:(?<![A-Za-z0-9_.)\]%])(?<!\d[\u4e00-\u9fff])(?<!\d[\u4e00-\u9fff]{2})-|(?:负|零下)\s?|(?i:\b(?:minus|negative)\s))\Z"
)
_LONGEST_SIGN = len("negative ")
_NUMBER = re.compile(  # begins with a digit, so that a search passes over everything else at once
    rf"(?P<digits>\d(?:(?<![A-Za-z0-9_.].)|(?<=(?:{'|'.join(CODES)}).))"
    r"(?:\d{0,2}(?:,\d{3})+(?:\.\d+)?|\d*(?:\.\d+)?))(?![\d_]|\.\d)"
    rf"(?:\s?(?P<times>{alternatives(TIMES)}))?(?:余|多)?(?:[\s-]?(?P<unit>{alternatives(SPELLINGS)}))?"
)
_UNIT_BEHIND = re.compile(rf"\s?({alternatives(SPELLINGS)})")
_SHORT_AMOUNT = re.compile(r"\d[\d.,]*(?:k|K|mn|m|M|bn|b|B|tn|T)")
_GLUED_CODE = re.compile(rf"(?:{'|'.join(CODES)})\d[\d.,]*(?:k|K|mn|m|M|bn|b|B|tn|T)?")
_POWER = re.compile(r"(?:m|s|t)[23](?![A-Za-z0-9])|/\d")
_WINDOW = 40  # code points between a figure and the end of its unit
_DECADE = re.compile(r"\d0s$")  # the 1990s
_AFTER = re.compile(r"\s?([A-Za-z]+|[\u4e00-\u9fff])")
_PERCENT_ZH = re.compile(r"百分之(\d+(?:\.\d+)?)")


def grouped(text: str) -> tuple[str, tuple[Quantity, ...]]:
    """With commas for the other signs between thousands; the second: as if blanks there stood between two figures."""

    def measured(start: int, end: int) -> bool:
        unit = SPELLINGS.get(behind[1]) if (behind := _UNIT_BEHIND.match(text, end)) else None
        countable = unit is not None and SCALES.get(unit, ("time",))[0] not in ("time", "calendar")
        return countable or unit in MONEY or unit == "pound" or money_before(text, start) is not None

    whole, places = in_groups(text, measured=measured)
    found: list[Quantity] = []
    for start, end in places:
        behind = _UNIT_BEHIND.match(text, end)
        for match in _NUMBER.finditer(text[start : behind.end() if behind else end]):
            value, unit = _value(match["digits"], 1), SPELLINGS.get(match["unit"] or "")
            found.append(Quantity(value=value, unit=unit, written=match[0]))
    return whole, tuple(found)


def is_measured(text: str, match: re.Match[str]) -> bool:
    """Whether what may be an identifier is a figure, or the unit of one."""
    return _NUMBER.fullmatch(match[0]) is not None or _is_amount(text, match) or _is_unit(text, match)


def _is_amount(text: str, match: re.Match[str]) -> bool:
    """Whether what may be an identifier is an amount: RMB300, the 5bn of "$5bn" and of "5bn euros", 2.5L/s, the 300/seat of "$300/seat"."""
    if _GLUED_CODE.fullmatch(match[0]):
        return True
    if "/" in match[0] and (number := _NUMBER.match(text, match.start())):
        measure = _measure(text, number, Rates(text))
        if (measure.unit is not None or measure.per) and measure.end >= match.end():
            return True
    return _SHORT_AMOUNT.fullmatch(match[0]) is not None and (
        money_before(text, match.start()) is not None or BEHIND_SHORT.match(text, match.end()) is not None
    )


def _is_unit(text: str, match: re.Match[str]) -> bool:
    """Whether what may be an identifier is the unit of the figure before it: the m3/h of "9 m3/h", the m2 of "12 kg per m2"."""
    if _POWER.search(match[0]) is None:
        return False
    near = [one for one in _NUMBER.finditer(text, max(match.start() - _WINDOW, 0), match.start()) if one]
    number = _NUMBER.match(text, near[-1].start()) if near else None
    return number is not None and _measure(text, number, Rates(text)).end >= match.end()


def quantities(text: str, spelled: Spelled, plain: str) -> tuple[tuple[Quantity, ...], list[tuple[int, int]]]:
    """The second: where units stand. `text`: that of `spelled`, which was `plain`, with blanks for what is no quantity."""

    def written(start: int, end: int) -> str:
        return plain[spelled.original(start) : spelled.original(end, end=True)].strip()

    found: list[Quantity] = []
    units: list[tuple[int, int]] = []
    rates = Rates(text)
    for match in _NUMBER.finditer(text):
        measure = _measure(text, match, rates)
        start, sign = measure.start, _sign(text, match.start()) or _sign(text, measure.start)
        behind = _AFTER.match(text, match.end("times" if match["times"] else "digits"))
        found.append(
            Quantity(
                value=f"-{measure.value}" if sign else measure.value,
                unit=None if _DECADE.search(match[0]) else measure.unit,
                written=written(min(start, sign.start()) if sign else start, measure.end),
                in_words=spelled.in_words(match.start("digits"), match.end("digits")),
                after=behind[1].lower() if behind else "",
                per=measure.per,
            )
        )
        if measure.unit is not None:
            units += [(start, match.start()), (match.end("digits"), measure.end)]
    found += [
        Quantity(value=_value(match[1], 1), unit="%", written=written(*match.span()))
        for match in _PERCENT_ZH.finditer(text)
    ]
    return tuple(found), units


class _Measure(Struct, frozen=True, kw_only=True):
    """`start`, `end`: with the currency in front and the unit behind, and with what it is per if that is beside it."""

    value: str
    unit: str | None
    per: tuple[Per, ...]
    start: int
    end: int


def _measure(text: str, match: re.Match[str], rates: Rates) -> _Measure:
    sign = _sign(text, match.start())
    money = money_before(text, sign.start() if sign else match.start())
    unit, times, end = SPELLINGS.get(match["unit"] or ""), TIMES.get(match["times"] or "", 1), match.end()
    short = None if match["times"] else SHORT.match(text, match.end("digits"))
    behind = BEHIND_SHORT.match(text, short.end()) if short else None
    if short and (money or behind):
        unit, times, end = SPELLINGS[behind[1]] if behind else None, short_times(short[1]), (behind or short).end()
    if money:
        unit = clearer(money[1], unit)
    unit, own = _rate(unit)
    before, start = rates.before(money[0] if money else sign.start() if sign else match.start())
    per, end = rates.behind(end, measured=unit is not None)
    return _Measure(
        value=_value(match["digits"], times),
        unit=unit,
        per=(*own, *per, *_others(before, (*own, *per))),
        start=min(start, money[0] if money else match.start()),
        end=end,
    )


def _others(before: tuple[Per, ...], per: tuple[Per, ...]) -> list[Per]:
    """Of what stands before a figure what isn't said right behind it: an annual fee of $300 a month is per month."""
    told = {one.dimension for one in per}
    return [one for one in before if (one.dimension not in told if one.dimension else one not in per)]


def _rate(unit: str | None) -> tuple[str | None, tuple[Per, ...]]:
    """What mph and rpm are of what, and per what."""
    if unit not in RATES:
        return unit, ()
    of, per = RATES[unit]
    return of, (Per(name=per),)


def _sign(text: str, start: int) -> re.Match[str] | None:
    return _SIGN.search(text, max(start - _LONGEST_SIGN, 0), start)


def _value(digits: str, times: int) -> str:
    try:
        value = Decimal(digits.replace(",", "")) * times
        return format(value.normalize(), "f")
    except InvalidOperation:
        return digits
