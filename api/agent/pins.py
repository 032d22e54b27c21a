"""What in a question fixes the time, place or amount asked about, so that a sentence about another one is no answer. Pure.

Years, quarters, halves, months, days, ordinals (第三章, the 4th edition, chapter 4), numbers with units.
"""

import re
from calendar import month_name
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TypeAlias

from msgspec import Struct

from api.agent.compared import without_standards
from api.agent.facts import facts, plain_text
from api.agent.numerals import in_digits
from api.agent.sought import Searched, Sought
from api.agent.units import usual

Key: TypeAlias = tuple[str, str]  # kind, value


class Pin(Struct, frozen=True):
    """`kind` and `value`: what a text must show. `written`: as in the text it was read from; no part of what is compared."""

    kind: str
    value: str
    written: str

    @property
    def key(self) -> Key:
        return (self.kind, self.value)


_RIVALS = ("year", "quarter", "half", "month", "day", "ordinal")  # a sentence that shows another one is about that one
_YEAR = re.compile(r"[12](?<!\d.)(?<!\d[.,].)(?:(?<=1)\d|(?<=2)0)\d\d(?![\d,]\d|\d|\.\d)")
_QUARTER = Sought(
    r"第\s?([一二三四1-4])\s?季度?|(?<![\d前])([一二三四1-4])\s?季度|\bQ([1234])\b"
    r"|\b(first|second|third|fourth|1st|2nd|3rd|4th) quarter\b"
)
_HALF = Sought(r"([上下])半年|\b(first|second) half\b|\b(H[12])\b")
_MONTH = re.compile(
    r"\b(January|February|March|April|June|July|August|September|October|November|December"
    r"|january|february|april|june|july|august|september|october|november|december)\b"
    r"|\b(?:in|of|since|by|until|during|last|this|from|to|and) (May)\b"
)
_MONTHS = {name: str(number) for number, name in enumerate(month_name) if name}
_ORDINAL_ZH = re.compile(r"第\s?([〇零一二两三四五六七八九十百千\d]{1,7})\s?([^\W\d_])")
_ORDINALS = {
    "second": "2", "third": "3", "fourth": "4", "fifth": "5", "sixth": "6", "seventh": "7", "eighth": "8",
    "ninth": "9", "tenth": "10", "eleventh": "11", "twelfth": "12",
}  # fmt: skip
_ORDINAL_EN = re.compile(
    rf"(?<!per )(?<!a )(?<!each )(?<!every )(?<!\d )\b(\d{{1,4}}(?:st|nd|rd|th)|{'|'.join(_ORDINALS)})\b", re.IGNORECASE
)
_SIMPLIFIED = str.maketrans("屆條節編課號項", "届条节编课号项")
_PARTS = "章节条届款期版卷部编课篇"  # 第一章 is one of them, 第一次 may be no more than a manner of speaking
_NUMBERED = re.compile(
    r"\b(chapter|section|article|clause|part|volume|appendix|step|phase|level|table|figure|version|edition)s? (\d+(?:\.\d+)*)",
    re.IGNORECASE,
)


def pins(text: str) -> tuple[Pin, ...]:
    """Everything that fixes something, each once."""
    plain = plain_text(text).translate(_SIMPLIFIED)
    found = [*_years(plain), *_periods(plain)]
    for match in _MONTH.finditer(plain):
        found.append(Pin("month", _MONTHS[(match[1] or match[2]).title()], match[1] or match[2]))
    found += _ordinals(plain)
    said = facts(text)
    for date in said.dates:
        if date.month is not None:
            found.append(Pin("month", str(date.month), date.written))
        if date.day is not None:
            found.append(Pin("day", f"{date.month}-{date.day}", date.written))
    for one in said.quantities:
        if one.unit is not None and not one.is_article and not (one.unit == "year" and _YEAR.fullmatch(one.value)):
            found.append(Pin("amount", f"{one.value} {usual(one.unit)}", one.written))
    return _once(found)


def periods(text: str) -> tuple[Pin, ...]:
    """The quarters and halves of `pins`."""
    return _once(_periods(plain_text(text)))


def ordinals(text: str) -> tuple[Pin, ...]:
    """The parts, instalments and places of `pins`."""
    return _once(_ordinals(plain_text(text).translate(_SIMPLIFIED)))


