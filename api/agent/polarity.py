"""Whether a text says the contrary: a negation more or less, or the other word of a pair of opposites. Pure.

Sentence and evidence are compared clause by clause: each clause of the sentence with those clauses of the evidence that share
most of its words once the words of polarity are taken out. It can't follow reasoning; it sees that "may" stands where the
text has "may not", 上涨 where it has 下跌.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from api.agent.words import content_terms

Agreement = Literal["same", "unsure", "contrary"]

NEAR = 0.15  # below the best clause's share of common words: still a place where the sentence may come from
TOUCHING = 0.4  # share from which a clause is about the same thing
SAME_WORDS = 0.75  # share from which the other polarity is a contradiction, and no longer only a doubt

_BEYOND = "超过|多于|高于|大于|少于|低于|小于"
_MODAL = "(?:得|能|可|应|会|宜)?"
_NEGATION = re.compile(
    rf"不(?!仅|但|只|过|同|断|久|管|论|锈|良|便|足|适|安|幸|到|等|{_MODAL}(?:{_BEYOND}))|没有?|未(?!来|必|婚)|无(?!论|线|锡|机|锈|人|数|疑|限|形)"
    r"|非(?!常|洲|法|金属|营利)|勿|禁止|禁用|严禁|拒绝|否决|驳回|缺乏"
    r"|\b(?:(?:not|cannot|never)(?! only\b)(?!(?: to| be)? (?:more|less|fewer|later|above|below|over|under|exceed\w*)\b)"
    r"|no(?! (?:more|less|fewer|later) than\b)(?! doubt)(?!\.)|none|nothing|nobody|neither|nor|without|unable"
    r"|refuse[sd]?|reject(?:s|ed)?|prohibit(?:s|ed)?|bann?(?:s|ed)?|forb[ia]d(?:s|den)?|den(?:y|ies|ied)|lacks?)\b"
    r"|n['’]t\b(?! exceed)",
    re.IGNORECASE,
)
# words that exclude one another: two sides, or as many as an axis has
_OPPOSITES = (
    (  # upper and lower bound
        rf"至多|最多|最高|最大|最长|不{_MODAL}(?:超过|多于|高于|大于)|以内|以下|(?<!不)(?<!不[得能可应会宜])(?:低于|少于|小于)|不到|不足"
        r"|\bat (?:the )?most\b|\bno(?:t)? (?:more|later) than\b|\b(?:not|never|cannot)(?: to| be)? (?:exceed\w*|more than|above|over)\b|n['’]t exceed\b"
        r"|(?<!no )(?<!not )\b(?:less|fewer) than\b|\bbelow\b|\bup to\b|\bmaxim(?:um|al)\b|\bhighest\b|\blargest\b",
        rf"至少|最少|最低|最小|最短|不{_MODAL}(?:少于|低于|小于)|以上|超过|多于|高于|大于"
        r"|\bat (?:the )?least\b|\bno(?:t)? (?:less|fewer) than\b|\bmore than\b|\babove\b|\bexceed(?:s|ed|ing)?\b|\bminim(?:um|al)\b|\blowest\b|\bsmallest\b",
    ),
    (
        r"上涨|上升|增长|增加|提高|提升|上调|扩大|升至|盈利|\b(?:rose|rise[ns]?|rising|increas\w*|grew|grow[ns]?|climb\w*|gain\w*|doubled)\b",
        r"下跌|下降|减少|降低|下调|缩小|降至|下滑|亏损|\b(?:fell|fall[s]?|fallen|falling|declin\w*|decreas\w*|drop\w*|reduc\w*|shr[aiu]nk\w*|halved)\b",
    ),
    (
        r"打开|开启|启用|启动|开放|\bopen(?:s|ed)?\b|\benabled?\b|\bstarts?\b|\bswitch(?:es|ed)? on\b",
        r"关闭|停用|停机|停止|\bclosed?s?\b|\bshut\b|\bdisabled?\b|\bstop(?:s|ped)?\b|\bswitch(?:es|ed)? off\b",
    ),
    (
        r"(?:之|以)?前(?!提|往|面|期|台|言|者|后|景|述)|\bbefore\b|\bprior to\b",
        r"(?:之|以)?后(?!续|台|勤|面|果|者|来|期|备)|\bafter\b|\bfollowing\b",
    ),
    (r"所有|全部|一切|均|\b(?:all|always)\b", r"部分|有些|有的|一些|某些|少数|\b(?:some|several|few|sometimes|partly)\b"),
    (r"大多数|大部分|过半|(?<!at )(?<!the )\bmost (?:of\b|[a-z]+s\b)|\bmajority\b", r"少数|少部分|\bminority\b"),
    (r"必须|强制|\b(?:must|mandatory|obligatory|required)\b", r"自愿|可选|\b(?:optional|voluntary|voluntarily)\b"),
    (r"免费|\bfree of charge\b|\bfor free\b", r"收费|付费|\bcharged?\b"),
    (r"成功|\bsucce(?:ss\w*|ed\w*)\b", r"失败|\bfail\w*\b"),
    (r"支持|赞成|\bsupport(?:s|ed)?\b", r"反对|\boppos\w+\b"),
    (r"室内|内部|国内|\bindoors?\b|\binternal(?:ly)?\b", r"室外|外部|国外|\boutdoors?\b|\bexternal(?:ly)?\b"),
    (r"左[侧边手]|\bleft\b", r"右[侧边手]|\bright\b"),
    (r"上半|\bupper\b|顶部|\btop\b", r"下半|\blower\b|底部|\bbottom\b"),
    (r"明年|下个?月|下周|即将|将于|\bwill\b|\bnext (?:year|month|week)\b", r"去年|上个?月|上周|\blast (?:year|month|week)\b"),
    (
        r"每[天日]|\b(?:a|per|every|each) day\b|\bdaily\b",
        r"每周|每星期|\b(?:a|per|every|each) week\b|\bweekly\b",
        r"每个?月|\b(?:a|per|every|each) month\b|\bmonthly\b",
        r"每个?季度?|\b(?:a|per|every|each) quarter\b|\bquarterly\b",
        r"每年|\b(?:a|per|every|each) year\b|\b(?:yearly|annually)\b",
        r"每小时|\b(?:an|per|every|each) hour\b|\bhourly\b",
        r"每[二两三四五六七八九十\d]+个?[天日周月年]|\bevery (?:two|three|four|five|six|\d+) \w+s\b",
    ),
    (r"\b(?:deep|depth)\b", r"\b(?:wide|width|broad)\b", r"\blong\b|\blength\b", r"\b(?:high|tall|height)\b", r"\bthick(?:ness)?\b"),
    (r"深度|米深", r"宽度|米宽", r"长度|米长", r"高度|米高", r"厚度|米厚"),
    (r"东[部侧面边]|\beast(?:ern)?\b", r"西[部侧面边]|\bwest(?:ern)?\b", r"南[部侧面边]|\bsouth(?:ern)?\b", r"北[部侧面边]|\bnorth(?:ern)?\b"),
)  # fmt: skip
_AXES = tuple(tuple(re.compile(side, re.IGNORECASE) for side in sides) for sides in _OPPOSITES)
# said of less than the sentence says: what the text has of these the sentence must have too, and the other way with "only"
_HEDGE = re.compile(
    r"可能|或许|也许|据称|预计|计划|拟(?=于|在|建|定)|很少|极少|几乎|慎用|一般|通常|\b(?:might|perhaps|possibly|probably|reportedly|allegedly|rarely|seldom|hardly|barely|scarcely|usually|planned)\b",
    re.IGNORECASE,
)
_ONLY = re.compile(r"只[有能限]|仅[有限供]?|唯一|\bonly\b|\bsole(?:ly)?\b|\bexclusively\b", re.IGNORECASE)
_BORDER = re.compile(
    r"[，；。！？：,;!?:\n|（）()]+|(?<=[^\d])\.(?=\s|\Z)|\.(?=\s|\Z)|(?i:\s(?:but|whereas|while)\s)|但是?|而是?|然而"
)
_NEGATED = -1


class Polarity(Struct, frozen=True, kw_only=True):
    """`negated`: by an odd number of words. `sides`: of each axis of opposites that is named, which of them."""

    negated: bool
    sides: dict[int, frozenset[int]]
    hedged: bool
    only: bool


class _Clause(Struct, frozen=True, kw_only=True):
    terms: frozenset[str]  # without the words of polarity
    polarity: Polarity


def agreement(sentence: str, shown: str) -> Agreement:
    """Whether the evidence says the sentence or its contrary, where their words meet; "same" where they don't meet at all."""
    found = {_compared(clause, shown) for clause in _clauses(sentence)}
    return "contrary" if "contrary" in found else "unsure" if "unsure" in found else "same"


