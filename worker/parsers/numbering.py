"""The numbers that Word shows before paragraphs and does not write down: "第三章", "2.1", "(a)".

unstructured renders these too, but not the Chinese kinds. Source: ECMA-376 part 1, 17.9 and 17.18.59.
"""

import re
from collections.abc import Callable

from worker.parsers.markup import Node

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MAX_LEVEL = 8
_DIGITS = "〇一二三四五六七八九"
_FORMAL = "零壹贰叁肆伍陆柒捌玖"
_STEMS, _BRANCHES = "甲乙丙丁戊己庚辛壬癸", "子丑寅卯辰巳午未申酉戌亥"
_ROMAN = (
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
)


def value_of(node: Node, tag: str) -> str | None:
    """The `w:val` of a child such as w:numId."""
    child = node.find(f"{W}{tag}") if node is not None else None
    return None if child is None else child.get(f"{W}val")


class Numbering:
    """Keeps the counters; `label` must be asked once per numbered paragraph, in document order."""

    def __init__(self, part: Node | None) -> None:
        """`part`: the root of numbering.xml, if the document has one."""
        self._abstract_of: dict[str, str] = {}
        self._levels: dict[tuple[str, int], Node] = {}
        self._starts: dict[tuple[str, int], int] = {}
        self._counters: dict[str, list[int | None]] = {}
        self._restarted: set[tuple[str, int]] = set()
        if part is not None:
            self._read(part)

    def _read(self, part: Node) -> None:
        abstracts = {node.get(f"{W}abstractNumId"): node for node in part.iterchildren(f"{W}abstractNum")}
        for number in part.iterchildren(f"{W}num"):
            number_id, abstract_id = number.get(f"{W}numId"), value_of(number, "abstractNumId")
            if number_id is None or abstract_id is None or abstract_id not in abstracts:
                continue
            self._abstract_of[number_id] = abstract_id
            for level in abstracts[abstract_id].iterchildren(f"{W}lvl"):
                self._levels[number_id, _int(level.get(f"{W}ilvl"))] = level
            for override in number.iterchildren(f"{W}lvlOverride"):
                at = _int(override.get(f"{W}ilvl"))
                level = override.find(f"{W}lvl")
                if level is not None:
                    self._levels[number_id, at] = level
                if (start := value_of(override, "startOverride")) is not None:
                    self._starts[number_id, at] = _int(start)

    def label(self, number_id: str, at: int) -> str | None:
        """What stands before the paragraph; "" for a bullet or an unknown kind of number, None when it is in no list."""
        level = self._levels.get((number_id, at))
        if level is None or not 0 <= at <= _MAX_LEVEL:
            return None
        counters = self._counters.setdefault(self._abstract_of[number_id], [None] * (_MAX_LEVEL + 1))
        count = counters[at]
        if (number_id, at) in self._starts and (number_id, at) not in self._restarted:
            self._restarted.add((number_id, at))
            counters[at] = self._start(number_id, at)
        else:
            counters[at] = self._start(number_id, at) if count is None else count + 1
        for deeper in range(at + 1, _MAX_LEVEL + 1):
            restart = value_of(self._levels.get((number_id, deeper)), "lvlRestart")
            if restart is None or (restart != "0" and at < _int(restart)):
                counters[deeper] = None
        if value_of(level, "numFmt") in ("bullet", "none"):
            return ""
        return self._rendered(number_id, at, level, counters)

    def _rendered(self, number_id: str, at: int, level: Node, counters: list[int | None]) -> str:
        def number(found: re.Match[str]) -> str:
            of = int(found[1]) - 1
            if of > at:
                return ""
            count = counters[of]
            kind = value_of(self._levels.get((number_id, of)), "numFmt") or "decimal"
            if of < at and level.find(f"{W}isLgl") is not None:
                kind = "decimal"
            return _shown(self._start(number_id, of) if count is None else count, kind)

        return re.sub(r"%([1-9])", number, value_of(level, "lvlText") or "").strip()

    def _start(self, number_id: str, at: int) -> int:
        own = self._starts.get((number_id, at))
        return _int(value_of(self._levels.get((number_id, at)), "start") or "1") if own is None else own


def _int(text: str | None) -> int:
    return int(text) if text is not None and re.fullmatch(r"-?\d{1,9}", text) else 0


def _shown(count: int, kind: str) -> str:
    render = _KINDS.get(kind)
    return render(count) if render is not None and count > 0 else str(count)


def _letters(count: int) -> str:
    return chr(ord("a") + (count - 1) % 26) * ((count - 1) // 26 + 1)


def _roman(count: int) -> str:
    shown = ""
    for size, numeral in _ROMAN:
        repeat, count = divmod(count, size)
        shown += numeral * repeat
    return shown


def _chinese(count: int, digits: str, units: tuple[str, ...]) -> str:
    """Up to 9999 in words: 十二, 一百零五."""
    if count > 9999:
        return str(count)
    shown = ""
    for place in (3, 2, 1, 0):
        digit = count // 10**place % 10
        if digit:
            shown += digits[digit] + units[place]
        elif shown and not shown.endswith("零") and count % 10**place:
            shown += "零"
    return shown[1:] if digits is _DIGITS and shown.startswith("一十") else shown


def _circled(count: int) -> str:
    return chr(0x2460 + count - 1) if count <= 20 else str(count)


_KINDS: dict[str, Callable[[int], str]] = {
    "decimal": str,
    "decimalZero": lambda count: f"{count:02d}",
    "lowerLetter": _letters,
    "upperLetter": lambda count: _letters(count).upper(),
    "lowerRoman": _roman,
    "upperRoman": lambda count: _roman(count).upper(),
    "decimalEnclosedCircle": _circled,
    "decimalEnclosedCircleChinese": _circled,
    "decimalFullWidth": lambda count: str(count).translate(
        {ord("0") + digit: chr(0xFF10 + digit) for digit in range(10)}
    ),
    "ideographTraditional": lambda count: _STEMS[(count - 1) % 10],
    "ideographZodiac": lambda count: _BRANCHES[(count - 1) % 12],
    "ideographDigital": lambda count: "".join(_DIGITS[int(digit)] for digit in str(count)),
    "chineseLegalSimplified": lambda count: _chinese(count, _FORMAL, ("", "拾", "佰", "仟")),
    **dict.fromkeys(
        (
            "chineseCounting",
            "chineseCountingThousand",
            "taiwaneseCounting",
            "taiwaneseCountingThousand",
            "japaneseCounting",
        ),
        lambda count: _chinese(count, _DIGITS, ("", "十", "百", "千")),
    ),
}
