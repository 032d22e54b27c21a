"""Units and currencies: how each is written, in Chinese and in English, and which of them may mean one another. Pure."""

import re
from collections.abc import Container, Iterable
from functools import lru_cache
from typing import Literal

from api.agent.money import MAY_BE_SHORT_FOR, MONEY, MONEY_WORDS, NOT_BEFORE, NOT_BEHIND, SAME_MONEY, USUAL

Likeness = Literal["same", "perhaps", "other"]

_MEASURES: dict[str, tuple[str, ...]] = {
    "%": ("%", "percent", "per cent"),
    "pp": ("percentage points", "percentage point", "个百分点", "百分点"),
    "‰": ("‰", "per mille", "per mil"),
    "ppm": ("ppm", "parts per million"),
    "km2": ("km2", "square kilometers", "square kilometres", "square kilometer", "square kilometre", "平方公里", "平方千米"),
    "m2": ("m2", "square meters", "square metres", "square meter", "square metre", "平方米"),
    "cm2": ("cm2", "square centimeters", "square centimetres", "square centimeter", "square centimetre", "平方厘米"),
    "m3": ("m3", "cubic meters", "cubic metres", "cubic meter", "cubic metre", "立方米"),
    "cm3": ("cm3", "cubic centimeters", "cubic centimetres", "cubic centimeter", "cubic centimetre", "立方厘米"),
    "ft2": ("ft2", "sq ft", "square feet", "square foot", "平方英尺"),
    "ha": ("hectares", "hectare", "ha", "公顷"),
    "mu": ("亩",),
    "acre": ("acres", "acre", "英亩"),
    "km": ("km", "kilometers", "kilometres", "kilometer", "kilometre", "公里", "千米"),
    "cm": ("cm", "centimeters", "centimetres", "centimeter", "centimetre", "厘米"),
    "mm": ("mm", "millimeters", "millimetres", "millimeter", "millimetre", "毫米"),
    "nm": ("nm", "nanometers", "nanometres", "纳米"),
    "m": ("meters", "metres", "meter", "metre", "m", "米"),
    "mile": ("miles", "mile", "英里"),
    "nmi": ("nautical miles", "nautical mile", "海里"),
    "ft": ("feet", "foot", "ft", "英尺"),
    "inch": ("inches", "inch", "英寸"),
    "yd": ("yards", "yard", "yd"),
    "kg": ("kg", "kilograms", "kilogram", "公斤", "千克"),
    "mg": ("mg", "milligrams", "毫克"),
    "g": ("grams", "gram", "g", "克"),
    "μg": ("μg", "mcg", "micrograms", "微克"),
    "t": ("metric tonnes", "metric tons", "tonnes", "tonne", "tons", "ton", "t", "公吨", "吨"),
    "jin": ("市斤", "斤"),
    "lb": ("lbs", "lb", "磅"),
    "oz": ("ounces", "ounce", "oz", "盎司"),
    "ml": ("ml", "mL", "milliliters", "millilitres", "毫升"),
    "dl": ("dl", "dL", "分升"),
    "l": ("liters", "litres", "liter", "litre", "l", "L", "升"),
    "gal": ("gallons", "gallon", "加仑"),
    "°C": ("°C", "℃", "degrees Celsius", "摄氏度"),
    "°F": ("°F", "℉", "degrees Fahrenheit", "华氏度"),
    "K": ("K", "kelvins", "kelvin", "开尔文"),
    "ms": ("ms", "milliseconds", "毫秒"),
    "μs": ("μs", "microseconds", "微秒"),
    "s": ("seconds", "second", "sec", "s", "秒钟", "秒"),
    "min": ("minutes", "minute", "mins", "min", "分钟"),
    "h": ("hours", "hour", "hrs", "h", "小时"),
    "day": ("days", "day", "天"),
    "week": ("weeks", "week", "周", "星期"),
    "month": ("months", "month", "个月"),
    "year": ("years old", "years", "year", "岁", "年"),
    "PB": ("PB",),
    "TB": ("TB",),
    "GB": ("GB",),
    "MB": ("MB",),
    "KB": ("KB",),
    "kbit": ("kbit", "kilobits", "千比特"),
    "Mbit": ("Mbit", "megabits", "兆比特"),
    "Gbit": ("Gbit", "gigabits", "吉比特"),
    "Hz": ("Hz", "赫兹"),
    "kHz": ("kHz", "千赫"),
    "MHz": ("MHz", "兆赫"),
    "GHz": ("GHz", "吉赫"),
    "W": ("watts", "watt", "W", "瓦特", "瓦"),
    "kW": ("kW", "kilowatts", "千瓦"),
    "MW": ("MW", "megawatts", "兆瓦"),
    "GW": ("GW", "gigawatts", "吉瓦"),
    "hp": ("horsepower", "hp", "马力"),
    "kWh": ("kWh", "kilowatt hours", "kilowatt-hours", "千瓦时"),
    "MWh": ("MWh", "megawatt hours", "megawatt-hours", "兆瓦时"),
    "J": ("joules", "joule", "焦耳"),
    "kJ": ("kJ", "kilojoules", "千焦耳", "千焦"),
    "kcal": ("kcal", "kilocalories", "千卡", "大卡"),
    "V": ("volts", "volt", "V", "伏特", "伏"),
    "mV": ("mV", "millivolts", "毫伏"),
    "kV": ("kV", "kilovolts", "千伏"),
    "kVA": ("kVA", "千伏安"),
    "A": ("amperes", "ampere", "amps", "amp", "A", "安培", "安"),
    "mA": ("mA", "milliamperes", "毫安"),
    "kA": ("kA", "千安"),
    "Ah": ("Ah", "ampere-hours", "ampere hours", "安时"),
    "mAh": ("mAh", "毫安时"),
    "Ω": ("Ω", "ohms", "ohm", "欧姆"),
    "kΩ": ("kΩ", "千欧"),
    "bar": ("bar", "巴"),
    "psi": ("psi",),
    "Pa": ("Pa", "pascals", "帕"),
    "kPa": ("kPa", "千帕"),
    "MPa": ("MPa", "兆帕"),
    "mmHg": ("mmHg", "毫米汞柱"),
    "N": ("newtons", "牛顿"),
    "kN": ("kN", "千牛"),
    "N·m": (
        "N·m", "N⋅m", "N•m", "N-m", "N.m", "Nm", "newton metres", "newton meters", "newton-metres", "newton-meters",
        "牛·米", "牛⋅米", "牛•米", "牛顿·米", "牛顿米", "牛米",
    ),
    "lb·ft": ("lb·ft", "lb-ft", "ft·lb", "ft-lb", "ft-lbs", "foot-pounds", "pound-feet", "磅·英尺", "英尺·磅", "英尺磅"),
    "dB": ("dB", "decibels", "分贝"),
    "rev": ("revolutions", "revolution", "revs", "rev", "转"),
    "mmol": ("mmol", "millimoles", "毫摩尔"),
    "mol": ("mol", "moles", "摩尔"),
    "person": ("people", "persons", "人"),
}  # fmt: skip
_WEIGHT_OR_MONEY = {"pound": ("pounds", "pound")}
# written as one, and what it is of per what
RATES = {
    "kph": ("km", "h"), "mph": ("mile", "h"), "knot": ("nmi", "h"), "rpm": ("rev", "min"),
    "kbps": ("kbit", "s"), "Mbps": ("Mbit", "s"), "Gbps": ("Gbit", "s"),
}  # fmt: skip
_RATES = {
    "kph": ("kph", "kmh", "KPH"),
    "mph": ("mph", "MPH"),
    "knot": ("knots", "knot"),
    "rpm": ("rpm", "RPM", "r/min"),
} | {rate: (rate,) for rate in ("kbps", "Mbps", "Gbps")}
_UNITS = {**_MEASURES, **_RATES, **MONEY, **_WEIGHT_OR_MONEY}
SPELLINGS = {spelling: unit for unit, spellings in _UNITS.items() for spelling in spellings}
# a word that goes on in another way than the unit: 25安全, "25 A New Hope"
_NOT_BEHIND = {
    **NOT_BEHIND,
    "t": r"(?!-[A-Za-z])",
    "转": "(?![让移换变入向账载正动化型身学折机出播发述告达基包而念眼院])",
    "A": r"(?!\s?[A-Z])",
    "安": "(?![全装裝排静靜徽心置保检檢顿頓康慰防定抚撫阳陽])",
    "斤": "(?![斤两])",
}
_BEHIND_BLANK = frozenset({"K"})  # 4K is no temperature
_SAME = SAME_MONEY | {frozenset(("pound", "lb")), frozenset(("pound", "GBP"))}
TIMES = {
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
_SHORT_TIMES = {"k": 10**3, "m": 10**6, "mn": 10**6, "b": 10**9, "bn": 10**9, "tn": 10**12}  # only beside a currency


def alternatives(words: Iterable[str]) -> str:
    """Longest first; a Latin spelling must end where the word does. Nothing is tried where none begins, and few that begin otherwise."""
    by_first: dict[str, list[str]] = {}
    for word in sorted(words, key=len, reverse=True):
        by_first.setdefault(word[0], []).append(_alternative(word)[len(re.escape(word[0])) :])
    first = "".join(sorted(map(re.escape, by_first)))
    branches = [f"{re.escape(sign)}(?:{'|'.join(rest)})" for sign, rest in by_first.items()]
    return f"(?=[{first}])(?:{'|'.join(branches)})"


def _alternative(word: str) -> str:
    behind_blank = r"(?<=\s.)" if word in _BEHIND_BLANK else ""
    goes_on = r"(?![A-Za-z])" if word[-1].isascii() and word[-1].isalnum() else ""
    return re.escape(word) + behind_blank + goes_on + _NOT_BEHIND.get(word, "")


def _is_latin(word: str) -> bool:
    return word[0].isascii() and word[0].isalpha()


_IN_FRONT = sorted(MONEY_WORDS - NOT_BEFORE, key=len, reverse=True)
_BEFORE = re.compile(
    rf"(?:(?<![A-Za-z])(?:{'|'.join(re.escape(one) for one in _IN_FRONT if _is_latin(one))})"
    rf"|{'|'.join(re.escape(one) for one in _IN_FRONT if not _is_latin(one))})\s?\Z"
)
_ENDS_OF_MONEY = frozenset(word[-1] for word in _IN_FRONT)
_LONGEST_MONEY = max(map(len, MONEY_WORDS)) + 1
SHORT = re.compile(r"\s?(k|K|mn|m|M|bn|b|B|tn|T)(?![A-Za-z])")
BEHIND_SHORT = re.compile(rf"\s?({alternatives(MONEY_WORDS)})")


def money_before(text: str, end: int) -> tuple[int, str] | None:
    """Where the currency begins that stands right before `end`, and which it is."""
    last = text[max(end - 2, 0) : end].rstrip(" ")[-1:]
    if last not in _ENDS_OF_MONEY:
        return None
    match = _BEFORE.search(text, max(end - _LONGEST_MONEY, 0), end)
    return (match.start(), SPELLINGS[match[0].strip()]) if match else None


def short_times(sign: str) -> int:
    """What 5m or 5bn of a currency is multiplied by."""
    return _SHORT_TIMES.get(sign.lower(), 10**12 if sign == "T" else 1)


def clearer(before: str, behind: str | None) -> str:
    """The currency of "$300 CAD" or 港币300元: of two signs the one that is no other's short form."""
    return behind if before in MAY_BE_SHORT_FOR and behind in MONEY else before


def likeness(said: str, seen: str, *, lang: str, units: Container[str | None]) -> Likeness:
    """Whether two units are one. `lang`: of the evidence. `units`: all that the evidence has; they tell a yen's ¥ from a yuan's."""
    if said == seen or frozenset((said, seen)) in _SAME:
        return "same"
    for sign, other in ((said, seen), (seen, said)):
        if other not in MAY_BE_SHORT_FOR.get(sign, ()):
            continue
        if sign == "¥" and other != "JPY" and lang == "zh" and "JPY" not in units:
            return "same"
        if sign == "¥" and other == "JPY" and (lang == "ja" or "JPY" in units):
            return "same"
        return "perhaps"
    return "other"


def usual(unit: str) -> str:
    """The currency that a sign alone mostly stands for; every other unit itself."""
    return USUAL.get(unit, unit)


def is_spelled(unit: str, text: str) -> bool:
    """Whether the unit, or one that may be the same, stands in the text: in a table's head, for instance."""
    return _spelling(unit).search(text) is not None


@lru_cache(maxsize=512)
def _spelling(unit: str) -> re.Pattern[str]:
    alike = {unit} | {one for pair in _SAME if unit in pair for one in pair}
    alike |= {rate for rate, (one, _) in RATES.items() if one == unit}
    words = [word for one in alike for word in _UNITS[one]]
    return re.compile("|".join((r"(?<![A-Za-z])" if _is_latin(word) else "") + _alternative(word) for word in words))
