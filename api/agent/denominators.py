"""What a figure may be per, and whether two figures are per the same. Pure.

A denominator is a unit (a second, 100 g, two weeks) or a thing (a seat, 托盘). Units of one dimension that differ say something else; things are
compared by their words, which may mean the same, and not across scripts.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from api.agent.dimensions import PHYSICAL, SCALES
from api.agent.units import SPELLINGS


class Per(Struct, frozen=True, kw_only=True):
    """`name`: of a unit its canonical form; of a thing up to two words, or the first characters. `count`: how many of it."""

    name: str
    is_unit: bool = True
    count: str = "1"

    @property
    def dimension(self) -> str:
        """Of a unit; months and seconds are both of time here: per month is not per day."""
        if not self.is_unit or self.name not in SCALES:
            return ""
        return "time" if SCALES[self.name][0] == "calendar" else SCALES[self.name][0]


class Compared(Struct, frozen=True, kw_only=True):
    """Two figures by what they are per. `other`: another unit of one dimension. `strange`: things of the first that the second has not.

    `more`, `less`: what only the first, only the second is per.
    """

    other: bool = False
    strange: bool = False
    more: tuple[Per, ...] = ()
    less: tuple[Per, ...] = ()


SAME = Compared()
_PERSON = "person"
_SHORTER = {
    "year": ("annum", "yr", "yrs"),
    "quarter": ("quarters", "quarter", "个季度", "季度", "季"),
    "month": ("mo", "mth", "月"),
    "week": ("wk", "个星期", "礼拜"),
    "day": ("diem", "d", "日"),
    "h": ("hr", "个小时", "时"),
    "min": ("分",),
    _PERSON: ("person", "capita", "head", "individual"),
}
_ADJECTIVES = {
    "h": ("hourly", "时薪", "时速"),
    "s": ("秒速",),
    "day": ("daily", "日均", "日薪", "日租", "日产"),
    "week": ("weekly", "周薪", "周均"),
    "month": ("monthly", "月租", "月薪", "月费", "月均", "月产", "按月"),
    "quarter": ("quarterly",),
    "year": ("yearly", "annual", "annually", "年租", "年薪", "年费", "年均", "年产", "按年"),
    _PERSON: ("人均",),
}
OF_ADJECTIVE = {word: unit for unit, words in _ADJECTIVES.items() for word in words}
UNITS = {
    word: unit
    for word, unit in SPELLINGS.items()
    if unit == _PERSON or (unit in SCALES and SCALES[unit][0] in PHYSICAL | {"calendar"})
} | {word: unit for unit, words in _SHORTER.items() for word in words}
_WORDS: dict[str, list[str]] = {}
for _word, _unit in UNITS.items():
    _WORDS.setdefault(_unit, []).append(_word)
# what goes on as another word: 每年级, /人次
GOES_ON = {
    "人": "民次工员数均份物",
    "年": "级轻龄代货",
    "天": "然津",
    "周": "边围",
    "米": "饭",
    "日": "元圆本常报币",
    "月": "球饼",
    "分": "公支店部",
    "时": "候装",
    "克": "朗",
    "升": "学级",
    "里": "拉",
}
_HUMAN_WORDS = (
    "employee staff worker member user guest student adult passenger participant attendee resident inhabitant visitor patient child"
    " player customer traveller traveler applicant citizen pupil speaker"
)
_HUMAN = frozenset(_HUMAN_WORDS.split())
_HUMAN_ZH = frozenset("员工名位客生者户")


def compare(said: Sequence[Per], seen: Sequence[Per]) -> Compared:
    """Each unit with one of its dimension, each thing with one that may be the same."""
    if said == seen:
        return SAME
    units, others = ({one.dimension: one for one in side if one.dimension} for side in (said, seen))
    other = any(_sizes(dimension, said) != _sizes(dimension, seen) for dimension in units.keys() & others.keys())
    things, rivals = [one for one in said if not one.dimension], [one for one in seen if not one.dimension]
    strange = bool(things) and bool(rivals) and not any(_alike(one, rival) for one in things for rival in rivals)
    more = [one for dimension, one in units.items() if dimension not in others] + ([] if rivals else things)
    less = [one for dimension, one in others.items() if dimension not in units] + ([] if things else rivals)
    return Compared(other=other, strange=strange, more=tuple(more), less=tuple(less))


def is_told(one: Per, text: str) -> bool:
    """Whether the text says in some way that something is per it."""
    return _telling(one).search(text) is not None


def is_named(one: Per, text: str) -> bool:
    """Whether the text has its word."""
    return _naming(one).search(text) is not None or (one.is_unit and is_told(one, text))


def is_latin(one: Per) -> bool:
    return not one.is_unit and one.name.isascii()


def _sizes(dimension: str, side: Sequence[Per]) -> list[object]:
    return sorted((_scale(one) for one in side if one.dimension == dimension), key=repr)


def _scale(one: Per) -> object:
    dimension, factor = SCALES[one.name]
    return (
        dimension,
        factor.numerator,
        factor.denominator,
        one.count.rstrip("0").rstrip(".") if "." in one.count else one.count,
    )


def _alike(one: Per, other: Per) -> bool:
    """Whether two things, or persons however they are called, may be the same; of two scripts they may."""
    if one.name.isascii() != other.name.isascii() and _PERSON not in (one.name, other.name):
        return True
    if _PERSON in (one.name, other.name):
        name = other.name if one.name == _PERSON else one.name
        return name == _PERSON or (bool({*name.split()} & _HUMAN) if name.isascii() else bool({*name} & _HUMAN_ZH))
    if not one.name.isascii():
        return bool({*one.name} & {*other.name})
    said, seen = one.name.split(), other.name.split()
    return said[0] in seen or seen[0] in said


@lru_cache(maxsize=256)
def _telling(one: Per) -> re.Pattern[str]:
    words = "|".join(map(_bounded, _words(one)))
    adjectives = "".join(f"|{word}" for word in _ADJECTIVES.get(one.name, ())) if one.is_unit else ""
    return re.compile(
        rf"(?i)(?:\b(?:per|an?|each|every|one)\s|/|每|一)\s?(?:{re.escape(one.count)}\s?)?[个個]?(?:{words}){adjectives}"
    )


@lru_cache(maxsize=256)
def _naming(one: Per) -> re.Pattern[str]:
    return re.compile(
        "(?i)" + "|".join((r"(?<![A-Za-z])" if word[0].isascii() else "") + _bounded(word) for word in _words(one))
    )


def _words(one: Per) -> list[str]:
    return _WORDS[one.name] if one.is_unit else one.name.split()


def _bounded(word: str) -> str:
    return re.escape(word) + (r"(?:s|es)?(?![A-Za-z])" if word[-1].isascii() and word[-1].isalpha() else "")