def _compared(clause: _Clause, shown: str) -> Agreement:
    """With single clauses, and where none of them has the words with pairs of neighbours as well."""
    best, near = _nearest(clause, _places(shown))
    if best < SAME_WORDS:
        best, near = _nearest(clause, (*_places(shown), *_pairs(shown)))
    if best < TOUCHING or any(_agrees(clause.polarity, place.polarity) for place in near):
        return "same"
    opposed = all(_opposed(clause.polarity, place.polarity) for place in near)
    return "contrary" if opposed and best >= SAME_WORDS else "unsure"


def _nearest(clause: _Clause, places: Sequence[_Clause]) -> tuple[float, list[_Clause]]:
    shares = [len(clause.terms & place.terms) / len(clause.terms) for place in places]
    best = max(shares, default=0.0)
    return best, [place for place, share in zip(places, shares, strict=True) if share >= best - NEAR]


def _opposed(said: Polarity, seen: Polarity) -> bool:
    apart = any(axis in seen.sides and not sides & seen.sides[axis] for axis, sides in said.sides.items())
    return said.negated != seen.negated or apart


def _agrees(said: Polarity, seen: Polarity) -> bool:
    return not _opposed(said, seen) and not (seen.hedged and not said.hedged) and not (said.only and not seen.only)


