"""Units and currencies: how each is written, in Chinese and in English, and which of them may mean one another. Pure."""

import re
from collections.abc import Container, Iterable
from functools import lru_cache
from typing import Literal

Likeness = Literal["same", "perhaps", "other"]

_MEASURES: dict[str, tuple[str, ...]] = {
    "%": ("%", "percent", "per cent"),
    "pp": ("percentage points", "percentage point", "个百分点", "百分点"),
    "‰": ("‰", "per mille", "per mil"),
    "ppm": ("ppm", "parts per million"),
    "km/h": ("km/h", "kph", "公里/小时", "千米/小时"),
    "mph": ("mph", "miles per hour", "英里/小时"),
    "m/s": ("m/s", "meters per second", "metres per second", "米/秒"),
    "km2": ("km2", "square kilometers", "square kilometres", "平方公里", "平方千米"),
    "m2": ("m2", "square meters", "square metres", "平方米"),
    "cm2": ("cm2", "square centimeters", "square centimetres", "平方厘米"),
    "m3": ("m3", "cubic meters", "cubic metres", "立方米"),
    "cm3": ("cm3", "cubic centimeters", "cubic centimetres", "立方厘米"),
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
    "t": ("tonnes", "tons", "吨"),
    "jin": ("市斤", "斤"),
    "lb": ("lbs", "lb", "磅"),
    "oz": ("ounces", "ounce", "oz", "盎司"),
    "ml": ("ml", "mL", "milliliters", "millilitres", "毫升"),
    "l": ("liters", "litres", "liter", "litre", "l", "L", "升"),
    "l/min": ("l/min", "L/min", "升/分钟"),
    "gal": ("gallons", "gallon", "加仑"),
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
    "PB": ("PB",),
    "TB": ("TB",),
    "GB": ("GB",),
    "MB": ("MB",),
    "KB": ("KB",),
    "Mbps": ("Mbps", "Mbit/s"),
    "Gbps": ("Gbps", "Gbit/s"),
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
    "rpm": ("rpm", "revolutions per minute", "转/分"),
    "person": ("people", "persons", "人"),
}  # fmt: skip
_MONEY: dict[str, tuple[str, ...]] = {
    "$": ("$", "dollars", "dollar"),
    "USD": ("US$", "USD", "US dollars", "US dollar", "U.S. dollars", "美元", "美金"),
    "HKD": ("HK$", "HKD", "Hong Kong dollars", "港元", "港币", "港幣", "元港币", "元港幣"),
    "TWD": ("NT$", "TWD", "NTD", "新台币", "新台幣", "新臺幣", "台币", "台幣", "元新台币", "元新台幣", "元新臺幣"),
    "MOP": ("MOP$", "MOP", "澳门元", "澳門元"),
    "SGD": ("S$", "SGD", "Singapore dollars", "新加坡元", "新元"),
    "AUD": ("A$", "AU$", "AUD", "Australian dollars", "澳元", "澳币"),
    "NZD": ("NZ$", "NZD", "New Zealand dollars", "新西兰元", "纽元"),
    "BRL": ("R$", "BRL", "雷亚尔"),
    "CAD": ("C$", "CA$", "CAD", "Canadian dollars", "加元", "加币"),
    "元": ("元", "圆", "圓", "块钱"),
    "CNY": ("yuan", "renminbi", "RMB", "CNY", "人民币", "人民幣", "元人民币", "元人民幣"),
    "¥": ("¥",),
    "JPY": ("yen", "JPY", "JP¥", "日元", "日圆", "日圓", "円"),
    "EUR": ("€", "euros", "euro", "EUR", "欧元", "歐元"),
    "GBP": ("£", "pounds sterling", "GBP", "英镑", "英鎊", "镑"),
    "KRW": ("₩", "KRW", "韩元", "韓元"),
    "INR": ("₹", "INR", "rupees", "卢比", "盧比"),
    "RUB": ("₽", "RUB", "rubles", "roubles", "卢布", "盧布"),
    "CHF": ("CHF", "Swiss francs", "瑞士法郎"),
    "THB": ("฿", "THB", "baht", "泰铢", "泰銖"),
}
_WEIGHT_OR_MONEY = {"pound": ("pounds", "pound")}
_UNITS = {**_MEASURES, **_MONEY, **_WEIGHT_OR_MONEY}
SPELLINGS = {spelling: unit for unit, spellings in _UNITS.items() for spelling in spellings}
_MONEY_WORDS = {spelling for spellings in _MONEY.values() for spelling in spellings}
# a word that goes on in another way than the unit: 25安全, "25 A New Hope"
_NOT_BEHIND = {
    "A": r"(?!\s?[A-Z])",
    "安": "(?![全装裝排静靜徽心置保检檢顿頓康慰防定抚撫阳陽])",
    "斤": "(?![斤两])",
    "圆": "(?![形心柱桌])",
    "圓": "(?![形心柱桌])",
}
CODES = tuple(word for word in sorted(_MONEY_WORDS) if re.fullmatch(r"[A-Z]{3}", word))
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

