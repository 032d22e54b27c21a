"""What pdfium tells of a page: lines with their place, size and weight, in its reading order."""

import ctypes
import math
from collections import Counter
from collections.abc import Iterator
from typing import Any, cast

import pypdfium2.raw as untyped_raw
from msgspec import Struct

from worker.parsers.clean import clean

raw = cast("Any", untyped_raw)

_CELL_GAP = 1.5  # font sizes of blank between two words that no sentence has
_WORD_GAP = 0.15
_TURNED = 0.2  # radians
_LINE_END_HYPHEN = 2  # how pdfium gives the hyphen that divides a word
_TINY = 2.0  # points; nobody reads smaller


class Line(Struct, frozen=True, kw_only=True):
    """Coordinates in points; `y` is the baseline and grows upwards."""

    text: str
    page: int  # 1-based
    left: float
    right: float
    y: float
    size: float
    weight: int
    cells: tuple[str, ...] = ()  # two or more when wide gaps divide the line

    @property
    def is_tiny(self) -> bool:
        return self.size < _TINY


class PageLines(Struct, frozen=True, kw_only=True):
    lines: tuple[Line, ...]
    height: float
    has_pictures: bool


def lines_of(page: Any, number: int) -> PageLines:
    """`page`: a PdfPage of pypdfium2, which carries few types."""
    page.set_rotation(0)  # pdfium's reading order goes wrong when the page is shown turned
    textpage = page.get_textpage()
    try:
        reader = _Reader(textpage, number)
        found = reader.turned_lines() if reader.is_turned() else reader.lines()
        lines = tuple(line for line in found if line.text.strip())
    finally:
        textpage.close()
    pictures = any(True for _ in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=3))
    return PageLines(lines=lines, height=page.get_height(), has_pictures=pictures)


