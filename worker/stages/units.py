"""Cuts an element into units: the smallest pieces a block is packed from. Pure.

Units tile the element. Everything is whole that fits `max_tokens`; what does not is cut at the next finer place: rows, cells,
lines, sentences, clauses, blanks, and at last between any two characters a reader tells apart.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable

from msgspec import Struct

from shared.text.sentences import sentences
from worker.parsers.types import Element

CountTokens = Callable[[str], int]

_CLAUSE_END = re.compile(r"[，；、：,;:](?:\s+|(?<=[，；、：]))|[—…]+\s*|\n+")
_CELL_END = re.compile(r" \| ")
_EMPTY_LINES = re.compile(r"\n(?:[^\S\n]*\n)+")
_CHARS_PER_TOKEN = (
    16  # text beyond max_tokens × this is cut without counting: only ruled lines and the like have so few tokens
)
_ZWJ = "\u200d"


class Unit(Struct, frozen=True, kw_only=True):
    start: int  # code points in the canonical text
    end: int
    tokens: int
    element: Element
    table_header: str = ""  # for a table's rows after the first part
    header_tokens: int = 0


class Cutter(Struct, frozen=True, kw_only=True):
    """`text`: the canonical text that all spans refer to."""

    text: str
    max_tokens: int
    count: CountTokens

    def units(self, element: Element, start: int, end: int, *, room_tokens: int | None = None) -> list[Unit]:
        """`room_tokens`: what prose may take to be left whole, less than max_tokens where it should stand beside its heading."""
        match element.kind:
            case "table":
                return self._table(element, start, end)
            case "code":
                return self._joined(element, self._code(start, end))
            case "heading" | "paragraph" | "list_item":
                room = self.max_tokens if room_tokens is None else min(room_tokens, self.max_tokens)
                return self._joined(element, self._prose(start, end, room_tokens=room))

    def _joined(self, element: Element, spans: Iterable[tuple[int, int]]) -> list[Unit]:
        return [
            Unit(start=start, end=end, tokens=self._tokens(start, end), element=element)
            for start, end in self._without_blank(spans)
        ]

    def _without_blank(self, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """A span of white space goes to its neighbour: no block should consist of it."""
        kept: list[tuple[int, int]] = []
        for start, end in spans:
            if kept and (self._is_blank(start, end) or self._is_blank(*kept[-1])):
                kept[-1] = (kept[-1][0], end)
            else:
                kept.append((start, end))
        return kept

    def _is_blank(self, start: int, end: int) -> bool:
        return self.text[start:end].isspace()

    def _tokens(self, start: int, end: int) -> int:
        return self.count(self.text[start:end])

    def _fits(self, start: int, end: int, room_tokens: int | None = None) -> bool:
        room = self.max_tokens if room_tokens is None else room_tokens
        return end - start <= room * _CHARS_PER_TOKEN and self._tokens(start, end) <= room

    def _prose(self, start: int, end: int, *, room_tokens: int) -> list[tuple[int, int]]:
        if self._fits(start, end, room_tokens):
            return [(start, end)]
        spans: list[tuple[int, int]] = []
        for first, last in sentences(self.text[start:end]):
            spans += self._clauses(start + first, start + last)
        return spans

    def _clauses(self, start: int, end: int) -> list[tuple[int, int]]:
        if self._fits(start, end):
            return [(start, end)]
        return [piece for span in self._split_after(_CLAUSE_END, start, end) for piece in self._pieces(*span)]

    def _code(self, start: int, end: int) -> list[tuple[int, int]]:
        if self._fits(start, end):
            return [(start, end)]
        spans: list[tuple[int, int]] = []
        for part in self._split_after(_EMPTY_LINES, start, end):
            spans += [part] if self._fits(*part) else self._lines(*part)
        return [piece for span in spans for piece in self._pieces(*span)]

    def _lines(self, start: int, end: int) -> list[tuple[int, int]]:
        spans: list[tuple[int, int]] = []
        while start < end:
            line_end = self.text.find("\n", start, end) + 1 or end
            spans.append((start, line_end))
            start = line_end
        return spans

    def _table(self, element: Element, start: int, end: int) -> list[Unit]:
        if self._fits(start, end):
            return [Unit(start=start, end=end, tokens=self._tokens(start, end), element=element)]
        rows = self._without_blank(self._lines(start, end))
        header_rows = min(element.header_rows, len(rows) - 1)
        header, header_tokens = "", 0
        if header_rows and self._fits(start, rows[header_rows - 1][1], self.max_tokens // 2):
            header = self.text[start : rows[header_rows - 1][1]].rstrip("\n")
            header_tokens = self.count(header)
            if self._fits(start, rows[header_rows][1]):  # the header never stands without a row under it
                rows[: header_rows + 1] = [(start, rows[header_rows][1])]
        room = self.max_tokens - header_tokens
        units: list[Unit] = []
        for row in rows:
            for first, last in self._row(*row, room_tokens=room):
                heads = header if first >= start + len(header) and units else ""
                units.append(
                    Unit(
                        start=first,
                        end=last,
                        tokens=self._tokens(first, last),
                        element=element,
                        table_header=heads,
                        header_tokens=header_tokens if heads else 0,
                    )
                )
        return units

    def _row(self, start: int, end: int, *, room_tokens: int) -> list[tuple[int, int]]:
        if self._fits(start, end, room_tokens):
            return [(start, end)]
        spans: list[tuple[int, int]] = []
        for first, last in self._split_after(_CELL_END, start, end):
            if self._fits(first, last, room_tokens):
                spans.append((first, last))
                continue
            for one, other in sentences(self.text[first:last]):
                spans += self._pieces(first + one, first + other, room_tokens)
        return self._without_blank(spans)

    def _split_after(self, mark: re.Pattern[str], start: int, end: int) -> list[tuple[int, int]]:
        cuts = [found.end() for found in mark.finditer(self.text, start, end)]
        cuts = [cut for cut in cuts if start < cut < end and is_boundary(self.text, cut)]
        return list(zip([start, *cuts], [*cuts, end], strict=True))

    def _pieces(self, start: int, end: int, room_tokens: int | None = None) -> list[tuple[int, int]]:
        """Halve until it fits, at a blank near the middle or at least between two whole characters."""
        todo, done = [(start, end)], list[tuple[int, int]]()
        while todo:
            first, last = todo.pop()
            cut = None if self._fits(first, last, room_tokens) else self._near_middle(first, last)
            if cut is None:
                done.append((first, last))
            else:
                todo += [(cut, last), (first, cut)]
        return done

    def _near_middle(self, start: int, end: int) -> int | None:
        middle, reach = (start + end) // 2, (end - start) // 4
        nearest = sorted(range(middle - min(reach, 200), middle + min(reach, 200)), key=lambda at: abs(at - middle))
        for at in nearest:
            if start < at < end and self.text[at - 1].isspace() and is_boundary(self.text, at):
                return at
        for distance in range(end - start):
            for at in (middle - distance, middle + distance):
                if start < at < end and is_boundary(self.text, at):
                    return at
        return None


def is_boundary(text: str, at: int) -> bool:
    """Whether a reader sees two characters on the two sides of `at` (0 < at < len(text)), not the parts of one."""
    before, after = text[at - 1], text[at]
    if after <= "\x7f":
        return before + after != "\r\n"
    if unicodedata.category(after)[0] == "M" or _ZWJ in (before, after):
        return False
    if "\U0001f1e6" <= after <= "\U0001f1ff":  # flags are pairs: count what stands before
        run = at
        while run > 0 and "\U0001f1e6" <= text[run - 1] <= "\U0001f1ff":
            run -= 1
        return (at - run) % 2 == 0
    is_part = (
        "\U0001f3fb" <= after <= "\U0001f3ff"  # skin tones
        or "\u1160" <= after <= "\u11ff"  # Hangul vowels and finals
        or "\U000e0020" <= after <= "\U000e007f"  # tags of regional flags
        or "\udc00" <= after <= "\udfff"
    )
    return not is_part
