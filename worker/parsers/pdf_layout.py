"""From lines on pages to headings, paragraphs, list items and tables. Pure: nothing here knows pdfium."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from worker.parsers.pdf_headings import Head, OutlineEntry, heads_of
from worker.parsers.pdf_lines import Line, PageLines
from worker.parsers.pdf_margins import without_running_heads
from worker.parsers.plain import ENDS_SENTENCE, LIST_ITEM
from worker.parsers.tables import SEPARATOR
from worker.parsers.types import Element

_MARKER = re.compile(r"(?:[•·●○■□▪◦–—*-]|\(?\w{1,3}[.)）、])")
_WIDE = re.compile(
    r"[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff“”‘’…—]"
)
_HYPHENS = "-‐"


def elements_of(pages: Sequence[PageLines], outline: Sequence[OutlineEntry]) -> tuple[Element, ...]:
    lines = without_running_heads(pages)
    return tuple(_Builder(lines, heads_of(lines, outline)).elements())


class _Builder:
    def __init__(self, lines: Sequence[Line], heads: dict[int, Head]) -> None:
        self._lines = lines
        self._heads = heads
        self._leading = _leading(lines)
        self._right_edges = _right_edges(lines)

    def elements(self) -> Iterator[Element]:
        at = 0
        paragraph: list[Line] = []
        previous_is_item = False
        while at < len(self._lines):
            head, rows = self._heads.get(at), self._table_rows(at)
            if (head or rows or (paragraph and self._breaks(paragraph, self._lines[at]))) and paragraph:
                element = _paragraph(paragraph, after_item=previous_is_item)
                previous_is_item = element.kind == "list_item"
                yield element
                paragraph = []
            if head:
                of_head = self._lines[at : at + head.lines]
                yield Element(
                    kind="heading",
                    text=_joined([line.text for line in of_head]),
                    level=head.level,
                    page=of_head[0].page,
                )
                previous_is_item = False
                at += head.lines
            elif rows:
                yield _table(self._lines[at : at + rows])
                previous_is_item = False
                at += rows
            else:
                paragraph.append(self._lines[at])
                at += 1
        if paragraph:
            yield _paragraph(paragraph, after_item=previous_is_item)

    def _table_rows(self, at: int) -> int:
        """How many lines from `at` on are rows of a table; one row alone is none."""
        end = at
        while (
            end < len(self._lines)
            and end not in self._heads
            and self._lines[end].page == self._lines[at].page
            and len(_cells(self._lines[end])) > 1
        ):
            end += 1
        return end - at if end - at > 1 else 0

    def _breaks(self, paragraph: Sequence[Line], line: Line) -> bool:
        last = paragraph[-1]
        if abs(last.size - line.size) > 0.08 * last.size or LIST_ITEM.match(line.text):
            return True
        ended = ENDS_SENTENCE.search(last.text) is not None
        if last.page != line.page or line.y > last.y + 0.5 * last.size:
            return ended  # the next page or column goes on with the sentence
        if last.y - line.y > 1.35 * self._leading[last.page]:
            return True
        edge = self._right_edges[last.page, round(last.left / 20)]
        if _WIDE.match(last.text[-1]) and _WIDE.match(
            line.text
        ):  # Chinese fills its lines to the last character but one
            short = last.right < max(edge - 2.5 * last.size, line.right - 1.2 * last.size)
            return short or (line.left - last.left > 0.8 * last.size and LIST_ITEM.match(last.text) is None)
        if ended and last.right < edge - 0.12 * (edge - last.left):
            return True
        indent = line.left - last.left
        if LIST_ITEM.match(paragraph[0].text) and line.left < paragraph[0].left - 0.5 * last.size:
            return True
        hanging = len(paragraph) == 1 and (LIST_ITEM.match(last.text) is not None or not ended)
        return 0.8 * last.size < indent < 6 * last.size and not hanging


def _leading(lines: Sequence[Line]) -> defaultdict[int, float]:
    """Distance of baselines per page: the commonest one."""
    gaps: defaultdict[int, Counter[float]] = defaultdict(Counter)
    for one, other in pairwise(lines):
        gap = one.y - other.y
        if one.page == other.page and 0.8 * one.size < gap < 3 * one.size:
            gaps[one.page][round(gap * 2) / 2] += 1
    leading: defaultdict[int, float] = defaultdict(lambda: 1000.0)
    for page, counts in gaps.items():
        most = max(counts.values())
        leading[page] = min(gap for gap, count in counts.items() if count == most) + 0.5
    return leading


def _right_edges(lines: Sequence[Line]) -> defaultdict[tuple[int, int], float]:
    """Per page and left edge: how far lines reach."""
    edges: defaultdict[tuple[int, int], float] = defaultdict(float)
    for line in lines:
        if line.cells:
            continue  # a table may be wider than the text's column
        key = line.page, round(line.left / 20)
        for near in (-1, 0, 1):
            edges[key[0], key[1] + near] = max(edges[key[0], key[1] + near], line.right)
    return edges


def _cells(line: Line) -> tuple[str, ...]:
    """A list item's mark is no cell of its own."""
    cells = line.cells
    if len(cells) > 1 and _MARKER.fullmatch(cells[0]):
        cells = (f"{cells[0]} {cells[1]}", *cells[2:])
    return cells


def _table(rows: Sequence[Line]) -> Element:
    cells = [_cells(row) for row in rows]
    widest = max(len(row) for row in cells)
    named = len(cells[0]) == widest and not any(char.isdigit() for cell in cells[0] for char in cell)
    return Element(
        kind="table",
        text="\n".join(SEPARATOR.join(" ".join(cell.split()) for cell in row) for row in cells),
        header_rows=1 if named and len(rows) > 2 else 0,
        page=rows[0].page,
    )


def _paragraph(lines: Sequence[Line], *, after_item: bool) -> Element:
    text = _joined([line.text for line in lines])
    is_item = LIST_ITEM.match(text) is not None
    return Element(
        kind="list_item" if is_item else "paragraph",
        text=text,
        tight=is_item and after_item,
        page=lines[0].page,
        page_last=lines[-1].page if lines[-1].page != lines[0].page else None,
    )


def _joined(lines: Sequence[str]) -> str:
    """Undo the line breaks: words cut by a hyphen grow together, Chinese goes on without a blank."""
    text = ""
    for line in lines:
        line = " ".join(line.split())
        if not text:
            text = line
        elif text[-1] in _HYPHENS:
            cut_word = len(text) > 1 and text[-2].isalpha() and line[:1].islower()
            text = (text[:-1] if cut_word else text[:-1] + "-") + line
        elif _WIDE.match(text[-1]) and _WIDE.match(line[:1]):
            text += line
        else:
            text += " " + line
    return text
