"""Patterns that are looked for only in a text that has one of their words. Pure.

A search for a pattern that begins with a choice tries every place of a text; whether and where a text contains a word is known a hundred
times sooner. So a pattern is tried only between the two punctuation marks that a word of it stands between.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence, Set
from functools import cached_property

from msgspec import Struct

_ODD = re.compile(
    "[\u0130\u0131\u017f\u212a]"
)  # the other characters that stand for an ASCII letter where case is ignored
_PIECE = re.compile(
    r"[^\n。，；：！？、,;:!?|]+"
)  # what is left out stands in no pattern, nor in what one looks at around its match
_OPTIONAL = re.compile(r"[?*]|\{0?[,}]")
_QUANTIFIER = re.compile(r"(?:[?*+]|\{\d*,?\d*\})[?+]?")
_GROUP = re.compile(r"\((?:\?(:|i:|<?[=!]))?")
_MANY = 12  # words that a run of characters with classes in it is written out to
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]")


class Searched:
    """A text that many patterns are looked for in. `plain`: in small letters; None where that hides what a pattern would find."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.plain = None if not text.isascii() and _ODD.search(text) else text.lower()

    @cached_property
    def signs(self) -> frozenset[str]:
        """Its characters."""
        assert self.plain is not None
        return frozenset(self.plain)

    @cached_property
    def _pieces(self) -> tuple[list[int], list[int]]:
        """Where the text between two of the signs that no pattern looks at begins, and where it ends."""
        spans = [piece.span() for piece in _PIECE.finditer(self.text)]
        return [start for start, _ in spans], [end for _, end in spans]

    def holding(self, found: Sequence[str]) -> list[tuple[int, int]]:
        """The pieces with one of these words, which the text has, in order."""
        assert self.plain is not None
        starts, ends = self._pieces
        pieces: set[int] = set()
        for word in found:
            at = self.plain.find(word)
            while at >= 0:
                piece = bisect_right(starts, at) - 1
                pieces.add(piece)
                at = self.plain.find(word, ends[piece])
        return [(starts[piece], ends[piece]) for piece in sorted(pieces)]


class Sought:
    """A pattern without regard to case, and words of which every match contains one."""

    def __init__(self, source: str) -> None:
        self.pattern = re.compile(source, re.IGNORECASE)
        self.words = tuple(sorted(words(source)))
        if "" in self.words:
            raise ValueError(f"no word stands in every match: {source!r}")
        self._begun = tuple((word[0], word) for word in self.words)
        self._begins = frozenset(begin for begin, _ in self._begun)
        self._small = re.compile(source)  # in small letters only: three times as fast

    def may_be_in(self, where: Searched) -> bool:
        plain = where.plain
        if plain is None:
            return True
        return any(word in plain for word in self.words)

    def all_in(self, where: Searched) -> list[tuple[int, int]]:
        """Every match, (start, end)."""
        plain = where.plain
        if plain is None:
            return [match.span() for match in self.pattern.finditer(where.text)]
        if self._begins.isdisjoint(where.signs):
            return []
        found = [word for begin, word in self._begun if begin in where.signs and word in plain]
        if not found:
            return []
        return [
            match.span() for start, end in where.holding(found) for match in self._small.finditer(plain, start, end)
        ]


def words(source: str) -> frozenset[str]:
    """The fewest and longest words of which every match of a pattern contains one, in small letters; {""} if there are none.

    Reads as much of the language of patterns as `polarity` and its neighbours write.
    """
    found, end = _choice(source, 0)
    if end != len(source):
        raise ValueError(f"unbalanced pattern: {source!r}")
    small = frozenset(word.lower() for word in found)
    return frozenset(word for word in small if not any(other in word for other in small - {word}))


def _choice(source: str, at: int) -> tuple[frozenset[str], int]:
    """Up to the end of the group: of each alternative its best words."""
    found: set[str] = set()
    while True:
        best, at = _sequence(source, at)
        found |= best
        if source[at : at + 1] != "|":
            return frozenset(found), at
        at += 1


def _sequence(source: str, at: int) -> tuple[frozenset[str], int]:
    candidates: list[frozenset[str]] = []
    run = frozenset({""})  # what the last characters may be, exactly
    while at < len(source) and source[at] not in "|)":
        item, end = _item(source, at)
        quantifier = _QUANTIFIER.match(source, end)
        repeated = quantifier[0] if quantifier else ""
        ends = item.exactly | {""} if repeated == "?" else item.exactly
        longer = _joined(run, ends) if repeated in ("", "?") else None
        if item.exactly and longer is not None:
            run = longer
        else:
            candidates += [run, item.exactly or item.contains] if _OPTIONAL.match(repeated) is None else [run]
            run = frozenset({""})
        at = quantifier.end() if quantifier else end
    candidates.append(run)
    return max(candidates, key=lambda one: (min(map(len, one)), -len(one))), at


def _joined(run: frozenset[str], then: Set[str]) -> frozenset[str] | None:
    return frozenset(one + other for one in run for other in then) if len(run) * len(then) <= _MANY else None


class _Item(Struct, frozen=True):
    """What a quantifier would stand for: one of some strings, or something that has one of some words in it."""

    exactly: frozenset[str] = frozenset()
    contains: frozenset[str] = frozenset({""})


def _item(source: str, at: int) -> tuple[_Item, int]:
    if source[at] == "\\":
        letter = source[at + 1]
        return (_Item() if letter.isalnum() else _Item(frozenset({letter}))), at + 2
    if source[at] == "[":
        match = _CLASS.match(source, at)
        if match is None:
            raise ValueError(f"unbalanced class: {source!r}")
        signs = match[0][1:-1]
        return (_Item() if re.search(r"[\\^-]", signs) else _Item(frozenset(signs))), match.end()
    if source[at] == "(":
        opened = _GROUP.match(source, at)
        assert opened is not None
        inner, end = _choice(source, opened.end())
        if source[end : end + 1] != ")":
            raise ValueError(f"unbalanced group: {source!r}")
        return (_Item() if opened[1] and opened[1][-1] in "=!" else _Item(contains=inner)), end + 1
    return (_Item() if source[at] in ".^$" else _Item(frozenset({source[at]}))), at + 1
