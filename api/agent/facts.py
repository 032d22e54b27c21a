"""What in a sentence can be looked up literally: numbers with units, dates, names, quoted words. Pure."""

import re
import unicodedata
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from msgspec import Struct

from api.agent.numerals import Spelled, in_digits
from shared.text.sentences import sentences


class Quantity(Struct, frozen=True, kw_only=True):
    """`value`: normalised, multipliers applied (3.5万 and 35000 are one), signed. `unit`: canonical, None if none of the table follows.

    `in_words`: written 三百 or "three hundred". `after`: the character or word behind it.
    """

    value: str
    unit: str | None
    written: str
    in_words: bool = False
    after: str = ""

    @property
    def is_article(self) -> bool:
        """一种, "one of": may be a number, and may be no more than an article."""
        return self.in_words and self.value == "1"


class Date(Struct, frozen=True):
    year: int | None
    month: int | None
    day: int | None
    written: str


class Facts(Struct, frozen=True, kw_only=True):
    quantities: tuple[Quantity, ...]
    dates: tuple[Date, ...]
    names: tuple[str, ...]  # capitalised words, acronyms, identifiers, versions
    quoted: tuple[str, ...]


_UNITS: dict[str, tuple[str, ...]] = {
    "%": ("%", "percent", "per cent"),
    "pp": ("percentage points", "percentage point", "个百分点", "百分点"),
    "‰": ("‰", "per mille", "per mil"),
    "km/h": ("km/h", "kph", "公里/小时", "千米/小时"),
    "km2": ("km2", "square kilometers", "square kilometres", "平方公里", "平方千米"),
    "m2": ("m2", "square meters", "square metres", "平方米"),
    "m3": ("m3", "cubic meters", "cubic metres", "立方米"),
    "km": ("km", "kilometers", "kilometres", "kilometer", "kilometre", "公里", "千米"),
    "cm": ("cm", "centimeters", "centimetres", "厘米"),
    "mm": ("mm", "millimeters", "millimetres", "毫米"),
    "nm": ("nm", "nanometers", "nanometres", "纳米"),
    "m": ("meters", "metres", "meter", "metre", "m", "米"),
    "mile": ("miles", "mile", "英里"),
    "ft": ("feet", "foot", "ft", "英尺"),
    "kg": ("kg", "kilograms", "kilogram", "公斤", "千克"),
    "mg": ("mg", "milligrams", "毫克"),
    "g": ("grams", "gram", "g", "克"),
    "t": ("tonnes", "tons", "吨"),
    "ml": ("ml", "milliliters", "millilitres", "毫升"),
    "l": ("liters", "litres", "liter", "litre", "升"),
    "°C": ("°C", "℃", "degrees Celsius", "摄氏度"),
    "°F": ("°F", "℉", "degrees Fahrenheit", "华氏度"),
    "ms": ("ms", "milliseconds", "毫秒"),
    "μs": ("μs", "microseconds", "微秒"),
    "s": ("seconds", "second", "sec", "s", "秒钟", "秒"),
    "min": ("minutes", "minute", "mins", "min", "分钟"),
    "h": ("hours", "hour", "hrs", "h", "小时"),
    "day": ("days", "day", "天"),
    "week": ("weeks", "week", "周", "星期"),
    "month": ("months", "month", "个月"),
    "year": ("years old", "years", "year", "岁", "年"),
    "USD": ("US dollars", "dollars", "USD", "美元"),
    "EUR": ("euros", "EUR", "欧元"),
    "CNY": ("yuan", "RMB", "CNY", "人民币", "元"),
    "TB": ("TB",),
    "GB": ("GB",),
    "MB": ("MB",),
    "KB": ("KB",),
    "Hz": ("Hz", "赫兹"),
    "kHz": ("kHz", "千赫"),
    "MHz": ("MHz", "兆赫"),
    "GHz": ("GHz", "吉赫"),
    "W": ("watts", "watt", "W", "瓦特", "瓦"),
    "kW": ("kW", "kilowatts", "千瓦"),
    "MW": ("MW", "megawatts", "兆瓦"),
    "kWh": ("kWh", "kilowatt hours", "kilowatt-hours", "千瓦时"),
    "V": ("volts", "volt", "V", "伏特", "伏"),
    "kV": ("kV", "kilovolts", "千伏"),
    "A": ("amperes", "ampere", "amps", "安培"),
    "mA": ("mA", "milliamperes", "毫安"),
    "bar": ("bar", "巴"),
    "Pa": ("Pa", "pascals", "帕"),
    "kPa": ("kPa", "千帕"),
    "MPa": ("MPa", "兆帕"),
    "N": ("newtons", "牛顿"),
    "dB": ("dB", "decibels", "分贝"),
    "rpm": ("rpm", "revolutions per minute", "转/分"),
    "person": ("people", "persons", "人"),
}
_SPELLINGS = {spelling: unit for unit, spellings in _UNITS.items() for spelling in spellings}
_TIMES = {
    "万亿": 10**12,
    "千亿": 10**11,
    "百亿": 10**10,
    "十亿": 10**9,
    "千万": 10**7,
    "百万": 10**6,
    "亿": 10**8,
    "万": 10**4,
    "trillion": 10**12,
    "billion": 10**9,
    "million": 10**6,
    "thousand": 10**3,
}


