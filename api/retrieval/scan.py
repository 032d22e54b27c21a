"""Where a literal term stands in a block, and the piece of the block that shows it. Pure."""

import unicodedata
from bisect import bisect_right
from itertools import accumulate

from msgspec import Struct

from shared.text.fold import fold

AROUND = 60  # characters shown on either side of an occurrence

_JOINER = "\u200d"


class Occurrences(Struct, frozen=True, kw_only=True, gc=False):
    """`start`, `end`: the first occurrence in the text itself (code points), widened to whole characters."""

    count: int  # non-overlapping, left to right
    start: int
    end: int


def occurrences(text: str, folded: str, folded_term: str) -> Occurrences | None:
    """Find a term by its fold; None = it isn't there.

    folded: fold(text), which may be shorter or longer than `text`: ß becomes ss, a letter with a combining mark becomes one.
    """
    at = folded.find(folded_term)
    if at < 0:
        return None
    until = at + len(folded_term)
    count = folded.count(folded_term, at)
    if not _aligned(text, folded):
        pieces = _pieces(text)
        starts = [0, *accumulate(len(fold(text[first:last])) for first, last in pieces)]
        at = pieces[bisect_right(starts, at) - 1][0]
        until = pieces[bisect_right(starts, until - 1) - 1][1]
    return Occurrences(count=count, start=at, end=until)


def snippet(text: str, start: int, end: int, *, around: int = AROUND) -> tuple[int, int]:
    """The span to show for an occurrence: about `around` characters more on each side, cutting no visible character."""
    first, last = max(start - around, 0), min(end + around, len(text))
    while first > 0 and _continues(text, first):
        first -= 1
    while last < len(text) and _continues(text, last):
        last += 1
    return first, last


def _aligned(text: str, folded: str) -> bool:
    """Whether every code point of the text is the one at the same place of its fold."""
    return (
        text == folded
        or text.isascii()
        or (len(folded) == len(text) and unicodedata.is_normalized("NFC", text) and text.casefold() == folded)
    )


def _pieces(text: str) -> list[tuple[int, int]]:
    """Spans that fold independently: a base character with the marks (and jamo) that may compose with it."""
    starts = [at for at, character in enumerate(text) if at == 0 or not _composes(character)]
    return list(zip(starts, [*starts[1:], len(text)], strict=True))


def _composes(character: str) -> bool:
    """Whether normalisation may merge a character into the one before: marks, and the vowels and finals of Hangul."""
    return (
        character >= "\u0300"
        and (unicodedata.category(character).startswith("M") or "\u1160" <= character <= "\u11ff")
    )  # fmt: skip


def _continues(text: str, at: int) -> bool:
    """Whether a cut before text[at] would go through a visible character (simplified from UAX 29)."""
    before, after = text[at - 1], text[at]
    if (after < "\u0300" or "\u4e00" <= after <= "\u9fff") and before != _JOINER:  # nearly always
        return after == "\n" and before == "\r"
    if _composes(after) or after == _JOINER or before == _JOINER or "\U0001f3fb" <= after <= "\U0001f3ff":
        return True
    return _is_regional(after) and _regionals_before(text, at) % 2 == 1


def _is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _regionals_before(text: str, at: int) -> int:
    """Regional indicators make flags in pairs, counted from the start of their row."""
    first = at
    while first > 0 and _is_regional(text[first - 1]):
        first -= 1
    return at - first