_MAY_BE_SHORT_FOR: dict[str, frozenset[str]] = {
    "$": frozenset({"HKD", "TWD", "MOP", "SGD", "AUD", "CAD", "元"}),
    "元": frozenset({"HKD", "TWD", "MOP", "SGD", "AUD", "CAD", "$"}),
    "¥": frozenset({"CNY", "元", "JPY"}),
}
_USUAL = {"$": "USD", "元": "CNY", "¥": "CNY"}
_SAME = {frozenset(pair) for pair in (("$", "USD"), ("元", "CNY"), ("pound", "lb"), ("pound", "GBP"))}


def alternatives(words: Iterable[str]) -> str:
    """Longest first; a Latin spelling must end where the word does. Nothing is tried where none begins."""
    ordered = sorted(words, key=len, reverse=True)
    first = "".join(sorted({re.escape(word[0]) for word in ordered}))
    return f"(?=[{first}])(?:{'|'.join(map(_alternative, ordered))})"


def _alternative(word: str) -> str:
    goes_on = r"(?![A-Za-z])" if word[-1].isascii() and word[-1].isalnum() else ""
    return re.escape(word) + goes_on + _NOT_BEHIND.get(word, "")


_BEFORE = re.compile(
    rf"(?:(?<![A-Za-z])(?:{'|'.join(re.escape(one) for one in sorted(_MONEY_WORDS, key=len, reverse=True) if one[0].isascii() and one[0].isalpha())})"
    rf"|{'|'.join(re.escape(one) for one in sorted(_MONEY_WORDS, key=len, reverse=True) if not one[0].isascii() or not one[0].isalpha())})\s?\Z"
)
_ENDS_OF_MONEY = frozenset(word[-1] for word in _MONEY_WORDS)
_NOT_BEFORE = frozenset({"元", "圆", "圓", "块钱", "镑", "dollars", "dollar", "euros", "euro", "yen", "yuan"})
_LONGEST_MONEY = max(map(len, _MONEY_WORDS)) + 1
SHORT = re.compile(r"\s?(k|K|mn|m|M|bn|b|B|tn|T)(?![A-Za-z])")
BEHIND_SHORT = re.compile(rf"\s?({alternatives(_MONEY_WORDS)})")


def money_before(text: str, end: int) -> tuple[int, str] | None:
    """Where the currency begins that stands right before `end`, and which it is."""
    last = text[max(end - 2, 0) : end].rstrip(" ")[-1:]
    if last not in _ENDS_OF_MONEY:
        return None
    match = _BEFORE.search(text, max(end - _LONGEST_MONEY, 0), end)
    word = match[0].strip() if match else ""
    return None if match is None or word in _NOT_BEFORE else (match.start(), SPELLINGS[word])


def short_times(sign: str) -> int:
    """What 5m or 5bn of a currency is multiplied by."""
    return _SHORT_TIMES.get(sign.lower(), 10**12 if sign == "T" else 1)


def clearer(before: str, behind: str | None) -> str:
    """The currency of "$300 CAD" or 港币300元: of two signs the one that is no other's short form."""
    return behind if before in _MAY_BE_SHORT_FOR and behind in _MONEY else before


def likeness(said: str, seen: str, *, lang: str, units: Container[str | None]) -> Likeness:
    """Whether two units are one. `lang`: of the evidence. `units`: all that the evidence has; they tell a yen's ¥ from a yuan's."""
    if said == seen or frozenset((said, seen)) in _SAME:
        return "same"
    for sign, other in ((said, seen), (seen, said)):
        if other not in _MAY_BE_SHORT_FOR.get(sign, ()):
            continue
        if sign == "¥" and other != "JPY" and lang == "zh" and "JPY" not in units:
            return "same"
        if sign == "¥" and other == "JPY" and (lang == "ja" or "JPY" in units):
            return "same"
        return "perhaps"
    return "other"


def usual(unit: str) -> str:
    """The currency that a sign alone mostly stands for; every other unit itself."""
    return _USUAL.get(unit, unit)


def is_spelled(unit: str, text: str) -> bool:
    """Whether the unit, or one that may be the same, stands in the text: in a table's head, for instance."""
    return _spelling(unit).search(text) is not None


@lru_cache(maxsize=512)
def _spelling(unit: str) -> re.Pattern[str]:
    alike = {unit} | {one for pair in _SAME if unit in pair for one in pair}
    words = [word for one in alike for word in _UNITS[one]]
    return re.compile(
        "|".join(
            (r"(?<![A-Za-z])" if word[0].isascii() and word[0].isalpha() else "") + _alternative(word) for word in words
        )
    )