@lru_cache(maxsize=128)
def _places(text: str) -> tuple[_Clause, ...]:
    return _clauses(text)


@lru_cache(maxsize=128)
def _pairs(text: str) -> tuple[_Clause, ...]:
    return tuple(_together(one, other) for one, other in pairwise(_places(text)))


def _clauses(text: str) -> tuple[_Clause, ...]:
    marks = _marks(text)
    rest = list(text)
    for start, end, _, _ in marks:
        rest[start:end] = "\0" * (end - start)
    bare = "".join(rest)
    found: list[_Clause] = []
    for start, end in _borders(text):
        terms = content_terms(bare[start:end].replace("\0", ""))
        if terms:
            polarity = _polarity(text[start:end], [one for one in marks if start <= one[0] < end])
            found.append(_Clause(terms=terms, polarity=polarity))
    return tuple(found)


def _borders(text: str) -> list[tuple[int, int]]:
    ends = [match.span() for match in _BORDER.finditer(text)]
    starts = [0, *(end for _, end in ends)]
    return list(zip(starts, [*(first for first, _ in ends), len(text)], strict=True))


def _marks(text: str) -> list[tuple[int, int, int, int]]:
    """(start, end, axis, side) of every word of polarity; a negation is of axis -1. No word counts for two sides of one axis."""
    found = [(*match.span(), _NEGATED, 0) for match in _NEGATION.finditer(text)]
    for axis, sides in enumerate(_AXES):
        taken: list[tuple[int, int]] = []
        for side, pattern in enumerate(sides):
            for match in pattern.finditer(text):
                start, end = match.span()
                if not any(first < end and start < last for first, last in taken):
                    taken.append((start, end))
                    found.append((start, end, axis, side))
    return found


def _polarity(text: str, marks: Sequence[tuple[int, int, int, int]]) -> Polarity:
    negations = sum(axis == _NEGATED for _, _, axis, _ in marks)
    named: dict[int, frozenset[int]] = {}
    for _, _, axis, side in marks:
        if axis != _NEGATED:
            named[axis] = named.get(axis, frozenset()) | {side}
    return Polarity(
        negated=negations % 2 == 1,
        sides=named,
        hedged=_HEDGE.search(text) is not None,
        only=_ONLY.search(text) is not None,
    )


def _together(one: _Clause, other: _Clause) -> _Clause:
    first, second = one.polarity, other.polarity
    return _Clause(
        terms=one.terms | other.terms,
        polarity=Polarity(
            negated=first.negated != second.negated,
            sides={
                axis: first.sides.get(axis, frozenset()) | second.sides.get(axis, frozenset())
                for axis in {*first.sides, *second.sides}
            },
            hedged=first.hedged or second.hedged,
            only=first.only or second.only,
        ),
    )