def _alternatives(words: dict[str, object]) -> str:
    """Longest first; a Latin spelling must end where the word does."""
    ordered = sorted(words, key=len, reverse=True)
    return "|".join(
        re.escape(word) + (r"(?![A-Za-z])" if word[-1].isascii() and word[-1].isalnum() else "") for word in ordered
    )


# "-40" is negative, "30-40", "3天-5天", "30°C-40°C" and "GB-40" are not
_SIGN = re.compile(
    r"(?:(?<![A-Za-z0-9_.)\]%])(?<!\d[\u4e00-\u9fff])(?<!\d[\u4e00-\u9fff]{2})-|(?:负|零下)\s?|(?i:\b(?:minus|negative)\s))\Z"
)
_LONGEST_SIGN = len("negative ")
_NUMBER = re.compile(  # begins with a digit, so that a search passes over everything else at once
    r"(?P<digits>\d(?<![A-Za-z0-9_.].)(?:\d{0,2}(?:,\d{3})+(?:\.\d+)?|\d*(?:\.\d+)?))(?![\d_]|\.\d)"
    rf"(?:\s?(?P<times>{_alternatives(dict(_TIMES))}))?(?:余|多)?(?:[\s-]?(?P<unit>{_alternatives(dict(_SPELLINGS))}))?"
)
_DECADE = re.compile(r"\d0s$")  # the 1990s
_AFTER = re.compile(r"\s?([A-Za-z]+|[\u4e00-\u9fff])")
_PERCENT_ZH = re.compile(r"百分之(\d+(?:\.\d+)?)")
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "January Jan", "February Feb", "March Mar", "April Apr", "May", "June Jun", "July Jul", "August Aug",
            "September Sept Sep", "October Oct", "November Nov", "December Dec",
        ),
        1,
    )
    for name in names.split()
}  # fmt: skip
_MONTH = "(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_MONTH_SIGNS = {name[:3] for name in _MONTHS}
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
# each with what stands in every one of its dates
_DATES = tuple(
    (frozenset(signs), re.compile(pattern))
    for signs, pattern in (
        ("月", r"(?=\d)(?<!\d)(?:(?P<year>\d{4})\s?年\s?)?(?P<month>\d{1,2})\s?月(?:\s?(?P<day>\d{1,2})\s?[日号])?"),
        ("-/.", r"(?P<year>\d\d{3})(?<![\d.].{4})(?P<sep>[-/.])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})(?!\d|\.\d)"),
        (_MONTH_SIGNS, rf"\b{_MONTH} {_DAY}(?!\d)(?:,? (?P<year>\d{{4}}))?"),
        (_MONTH_SIGNS, rf"\b{_DAY} (?:of )?{_MONTH}(?:,? (?P<year>\d{{4}}))?"),
        (_MONTH_SIGNS, rf"\b{_MONTH},? (?P<year>\d{{4}})"),
    )
)
_QUOTED = re.compile(
    r"“([^“”\n]{2,200})”|「([^「」\n]{2,200})」|『([^『』\n]{2,200})』|《([^《》\n]{2,100})》|(?<!\w)\"([^\"\n]{2,200})\"(?!\w)|`([^`\n]{2,100})`"
)
_IDENTIFIER = re.compile(
    r"(?<![A-Za-z0-9_])(?=[A-Za-z0-9])(?=[A-Za-z0-9_.\-/]*[A-Za-z_])(?=[A-Za-z0-9_.\-/]*[\d_])[A-Za-z0-9][A-Za-z0-9_]*(?:[-_./#+][A-Za-z0-9_]+)*|(?<![A-Za-z0-9_.])v?\d+(?:\.\d+){2,}(?![A-Za-z0-9_])"
)
_CAPITALISED = re.compile(r"(?<![A-Za-z0-9_.\-])[A-Z][A-Za-z]*[A-Za-z](?:'s)?")
_GENERIC_WORDS = (
    "inference table figure section chapter appendix note source answer yes no however therefore although because while when if it its"
    " they this that these those there the an in on at for from by with according both each all and or but so as to of he she we you"
    " monday tuesday wednesday thursday friday saturday sunday"
)
GENERIC = frozenset(_GENERIC_WORDS.split())
_EMPHASIS = re.compile(r"[*_]{2,}")
_SENTENCE_START = re.compile(r"(?:^|[.!?:。！？：;；\n]\s*|^\s*[-*+>#\d.()]+\s*)[\"'“‘(\[*_]*$")


