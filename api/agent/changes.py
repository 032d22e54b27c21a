"""Changes from one thing to another, told the other way round or with the old one for the new. Pure.

"Moved from 15 June to 20 August" doesn't show "moved to 15 June", though every word of it stands there. Only words of change count: a range
("from 9:00 to 17:00") has none.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from api.agent.facts import Date, facts, plain_text
from api.agent.quantities import Quantity
from api.agent.units import usual
from api.agent.words import content_terms

_ZH = r"(?:[^,。;!?\n]|,(?=\d{3}))"
_VERB_ZH = (
    r"(?:[改变更换转迁搬移调升降增减涨跌]|变更|更改|修改|修订|调整|更换|替换|转移|更名|改名|搬迁|迁移|推迟|延期|延后|提前|提早|延长|缩短|提高|提升"
    r"|上调|下调|降低|下降|上升|增加|增长|减少|扩大|缩小|移交|交接)[为成至到往给]"
)
_EN = r"(?:[^.,;!?\n]|[.,](?=\d))"
_VERB_EN = (
    r"\b(?:moved?|chang(?:ed|es)|rais(?:ed|es)|lower(?:ed|s)|increas(?:ed|es)|decreas(?:ed|es)|dropp?(?:ed|s)|fell|rose|grew|shrank|climbed|reduc(?:ed|es)"
    r"|cut|postponed|delayed|brought forward|extended|shortened|migrated|relocated|transferred|renamed|switched|upgraded|revised|adjusted|went)\b"
)
_CHANGES = (
    re.compile(rf"(?:[由从自将把原](?P<old>{_ZH}{{1,30}}?))?(?:,)?{_VERB_ZH}(?P<new>{_ZH}{{1,30}})"),
    re.compile(
        rf"{_VERB_EN}{_EN}{{0,40}}?(?:\bfrom (?P<old>{_EN}{{1,50}}?) )?\bto (?P<new>{_EN}{{1,50}})",
        re.IGNORECASE,
    ),
    re.compile(rf"\bthen (?:back )?(?:from (?P<old>{_EN}{{1,50}}?) )?to (?P<new>{_EN}{{1,50}})", re.IGNORECASE),
    re.compile(
        rf"\breplac(?:ed|es) (?P<old>{_EN}{{1,40}}?) (?:with|by) (?P<new>{_EN}{{1,50}})",
        re.IGNORECASE,
    ),
)
_LAST_WORD = re.compile(r"^.*[由从自将把原](?=.)")
_BEHIND_NAME = re.compile(r" (?:on|in|at|with|by|as|from|after|because|due|effective|and|for)\b.*")
_DENIAL = re.compile(r"[不没未非]|\b(?:not|never|no)\b|n't\b", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_NUMBERED = re.compile(
    r"(?<![A-Za-z\d])(?:[A-Za-z]{1,12}-?\d{1,12}|\d{1,12}-\d{1,12})(?![A-Za-z\d])"
)  # HX-300, 400-1234


class _Change(Struct, frozen=True, kw_only=True):
    """From what, if that is told, to what."""

    old: str | None
    new: str


def turned_back(sentence: str, shown: str) -> bool:
    """Whether the sentence changes something into what the text changed it from, and the text changes nothing into that."""
    said = _changes(sentence)
    if not said or _DENIAL.search(sentence):
        return False
    seen = _changes(shown)
    return any(
        one.old is not None
        and _same(told.new, one.old)
        and not _same(told.new, one.new)
        and (told.old is None or _same(told.old, one.new))
        and not any(_same(told.new, other.new) for other in seen)
        for told in said
        for one in seen
    )


@lru_cache(maxsize=256)
def _changes(text: str) -> tuple[_Change, ...]:
    return tuple(_told(plain_text(text)))


def _told(plain: str) -> Iterator[_Change]:
    for pattern in _CHANGES:
        for match in pattern.finditer(plain):
            old = match["old"]
            yield _Change(
                old=_LAST_WORD.sub("", old).strip() if old else None, new=_BEHIND_NAME.sub("", match["new"]).strip()
            )


def _same(said: str, seen: str) -> bool:
    """By what both hold first: a date, an identifier, a figure, and else by their words."""
    if _DIGIT.search(said) is None or _DIGIT.search(seen) is None:
        left, right = content_terms(said), content_terms(seen)
        return bool(left and right) and (left <= right or right <= left)
    here, there = facts(said), facts(seen)
    if here.dates and there.dates:
        return _is_one_day(here.dates[0], there.dates[0])
    numbered = _NUMBERED.findall(said), _NUMBERED.findall(seen)
    if all(numbered):
        return numbered[0][0] == numbered[1][0]
    return bool(here.quantities and there.quantities) and _is_one_amount(here.quantities[0], there.quantities[0])


def _is_one_day(said: Date, seen: Date) -> bool:
    pairs = ((said.year, seen.year), (said.month, seen.month), (said.day, seen.day))
    return all(one is None or other is None or one == other for one, other in pairs)


def _is_one_amount(said: Quantity, seen: Quantity) -> bool:
    units = said.unit and seen.unit and usual(said.unit) != usual(seen.unit)
    return said.value == seen.value and not units
