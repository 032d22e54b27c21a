"""Numbers in words, Chinese and English, written in digits so that one reader of figures reads them all. Pure.

Only what stands as a number: 三百名, 十二人, 第三章, three hundred employees; not the digits in 三明治, 万一, 十分, 一样.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence

from msgspec import Struct

_DIGITS = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "亿": 10**8}
_RUN = re.compile(r"[零〇一二两三四五六七八九十百千万亿]+(?:点([零〇一二三四五六七八九]+))?")
# what counts or measures; a lone 四 before anything else (四川, 四处) is part of a word
_COUNTED = re.compile(
    r"\s?(?:[名位人口户家台辆艘架座栋幢间所件条张本篇部册份套组对双只头匹株棵颗粒块支根片幅场轮次遍届期级层页章节款项天年岁月日号倍元米里斤吨克升秒亩点步个种类大]"
    r"|分钟|小时|公里|公斤|千米|千克|厘米|毫米|平方|立方|美元|欧元|英里|英尺|公顷|摄氏度|方面|阶段|星期)"
)
_HALF = re.compile(
    r"(?P<whole>[一二两三四五六七八九十]{1,3})?(?:个半|(?<![上下前后大多过一二两三四五六七八九十个])半个?)(?=小时|钟头|月(?!刊|报)|星期|年(?![度报刊]))"
    r"|(?P<years>[一二两三四五六七八九十]{1,3})(?=(?P<unit>[年天])半(?![年月天]))|\bhalf (?:an?|of an?) (?=hour|year|day|month|mile|kilo)"
    r"|(?i:\b(?P<english>one|two|three|four|five|six|a|an) and a half )(?=[a-z])"
)
_LONGEST = 300  # code points; what is longer is no number, and "hundred hundred ..." one that nothing can write down
_UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_WORDS = {word: value for value, word in enumerate(_UNITS.split())} | {
    word: 10 * value for value, word in enumerate(_TENS.split(), 2)
}
_MULTIPLIERS = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SMALL, _LARGE = "|".join(_WORDS), "|".join(_MULTIPLIERS)
_FIRST = "".join(sorted({word[0] for word in _WORDS} | {"a"}))  # looked at before the whole choice is tried
_ENGLISH = re.compile(
    rf"(?i)(?<![A-Za-z0-9-])(?=[{_FIRST}])(?:(?:{_SMALL})|an?(?= (?:{_LARGE})\b))(?:[ -](?:and )?(?:{_SMALL}|{_LARGE})\b)*+(?![A-Za-z]|-[A-Za-z])"
)


_GROUPS = re.compile(
    r"\d(?<![A-Za-z0-9_.,'’].)\d{0,2}(?:(?P<blanks>(?: \d{3}){1,4}+)(?:[.,]\d{1,2})?|(?:\.\d{3}){1,4}+,\d{1,2}|(?:['’]\d{3}){1,4}+(?:\.\d{1,2})?)(?![\d_]|[.,'’]\d| \d{3}(?!\d))"
)
_TO_COMMAS = str.maketrans(" .'’", ",,,,")


def in_groups(text: str, *, measured: Callable[[int, int], bool]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The text, as long as before, with 4 500, 4'500 and 4.500,00 written 4,500 and 4,500.00.

    The second: where a blank stood, which may as well part two figures, "3 500 €". `measured`: whether these places, start and end, hold
    an amount by what stands about them; without a unit such blanks stay.
    """
    parted: list[tuple[int, int]] = []

    def commas(match: re.Match[str]) -> str:
        if match["blanks"]:
            if not measured(*match.span()):
                return match[0]
            parted.append(match.span())
        whole, mark, decimals = match[0].rpartition("," if "," in match[0] else ".")
        if not mark or len(decimals) > 2:
            return match[0].translate(_TO_COMMAS)
        return f"{whole.translate(_TO_COMMAS)}.{decimals}"

    return _GROUPS.sub(commas, text), tuple(parted)