@lru_cache(maxsize=512)
def facts(text: str) -> Facts:
    """Everything in a sentence that its source must show. Several rules ask for the same sentence's, and for the same block's."""
    plain = plain_text(text)
    spelled = in_digits(plain)
    rest, dates = _taken(spelled.text, _dates(spelled.text))
    quoted = tuple(next(filter(None, match.groups())).strip() for match in _QUOTED.finditer(plain))
    names: list[str] = []

    def taken(match: re.Match[str]) -> str:
        if _NUMBER.fullmatch(match[0]):
            return match[0]
        names.append(match[0])
        return " " * len(match[0])

    without = _IDENTIFIER.sub(taken, rest)
    names += _capitalised(without)
    return Facts(
        quantities=_quantities(without, spelled, plain), dates=dates, names=tuple(dict.fromkeys(names)), quoted=quoted
    )


@lru_cache(maxsize=512)
def plain_text(text: str) -> str:
    """One spelling of width, minus, blanks and emphasis. Nearly every rule asks for the same evidence's."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).replace("\u2212", "-")
    return _EMPHASIS.sub("", text)


@lru_cache(maxsize=64)
def plain_sentences(text: str) -> tuple[str, ...]:
    """Those of its plain text. Several rules ask for the same evidence's."""
    plain = plain_text(text)
    return tuple(plain[start:end] for start, end in sentences(plain))


def _dates(text: str) -> list[tuple[int, int, Date]]:
    found: list[tuple[int, int, Date]] = []
    for signs, pattern in _DATES:
        for match in pattern.finditer(text) if any(one in text for one in signs) else ():
            if any(start < match.end() and match.start() < end for start, end, _ in found):
                continue
            parts = match.groupdict()
            month = parts["month"]
            day, year = parts.get("day"), parts.get("year")
            date = Date(
                year=int(year) if year else None,
                month=_MONTHS[month] if month in _MONTHS else int(month),
                day=int(day) if day else None,
                written=match[0].strip(),
            )
            if 1 <= (date.month or 0) <= 12 and 1 <= (date.day or 1) <= 31:
                found.append((match.start(), match.end(), date))
    return found


def _taken(text: str, found: list[tuple[int, int, Date]]) -> tuple[str, tuple[Date, ...]]:
    for start, end, _ in found:
        text = text[:start] + " " * (end - start) + text[end:]
    return text, tuple(date for _, _, date in sorted(found, key=lambda one: one[0]))


def _quantities(text: str, spelled: Spelled, plain: str) -> tuple[Quantity, ...]:
    """`text`: that of `spelled`, which was `plain`, with blanks for what is no quantity."""

    def written(start: int, end: int) -> str:
        return plain[spelled.original(start) : spelled.original(end, end=True)].strip()

    found: list[Quantity] = []
    for match in _NUMBER.finditer(text):
        value = _value(match["digits"], match["times"])
        start = match.start()
        sign = _SIGN.search(text, max(start - _LONGEST_SIGN, 0), start)
        behind = _AFTER.match(text, match.end("digits"))
        found.append(
            Quantity(
                value=f"-{value}" if sign else value,
                unit=None if _DECADE.search(match[0]) else _SPELLINGS.get(match["unit"] or ""),
                written=written(sign.start() if sign else start, match.end()),
                in_words=spelled.in_words(match.start("digits"), match.end("digits")),
                after=behind[1].lower() if behind else "",
            )
        )
    found += [
        Quantity(value=_value(match[1], None), unit="%", written=written(*match.span()))
        for match in _PERCENT_ZH.finditer(text)
    ]
    return tuple(found)


def _value(digits: str, times: str | None) -> str:
    try:
        value = Decimal(digits.replace(",", "")) * _TIMES.get(times or "", 1)
        return format(value.normalize(), "f")
    except InvalidOperation:
        return digits


def _capitalised(text: str) -> list[str]:
    names: list[str] = []
    for match in _CAPITALISED.finditer(text):
        word = match[0].removesuffix("'s")
        acronym = not word[1:].islower()
        if word.lower() in GENERIC or (
            not acronym and _starts_sentence(text[max(match.start() - 40, 0) : match.start()])
        ):
            continue
        names.append(word)
    return names


def _starts_sentence(before: str) -> bool:
    """Whether a sentence may begin behind this text; behind a word and blanks none does."""
    return not before.rstrip(" ")[-1:].isalpha() and _SENTENCE_START.search(before) is not None