def times_and_parts(text: str) -> tuple[Pin, ...]:
    """The years, quarters, halves, parts and places of `pins`."""
    plain = plain_text(text).translate(_SIMPLIFIED)
    return _once([*_years(plain), *_periods(plain), *_ordinals(plain)])


def _once(found: Sequence[Pin]) -> tuple[Pin, ...]:
    """Each as it was written first."""
    return tuple({pin.key: pin for pin in reversed(found)}.values())[::-1]


def unshown(asked: tuple[Pin, ...], sentence: str, around: Sequence[str]) -> tuple[Pin, ...]:
    """Those `asked` for that neither the sentence shows nor, unless the sentence is about another one, what is `around` it.

    `around`: what may say what the sentence is about, the nearest first; the first that is about any year decides about years, and so on.
    """
    if not asked:
        return ()
    here = _said(sentence)
    return tuple(
        pin
        for pin in asked
        if pin.key not in here.shown and (_rivalry(pin.key) in here.about or not _is_around(pin.key, around))
    )


class _Said(Struct, frozen=True, kw_only=True):
    """`shown`: every pin of a text; `own`: those it doesn't only compare with; `about`: what these are one of."""

    shown: frozenset[Key]
    own: frozenset[Key]
    about: frozenset[str]


@lru_cache(maxsize=2_048)
def _said(text: str) -> _Said:
    shown = frozenset(pin.key for pin in pins(text))
    plain = plain_text(text)
    rest = without_standards(plain)
    own = shown if rest == plain else frozenset(pin.key for pin in pins(rest))
    return _Said(shown=shown, own=own, about=frozenset(map(_rivalry, own)))


def _is_around(key: Key, around: Sequence[str]) -> bool:
    for said in map(_said, around):
        if key in said.own:
            return True
        if _rivalry(key) in said.about:
            return False
        if key in said.shown:
            return True
    return False


def _rivalry(key: Key) -> str:
    """What two pins share that can't both be meant; amounts share nothing."""
    kind, value = key
    if kind not in _RIVALS:
        return f"{kind} {value}"
    return f"{kind} {value.partition(' ')[2]}" if kind == "ordinal" else kind


def _years(plain: str) -> list[Pin]:
    digits = in_digits(plain).text
    return [Pin("year", match[0], match[0]) for match in _YEAR.finditer(digits) if not _measured(digits, match)]


def _found(sought: Sought, plain: str) -> Iterable[re.Match[str]]:
    return sought.pattern.finditer(plain) if sought.may_be_in(Searched(plain)) else ()


def _periods(plain: str) -> list[Pin]:
    found: list[Pin] = []
    for match in _found(_QUARTER, plain):
        number = next(filter(None, match.groups())).lower()
        found.append(Pin("quarter", _number(number), match[0]))
    for match in _found(_HALF, plain):
        half = {"上": "1", "下": "2", "first": "1", "second": "2"}
        found.append(Pin("half", half.get((match[1] or match[2] or "").lower(), (match[3] or "")[1:]), match[0]))
    return found


def _measured(text: str, match: re.Match[str]) -> bool:
    """Whether a number that may be a year counts something: 2000 kg, 1500元."""
    return any(one.unit not in (None, "year") for one in facts(text[match.start() : match.end() + 12]).quantities[:1])


def _ordinals(plain: str) -> list[Pin]:
    for period in (_QUARTER, _HALF):
        if period.may_be_in(Searched(plain)):
            plain = period.pattern.sub(" ", plain)
    found: list[Pin] = []
    for match in _ORDINAL_ZH.finditer(plain):
        number = _number(match[1])
        if number != "1" or match[2] in _PARTS:
            found.append(Pin("ordinal", f"{number} {match[2]}", match[0]))
    found += [Pin("place", _number(match[1].lower()), match[0]) for match in _ORDINAL_EN.finditer(plain)]
    found += [Pin("ordinal", f"{match[2]} {match[1].lower()}", match[0]) for match in _NUMBERED.finditer(plain)]
    return found


def _number(written: str) -> str:
    """四, 4, 4th and fourth are one."""
    if written in _ORDINALS or written == "first":
        return _ORDINALS.get(written, "1")
    if written.isascii():
        return written.rstrip("stndrh").lstrip("0") or "0"
    return in_digits(f"{written}章").text.removesuffix("章")
