"""Whether a text says the contrary: a negation more or less, or the other word of a pair of opposites. Pure.

Sentence and evidence are compared clause by clause: each clause of the sentence with those clauses of the evidence that share
most of its words once the words of polarity are taken out. It can't follow reasoning; it sees that "may" stands where the
text has "may not", 上涨 where it has 下跌.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from api.agent.opposites import AXES, HEDGE, NEGATION, ONLY
from api.agent.sought import Searched
from api.agent.words import content_terms

Agreement = Literal["same", "unsure", "contrary"]

NEAR = 0.15  # below the best clause's share of common words: still a place where the sentence may come from
TOUCHING = 0.4  # share from which a clause is about the same thing
SAME_WORDS = 0.75  # share from which the other polarity is a contradiction, and no longer only a doubt

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


_Mark = tuple[int, int, int, int]  # (start, end, axis, side) of a word of polarity; a negation is of axis -1


class _Clause:
    """`terms`: without the words of polarity, which few clauses of an evidence are asked for."""

    def __init__(self, terms: frozenset[str], text: str, marks: Sequence[_Mark]) -> None:
        self.terms = terms
        self._text = text
        self._marks = marks

    @cached_property
    def polarity(self) -> Polarity:
        return _polarity(self._text, self._marks)


class _Pair:
    """Two neighbours as one clause."""

    def __init__(self, one: _Clause, other: _Clause) -> None:
        self.terms = one.terms | other.terms
        self._both = one, other

    @cached_property
    def polarity(self) -> Polarity:
        one, other = self._both
        return _together(one.polarity, other.polarity)


def agreement(sentence: str, evidence: Sequence[str]) -> Agreement:
    """Whether the evidence says the sentence or its contrary, where their words meet; "same" where they don't meet at all."""
    said = _clauses(sentence, _marks(Searched(sentence)))
    seen = [_seen(text) for text in evidence]
    if not any(one.may_differ(clause.polarity) for one in seen for clause in said):
        return "same"
    places = [place for one in seen for place in one.places]
    found = {_compared(clause, places) for clause in said}
    return "contrary" if "contrary" in found else "unsure" if "unsure" in found else "same"


def _compared(clause: _Clause, places: Sequence[_Clause]) -> Agreement:
    """With single clauses, and where none of them has the words with pairs of neighbours as well."""
    best, near = _nearest(clause.terms, places)
    if best < SAME_WORDS:
        best, near = _nearest(clause.terms, places, pairs=True)
    if best < TOUCHING or any(_agrees(clause.polarity, place.polarity) for place in near):
        return "same"
    opposed = all(_opposed(clause.polarity, place.polarity) for place in near)
    return "contrary" if opposed and best >= SAME_WORDS else "unsure"


def _opposed(said: Polarity, seen: Polarity) -> bool:
    apart = any(axis in seen.sides and not sides & seen.sides[axis] for axis, sides in said.sides.items())
    return said.negated != seen.negated or apart


def _agrees(said: Polarity, seen: Polarity) -> bool:
    return not _opposed(said, seen) and not (seen.hedged and not said.hedged) and not (said.only and not seen.only)


def _nearest(
    said: frozenset[str], places: Sequence[_Clause], *, pairs: bool = False
) -> tuple[float, list[_Clause | _Pair]]:
    """The best share of these words, and who has it or little less; `pairs`: of neighbours as well."""
    common = [said & place.terms for place in places]
    both = [len(one | other) for one, other in pairwise(common)] if pairs else []
    best = max(*map(len, common), *both, 0, 0) / len(said)
    near: list[_Clause | _Pair] = [
        place for place, words in zip(places, common, strict=True) if len(words) / len(said) >= best - NEAR
    ]
    near += [_Pair(places[at], places[at + 1]) for at, count in enumerate(both) if count / len(said) >= best - NEAR]
    return best, near


class _Seen:
    """A text of the evidence, and its clauses if they are asked for: no clause and no word of polarity reaches beyond a line."""

    def __init__(self, text: str) -> None:
        self._text = text
        where = Searched(text)
        self._marks = _marks(where)
        self._hedges = HEDGE.may_be_in(where)
        self._named = _named(self._marks)

    def may_differ(self, said: Polarity) -> bool:
        """Whether any place of it could fail to agree; needs no words in common to be known."""
        return (
            said.negated
            or said.only
            or _NEGATED in self._named
            or (self._hedges and not said.hedged)
            or any(self._named.get(axis, sides) - sides for axis, sides in said.sides.items())
        )

    @cached_property
    def places(self) -> tuple[_Clause, ...]:
        return _clauses(self._text, self._marks)


_seen = lru_cache(maxsize=128)(_Seen)


def _clauses(text: str, marks: Sequence[_Mark]) -> tuple[_Clause, ...]:
    starts = [start for start, _, _, _ in marks]
    rest = list(text)
    for start, end, _, _ in marks:
        rest[start:end] = "\0" * (end - start)
    bare = "".join(rest)
    found: list[_Clause] = []
    for start, end in _borders(text):
        terms = content_terms(bare[start:end].replace("\0", ""))
        if terms:
            own = marks[bisect_left(starts, start) : bisect_left(starts, end)]
            found.append(_Clause(terms, text[start:end], own))
    return tuple(found)


def _borders(text: str) -> list[tuple[int, int]]:
    ends = [match.span() for match in _BORDER.finditer(text)]
    starts = [0, *(end for _, end in ends)]
    return list(zip(starts, [*(first for first, _ in ends), len(text)], strict=True))


def _marks(where: Searched) -> list[_Mark]:
    """Every word of polarity, in order. No word counts for two sides of one axis."""
    found = [(start, end, _NEGATED, 0) for start, end in NEGATION.all_in(where)]
    for axis, sides in enumerate(AXES):
        taken: set[int] = set()
        for side, sought in enumerate(sides):
            for start, end in sought.all_in(where):
                if taken.isdisjoint(range(start, end)):
                    taken.update(range(start, end))
                    found.append((start, end, axis, side))
    return sorted(found)


def _named(marks: Sequence[_Mark]) -> dict[int, frozenset[int]]:
    """Of each axis that is named which sides."""
    named: dict[int, frozenset[int]] = {}
    for _, _, axis, side in marks:
        named[axis] = named.get(axis, frozenset()) | {side}
    return named


def _polarity(text: str, marks: Sequence[_Mark]) -> Polarity:
    negations = sum(axis == _NEGATED for _, _, axis, _ in marks)
    return Polarity(
        negated=negations % 2 == 1,
        sides={axis: sides for axis, sides in _named(marks).items() if axis != _NEGATED},
        hedged=HEDGE.pattern.search(text) is not None,
        only=ONLY.search(text) is not None,
    )


def _together(first: Polarity, second: Polarity) -> Polarity:
    return Polarity(
        negated=first.negated != second.negated,
        sides={
            axis: first.sides.get(axis, frozenset()) | second.sides.get(axis, frozenset())
            for axis in {*first.sides, *second.sides}
        },
        hedged=first.hedged or second.hedged,
        only=first.only or second.only,
    )