class _Reader:
    def __init__(self, textpage: Any, number: int) -> None:
        self._raw = textpage.raw
        self._page = number
        count = textpage.count_chars()
        self._codes: list[int] = [raw.FPDFText_GetUnicode(self._raw, index) for index in range(count)]
        self._spans = list(self._line_spans())

    def _line_spans(self) -> Iterator[tuple[int, int]]:
        """Without the blanks around."""
        start = 0
        for index, code in enumerate([*self._codes, 10]):
            if code in (10, 13, _LINE_END_HYPHEN):
                first, last = start, index + (code == _LINE_END_HYPHEN)
                while first < last and self._is_blank(first):
                    first += 1
                while last > first and self._is_blank(last - 1):
                    last -= 1
                if first < last:
                    yield first, last
                start = index + 1

    def _is_blank(self, index: int) -> bool:
        return self._codes[index] in (0, 9, 32, 0xA0, 0x3000)

    def _is_drawn(self, index: int) -> bool:
        return self._codes[index] not in (0, 10, 13) and raw.FPDFText_IsGenerated(self._raw, index) == 0

    def is_turned(self) -> bool:
        turned = sum(last - first for first, last in self._spans if abs(self._angle(first)) > _TURNED)
        return turned * 2 > sum(last - first for first, last in self._spans)

    def lines(self) -> Iterator[Line]:
        for first, last in self._spans:
            samples = {first, (first + last) // 2, last - 1}
            sizes = [self._size(index) for index in samples if not self._is_blank(index)]
            left, _, _, _ = self._box(first)
            _, _, right, _ = self._box(last - 1)
            size = max(sizes)
            yield Line(
                text=self._text(first, last),
                page=self._page,
                left=left,
                right=max(right, left),
                y=self._origin(first)[1],
                size=size,
                weight=raw.FPDFText_GetFontWeight(self._raw, (first + last) // 2),
                cells=self._cells(first, last, size),
            )

    def _cells(self, first: int, last: int, size: float) -> tuple[str, ...]:
        cells: list[str] = []
        start = index = first
        while index < last:
            if not self._is_blank(index):
                index += 1
                continue
            after = index
            while self._is_blank(after):
                after += 1
            if self._box(after)[0] - self._box(index - 1)[2] > _CELL_GAP * size:
                cells.append(self._text(start, index))
                start = after
            index = after
        return (*cells, self._text(start, last)) if cells else ()

    def turned_lines(self) -> Iterator[Line]:
        """Pages set sideways: pdfium's order is of no use there, so lines are put together from the characters' places."""
        angle = Counter(round(self._angle(first) / (math.pi / 2)) % 4 for first, _ in self._spans).most_common(1)[0][0]
        glyphs = [self._glyph(index, angle) for index in range(len(self._codes)) if self._is_drawn(index)]
        glyphs.sort(key=lambda glyph: -glyph.y)
        row: list[_Glyph] = []
        for glyph in glyphs:
            if row and row[0].y - glyph.y > 0.5 * max(row[0].size, 1.0):
                yield self._from_glyphs(row)
                row = []
            row.append(glyph)
        if row:
            yield self._from_glyphs(row)

    def _from_glyphs(self, row: "list[_Glyph]") -> Line:
        row.sort(key=lambda glyph: glyph.left)
        size = max(glyph.size for glyph in row)
        cells = [""]
        right = row[0].left
        for glyph in row:
            if not glyph.text.strip():
                cells[-1] += " "
                continue
            if glyph.left - right > _CELL_GAP * size:
                cells.append("")
            elif glyph.left - right > _WORD_GAP * size:
                cells[-1] += " "
            cells[-1] += glyph.text
            right = glyph.right
        cells = [" ".join(cell.split()) for cell in cells]
        return Line(
            text=" ".join(cells),
            page=self._page,
            left=row[0].left,
            right=row[-1].right,
            y=row[0].y,
            size=size,
            weight=-1,
            cells=tuple(cells) if len(cells) > 1 else (),
        )

    def _glyph(self, index: int, quarter_turns: int) -> "_Glyph":
        left, bottom, right, top = self._box(index)
        x, y = self._origin(index)
        for _ in range(quarter_turns):  # turn the page clockwise until the text stands upright
            left, bottom, right, top = bottom, -right, top, -left
            x, y = y, -x
        return _Glyph(text=self._text(index, index + 1), left=left, right=right, y=y, size=self._size(index))

    def _text(self, first: int, last: int) -> str:
        codes = [0x2D if code == _LINE_END_HYPHEN else code for code in self._codes[first:last]]
        return clean("".join(map(chr, codes)) if _are_characters(codes) else _from_halves(codes))

    def _size(self, index: int) -> float:
        matrix = raw.FS_MATRIX()
        if not raw.FPDFText_GetMatrix(self._raw, index, matrix):
            return raw.FPDFText_GetFontSize(self._raw, index)
        return raw.FPDFText_GetFontSize(self._raw, index) * math.hypot(matrix.c, matrix.d)

    def _angle(self, index: int) -> float:
        matrix = raw.FS_MATRIX()
        return math.atan2(matrix.b, matrix.a) if raw.FPDFText_GetMatrix(self._raw, index, matrix) else 0.0

    def _box(self, index: int) -> tuple[float, float, float, float]:
        """left, bottom, right, top"""
        box = raw.FS_RECTF()
        raw.FPDFText_GetLooseCharBox(self._raw, index, box)
        return box.left, box.bottom, box.right, box.top

    def _origin(self, index: int) -> tuple[float, float]:
        x, y = ctypes.c_double(), ctypes.c_double()
        raw.FPDFText_GetCharOrigin(self._raw, index, x, y)
        return x.value, y.value


class _Glyph(Struct, frozen=True, kw_only=True):
    text: str
    left: float
    right: float
    y: float
    size: float


def _are_characters(codes: list[int]) -> bool:
    return not any(0xD800 <= code <= 0xDFFF or code > 0x10FFFF for code in codes)


def _from_halves(codes: list[int]) -> str:
    """pdfium may give a character beyond the BMP as two surrogates."""
    halves = b"".join((code if code <= 0xFFFF else 0xFFFD).to_bytes(2, "little") for code in codes)
    return halves.decode("utf-16-le", "replace")
