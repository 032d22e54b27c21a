"""Citation markers: find them in a model's text, resolve them against the ledger, number them for the reader. Pure.

The model writes 【来源：<block_id>】 or [source: <block_id>]; the reader gets [1], [2], …, each standing for one block.
What already looks like one of these marks can't pass for it: the model's own is rewritten, and in a sentence that stands
word for word in what was read, which is left as it is, our numbers step over it.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable, Sequence
from itertools import accumulate, count

from msgspec import Struct

from shared.ids import BLOCK_ID_PATTERN
from shared.text.sentences import sentences


class Marker(Struct, frozen=True, kw_only=True):
    """`ids`: as named, whether they exist or not; block ids in their canonical spelling."""

    start: int  # in the model's text
    end: int
    ids: tuple[str, ...]


class Claim(Struct, frozen=True, kw_only=True):
    """A sentence and the known blocks that its markers name.

    `start`, `end`: where it stands in the model's text, its markers and the blanks behind it included.
    """

    sentence: str
    block_ids: tuple[str, ...]
    start: int
    end: int


class _Place(Struct, frozen=True, kw_only=True):
    """A marker that was taken out. `position`: in the clean text. `ids`: the known ones."""

    position: int
    ids: tuple[str, ...]
    length: int


class Resolved(Struct, frozen=True, kw_only=True):
    """`text`: as delivered. `block_ids[i]` is number `numbers[i]` there. `removed`: named but not in the ledger.

    `unmarked`: the sentences without a marker, each with the known blocks that its paragraph or list item cites.
    """

    text: str
    block_ids: tuple[str, ...]
    numbers: tuple[int, ...]
    claims: tuple[Claim, ...]
    unmarked: tuple[Claim, ...]
    removed: tuple[str, ...]


_ID = re.compile(BLOCK_ID_PATTERN)
_WORDS = r"(?:来源|來源|出处|出處|sources?)"
_LABELLED = re.compile(rf"(?i)[\[［【〔]\s*{_WORDS}\s*[:：]([^\[\]［］【】〔〕\n]*)[\]］】〕]")
_IN_PARENTHESES = re.compile(rf"(?i)[(（]\s*{_WORDS}\s*[:：]([^()（）\n]*)[)）]")
_UNLABELLED = re.compile(r"[\[［【]([^\[\]［］【】\n]{12,400})[\]］】]")
_UNFINISHED = re.compile(rf"(?i)[\[［【〔]\s*{_WORDS}\s*[:：][^\[\]［］【】〔〕]{{0,400}}\Z")
_SEPARATORS = re.compile(r"[,，、;；&\s]+|\band\b|和|及")
_AROUND_ID = "`'\"<>“”‘’*"
_LARGEST = 999  # a larger number in brackets is a year or the like, and no mark
_LOOKALIKE = re.compile(r"\[(\s*\d+\s*)\]")
_PARAGRAPH = re.compile(
    r"\n[ \t]*\n\s*|\n(?=[ \t]*(?:[-*+•]|#{1,6}|\(?\d{1,3}[.)、）]|[（(]?[一二三四五六七八九十]{1,3}[)）、])[ \t]*\S)"
)
_BARE_MARK = re.compile(
    r"(?m)^[ \t]*(?:[-*+•]|\(?\d{1,3}[.)、）]|[（(]?[一二三四五六七八九十]{1,3}[)）、])[ \t]*(?:\n|\Z)"
)
_STOPS = frozenset(".,;:!?。，；：！？、")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)


def find_markers(text: str) -> list[Marker]:
    """Every marker, in order, none overlapping another; in any spelling whose meaning is plain."""
    found: list[Marker] = []
    for pattern in (_LABELLED, _IN_PARENTHESES, _UNLABELLED, _UNFINISHED):
        for match in pattern.finditer(text):
            body = match[1] if pattern.groups else match[0]
            ids = _ids(body, labelled=pattern is _LABELLED or pattern is _UNFINISHED, exact=pattern is _UNLABELLED)
            if ids is not None:
                found.append(Marker(start=match.start(), end=match.end(), ids=ids))
    found.sort(key=lambda marker: (marker.start, -marker.end))
    apart: list[Marker] = []
    for marker in found:
        if not apart or marker.start >= apart[-1].end:
            apart.append(marker)
    return apart


def resolve(text: str, known: Container[str], *, shown: Sequence[str] = ()) -> Resolved:
    """Number the known blocks in order of first appearance, take the others out, and say which sentence cites what.

    `shown`: what was read; a sentence that stands there word for word is never rewritten.
    """
    text = text.replace("\0", "")
    order: dict[str, int] = {}
    removed: list[str] = []
    delivered: list[str] = []
    clean: list[str] = []  # the text without any marker
    places: list[_Place] = []
    at = length = 0
    for marker in find_markers(text):
        before = text[at : marker.start]
        here = tuple(dict.fromkeys(one for one in marker.ids if one in known))
        removed += [one for one in marker.ids if one not in known]
        for one in here:
            order.setdefault(one, len(order))
        delivered += [before if here else before.rstrip(" \t\u3000"), *(f"\0{order[one]}\0" for one in here)]
        clean.append(before)
        length += len(before)
        places.append(_Place(position=length, ids=here, length=marker.end - marker.start))
        at = marker.end
    delivered.append(text[at:])
    clean.append(text[at:])
    cleaned = "".join(clean)
    quoted = _quoted_numbers(cleaned, shown)
    first = next(start for start in count(1) if quoted.isdisjoint(range(start, start + len(order))))
    numbers = tuple(range(first, first + len(order)))
    claims, unmarked = _claims(cleaned, places)
    return Resolved(
        text=_numbered("".join(delivered), numbers, quoted),
        block_ids=tuple(order),
        numbers=numbers,
        claims=claims,
        unmarked=unmarked,
        removed=tuple(dict.fromkeys(removed)),
    )


def _quoted_numbers(clean: str, shown: Sequence[str]) -> frozenset[int]:
    """The n of every [n] in a sentence that stands word for word in what was read."""
    found: set[int] = set()
    for start, end in sentences(clean) if _LOOKALIKE.search(clean) else ():
        sentence = clean[start:end].strip()
        numbers = [_number(match[1]) for match in _LOOKALIKE.finditer(sentence)]
        if numbers and any(sentence in text for text in shown):
            found.update(numbers)
    return frozenset(found)


def _number(digits: str) -> int:
    """As many digits of it as tell whether it may be a mark: a model can write more than Python reads."""
    return int(digits.strip().lstrip("0")[:9] or "0")


def _ids(body: str, *, labelled: bool, exact: bool) -> tuple[str, ...] | None:
    """The ids in a bracket, None if the bracket is no marker. `exact`: nothing but ids may stand there."""
    spelled = unicodedata.normalize("NFKC", body).lower()
    words = [word.strip(_AROUND_ID) for word in _SEPARATORS.split(spelled)]
    words = [re.sub(r"^(?:block_?id|block)?[=:]?", "", word) for word in words]
    words = [word for word in words if word]
    ids = [word for word in words if _ID.fullmatch(word)]
    if exact or not labelled:
        return tuple(ids) if ids and (len(ids) == len(words) or not exact) else None
    if ids:
        return tuple(word for word in words if "#" in word)  # as an id has it
    return (body.strip(),)


def _numbered(text: str, numbers: tuple[int, ...], quoted: frozenset[int]) -> str:
    """Rewrite what could be taken for a mark of ours, then put ours, so far places in `numbers` between NULs, in."""
    last = max(numbers, default=0)

    def rewritten(piece: str, form: str, most: int) -> str:
        def one(match: re.Match[str]) -> str:
            number = _number(match[1])
            return form.format(match[1]) if 0 < number <= most and number not in quoted else match[0]

        return _LOOKALIKE.sub(one, piece)

    pieces: list[str] = []
    at = 0
    for code in _CODE.finditer(text):
        pieces.append(rewritten(text[at : code.start()], "［{}］", _LARGEST))
        pieces.append(rewritten(code[0], "[ {} ]", last))  # a[1] and a[ 1 ] are the same code
        at = code.end()
    pieces.append(rewritten(text[at:], "［{}］", _LARGEST))
    return re.sub(r"\0(\d+)\0", lambda match: f"[{numbers[int(match[1])]}]", "".join(pieces)).strip()


def unmarked(text: str) -> str:
    """Text that nobody has verified, without source marks and with nothing that looks like one of ours."""
    kept: list[str] = []
    at = 0
    for marker in find_markers(text):
        kept.append(text[at : marker.start])
        at = marker.end
    return _LOOKALIKE.sub(r"［\1］", "".join([*kept, text[at:]]))


def without(text: str, claims: Sequence[Claim]) -> str:
    """The model's text without these sentences and their markers, and without the list marks that then mark nothing.

    `text`: what `claims` were found in by `resolve`.
    """
    kept: list[str] = []
    at = 0
    text = text.replace("\0", "")
    for claim in sorted(claims, key=lambda one: one.start):
        cut = text[claim.start : claim.end]
        kept += [text[at : claim.start], cut[len(cut.rstrip()) :] if "\n" in cut[len(cut.rstrip()) :] else ""]
        at = claim.end
    left = "".join([*kept, text[at:]])
    return re.sub(r"\n{3,}", "\n\n", _BARE_MARK.sub("", left)).strip()


def _claims(clean: str, places: list[_Place]) -> tuple[tuple[Claim, ...], tuple[Claim, ...]]:
    """The sentences with a marker, and those without."""
    spans = sentences(clean)
    starts = [start for start, _ in spans]
    taken_out = _TakenOut(places)
    breaks = [match.end() for match in _PARAGRAPH.finditer(clean)]
    cited: dict[int, list[str]] = {}
    beside: dict[int, list[str]] = {}  # by paragraph
    for place in places:
        where = _claimed(clean, place.position)
        if place.ids and where is not None:
            cited.setdefault(bisect_right(starts, where) - 1, []).extend(place.ids)
            beside.setdefault(bisect_right(breaks, where), []).extend(place.ids)

    def claim(index: int, ids: Iterable[str]) -> Claim:
        start, end = spans[index]
        inside = taken_out.inside(start, end)
        return Claim(
            sentence=_without_gaps(clean, start, end, inside),
            block_ids=tuple(dict.fromkeys(ids)),
            start=taken_out.in_text(start, clean),
            end=taken_out.in_text(end, clean),
        )

    unmarked = [index for index in range(len(spans)) if index not in cited]
    return (
        tuple(claim(index, ids) for index, ids in sorted(cited.items())),
        tuple(claim(index, beside.get(bisect_right(breaks, starts[index]), ())) for index in unmarked),
    )


def _without_gaps(clean: str, start: int, end: int, markers: Sequence[int]) -> str:
    """The sentence without the blanks that stood before a marker and now would stand before its full stop."""
    pieces: list[str] = []
    at = start
    for position in markers:
        if clean[position] in _STOPS:
            pieces.append(clean[at:position].rstrip(" \t\u3000"))
            at = position
    return "".join([*pieces, clean[at:end]]).strip()


class _TakenOut:
    """How much of the model's text was taken out before a place of the clean one. `places`: in order."""

    def __init__(self, places: Sequence[_Place]) -> None:
        self._positions = [place.position for place in places]
        self._lengths = list(accumulate((place.length for place in places), initial=0))

    def inside(self, start: int, end: int) -> list[int]:
        """The places between these two of the clean text."""
        return self._positions[bisect_right(self._positions, start) : bisect_left(self._positions, end)]

    def in_text(self, border: int, clean: str) -> int:
        """Where a sentence's border in the clean text stands in the model's; a marker there goes with the sentence it belongs to."""
        claimed = _claimed(clean, border)
        last = border if claimed is not None and claimed < border else border - 1
        return border + self._lengths[bisect_right(self._positions, last)]


def _claimed(clean: str, position: int) -> int | None:
    """A place in the sentence that a marker at `position` belongs to: the one before it, at a line's start the one after."""
    end = _without_blanks(clean, position)
    if not end or "\n" in clean[end:position]:  # at a line's start
        line_end = clean.find("\n", position)
        after = clean[position : line_end if line_end >= 0 else len(clean)]
        if after.strip():
            return position + len(after) - len(after.lstrip())
    return end - 1 if end else None


def _without_blanks(text: str, end: int) -> int:
    """Where the text before `end` ends without the blanks behind it; looks no further back than it must."""
    width = 64
    while width < end and text[end - width : end].isspace():
        width *= 4
    start = max(end - width, 0)
    return start + len(text[start:end].rstrip())