class Spelled(Struct, frozen=True, kw_only=True):
    """A text with digits for words. `places`: (start, end) of each number there, (start, end) of its words in the original."""

    text: str
    places: tuple[tuple[tuple[int, int], tuple[int, int]], ...]

    def in_words(self, start: int, end: int) -> bool:
        index = bisect_left(self.places, end, key=lambda place: place[0][0]) - 1
        return index >= 0 and start < self.places[index][0][1]

    def original(self, at: int, *, end: bool = False) -> int:
        """Where a position of `text` stands in the original; within a number, its start or its end."""
        index = bisect_right(self.places, at - 1 if end else at, key=lambda place: place[0][0]) - 1
        if index < 0:
            return at
        (_, last), (was_start, was_end) = self.places[index]
        if at >= last:
            return was_end + at - last
        return was_end if end else was_start


def in_digits(text: str) -> Spelled:
    found = [
        (match.start(), match.end(), str(value))
        for match in _RUN.finditer(text)
        if len(match[0]) <= _LONGEST and (value := _chinese(text, match))
    ]
    if "半" in text or "half" in text:
        halves = [(match.start(), match.end(), _half(match)) for match in _HALF.finditer(text)]
        half = _places(halves)
        found = [one for one in found if half.isdisjoint(range(*one[:2]))] + halves
    taken = _places(found)
    for match in _ENGLISH.finditer(text):
        if len(match[0]) > _LONGEST or not taken.isdisjoint(range(*match.span())):
            continue
        value = _english(re.findall(r"[a-z]+", match[0].lower()))
        if value is not None:
            found.append((match.start(), match.end(), str(value)))
    pieces: list[str] = []
    places: list[tuple[tuple[int, int], tuple[int, int]]] = []
    at = length = 0
    for start, end, digits in sorted(found):
        pieces += [text[at:start], digits]
        length += start - at
        places.append(((length, length + len(digits)), (start, end)))
        length += len(digits)
        at = end
    return Spelled(text="".join([*pieces, text[at:]]), places=tuple(places))


def _half(match: re.Match[str]) -> str:
    """个半, and 半 behind the unit; what is left of that means nothing more."""
    whole = match["whole"] or match["years"]
    english = match["english"]
    number = _value(whole) if whole else _WORDS.get(english.lower(), 1) if english else 0
    return f"{number}.5 " if english or match[0].startswith("half") else f"{number}.5"


def _places(found: Sequence[tuple[int, int, str]]) -> set[int]:
    return {at for start, end, _ in found for at in range(start, end)}


def _chinese(text: str, match: re.Match[str]) -> int | str | None:
    """The value of a run of numeral signs, None if it isn't one number or is part of a word."""
    run = match[0]
    if match[1]:
        whole, decimals = run.split("点")
        return f"{_value(whole)}.{''.join(str(_DIGITS[sign]) for sign in decimals)}"
    before, after = text[max(match.start() - 1, 0) : match.start()], _COUNTED.match(text, match.end())
    if text.endswith("百分之", 0, match.start()):
        return _value(run)
    if not any(sign in _SCALES for sign in run):
        if len(run) == 1:
            return _DIGITS[run] if after else None
        return (
            "".join(str(_DIGITS[sign]) for sign in run)
            if len(run) == 4 and text.startswith("年", match.end())
            else None
        )
    if run[0] in _SCALES and (run[0] != "十" or (len(run) == 1 and not after)):
        return None
    if re.search(r"[一二两三四五六七八九]{2}", run) or before in ("几", "数", "."):  # 两三百, 几十, 3.五
        return None
    return _value(run)


def _value(run: str) -> int:
    total = section = number = 0
    for sign in run:
        if sign in _DIGITS:
            number = _DIGITS[sign]
        elif _SCALES[sign] < 10**4:
            section += (number or 1) * _SCALES[sign]
            number = 0
        else:
            before = total if sign == "亿" else 0
            total = (total - before) + (before + section + number) * _SCALES[sign]
            section = number = 0
    return total + section + number


def _english(words: list[str]) -> int | None:
    """None for a row of numbers that isn't one number ("two three")."""
    total = section = 0
    for index, word in enumerate(words):
        before = words[index - 1] if index else ""
        if word in ("a", "an"):
            section = 1
        elif word in _WORDS:
            tens = before in _TENS.split() and 0 < _WORDS[word] < 10
            if index and not tens and before not in (*_MULTIPLIERS, "and"):
                return None
            section += _WORDS[word]
        elif word == "hundred":
            section *= 100
        elif word in _MULTIPLIERS:
            total += section * _MULTIPLIERS[word]
            section = 0
    return total + section
