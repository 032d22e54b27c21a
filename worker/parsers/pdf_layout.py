"""From lines on pages to headings, paragraphs, list items and tables. Pure: nothing here knows pdfium."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from worker.parsers.headings import NO_TITLE, rank_of
from worker.parsers.pdf_lines import Line, PageLines
from worker.parsers.plain import ENDS_SENTENCE, LIST_ITEM
from worker.parsers.tables import SEPARATOR
from worker.parsers.types import Element

_EDGE_LINES = 3  # from the top and the bottom of a page that may be running heads
_MARGIN_TOP = 0.86  # of the page's height
_LARGER = 1.15  # times the body's size: a heading
_TITLE_LARGER = 1.3
_HEADING_CHARS = 120
_MAX_SIZES = 4  # levels by size
_HEADING_RANKS = frozenset({2, 3, 4, 9, 10, 11})  # parts, chapters, 1.1 and deeper: hardly ever the numbers of a list
_MOST_HEADINGS = 0.3  # of all lines: more than that and the size means something else
_ENDS_LIKE_PROSE = re.compile(r"[。；;，,、！!：:]$|(?<!\d)\.$")
_MARKER = re.compile(r"(?:[•·●○■□▪◦–—*-]|\(?\w{1,3}[.)）、])")
_WIDE = re.compile(
    r"[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff“”‘’…—]"
)
_HYPHENS = "-‐"
_PAGE_NUMBER = re.compile(r"[\W\d]*(?:第|共|页|頁|page|of|p|seite|von|[ivxlc]+|[\W\d])*", re.IGNORECASE)


class OutlineEntry(Struct, frozen=True, kw_only=True):
    level: int  # 0 = top
    title: str
    page: int  # 1-based
    y: float | None  # where on the page it points


class _Head(Struct, frozen=True, kw_only=True):
    level: int
    lines: int = 1


def elements_of(pages: Sequence[PageLines], outline: Sequence[OutlineEntry]) -> tuple[Element, ...]:
    lines = _without_running_heads(pages)
    heads = _from_outline(lines, outline)
    if heads is None:
        heads = _from_sizes(lines)
    return tuple(_Builder(lines, heads).elements())


def _without_running_heads(pages: Sequence[PageLines]) -> list[Line]:
    """Lines that come again in the margin of many pages stay only where they stand first; bare page numbers go."""
    margins = [_margin_lines(page) for page in pages]
    seen = Counter(
        key
        for page, margin in zip(pages, margins, strict=True)
        for key in {_recurring(page.lines[at]) for at in margin}
    )
    enough = max(2, round(len(pages) * 0.3))
    kept: list[Line] = []
    met: set[str] = set()
    for page, margin in zip(pages, margins, strict=True):
        for at, line in enumerate(page.lines):
            key = _recurring(line)
            if at in margin and seen[key] >= enough:
                if key in met or _PAGE_NUMBER.fullmatch(line.text):
                    continue
                met.add(key)
            kept.append(line)
    return kept


def _margin_lines(page: PageLines) -> set[int]:
    """The outermost lines, as far as a gap divides them from the body."""
    margin: set[int] = set()
    for sign in (1, -1):  # from the top, from the bottom
        order = sorted(range(len(page.lines)), key=lambda at: -sign * page.lines[at].y)[: _EDGE_LINES + 1]
        if order and _PAGE_NUMBER.fullmatch(page.lines[order[0]].text):
            margin.add(order[0])
        for count, (at, inner) in enumerate(pairwise(order), 1):
            line = page.lines[at]
            if not (line.y > _MARGIN_TOP * page.height if sign == 1 else line.y < (1 - _MARGIN_TOP) * page.height):
                break
            if abs(line.y - page.lines[inner].y) > 1.8 * line.size:
                margin.update(order[:count])
    return margin


def _recurring(line: Line) -> str:
    return re.sub(r"\d+", "#", _folded(line.text))


def _folded(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def _body_size(lines: Sequence[Line]) -> float:
    weights: Counter[float] = Counter()
    for line in lines:
        weights[round(line.size * 2) / 2] += len(line.text)
    return weights.most_common(1)[0][0] if weights else 0.0


def _from_outline(lines: Sequence[Line], outline: Sequence[OutlineEntry]) -> dict[int, _Head] | None:
    """Line position -> heading, or None when the bookmarks are not those of this text's headings."""
    by_page: defaultdict[int, list[int]] = defaultdict(list)
    for at, line in enumerate(lines):
        by_page[line.page].append(at)
    heads: dict[int, _Head] = {}
    for entry in outline:
        found = _locate(lines, [at for at in by_page[entry.page] if at not in heads], entry)
        if found is not None:
            heads[found[0]] = _Head(level=entry.level + 2, lines=found[1])
    if len(heads) * 2 < len(outline) or len(heads) < 2:
        return None
    title = _title_lines(lines, before=min(heads))
    return ({title[0]: _Head(level=1, lines=title[1])} if title else {}) | heads


def _locate(lines: Sequence[Line], candidates: Sequence[int], entry: OutlineEntry) -> tuple[int, int] | None:
    """Where an entry's title stands: the line's position and over how many lines it runs."""
    wanted = _folded(entry.title)
    if not wanted:
        return None
    for at in candidates:
        joined = ""
        for more in range(3):
            if at + more >= len(lines) or lines[at + more].page != entry.page:
                break
            joined += _folded(lines[at + more].text)
            numbered = joined.endswith(wanted) and len(joined) - len(wanted) <= 8
            if (
                joined == wanted
                or numbered
                or (len(joined) > 5 and wanted.endswith(joined) and len(wanted) - len(joined) <= 8)
            ):
                return at, more + 1
            if not wanted.startswith(joined):
                break
    y = entry.y
    if y is None:
        return None
    near = [at for at in candidates if -0.3 * lines[at].size < y - lines[at].y < 3 * lines[at].size]
    best = min(near, key=lambda at: abs(y - lines[at].y - lines[at].size), default=None)
    return (best, 1) if best is not None and _may_head(lines[best]) else None


def _may_head(line: Line) -> bool:
    return (
        len(line.text) <= _HEADING_CHARS
        and not _ENDS_LIKE_PROSE.search(line.text)
        and len(line.cells) < 3
        and any(char.isalpha() for char in line.text)
    )


def _title_lines(lines: Sequence[Line], *, before: int) -> tuple[int, int] | None:
    """The largest lines of the first page, above the first heading."""
    body = _body_size(lines)
    first_page = [
        at
        for at in range(before)
        if lines[at].page == lines[0].page and _may_head(lines[at]) and not NO_TITLE.fullmatch(lines[at].text)
    ]
    if not first_page:
        return None
    largest = max(lines[at].size for at in first_page)
    if largest < body * _TITLE_LARGER:
        return None
    start = next(at for at in first_page if lines[at].size >= largest * 0.97)
    return start, _run_of_size(lines, start, before)


def _run_of_size(lines: Sequence[Line], start: int, end: int) -> int:
    """How many lines from `start` on have its size and page: a heading that wraps."""
    at = start + 1
    while (
        at < min(end, start + 4)
        and lines[at].page == lines[start].page
        and abs(lines[at].size - lines[start].size) < 0.03 * lines[start].size
        and lines[at - 1].y - lines[at].y < 2.2 * lines[start].size
        and rank_of(lines[at].text) is None
        and _may_head(lines[at])
    ):
        at += 1
    return at - start


def _from_sizes(lines: Sequence[Line]) -> dict[int, _Head]:
    """Headings are larger than the body, or bold and numbered, or numbered like chapters."""
    body = _body_size(lines)
    weight = Counter(line.weight for line in lines if abs(line.size - body) <= 0.5).most_common(1)
    normal = weight[0][0] if weight else -1
    large = [at for at, line in enumerate(lines) if line.size >= body * _LARGER and _may_head(line)]
    if len(large) > max(3, _MOST_HEADINGS * len(lines)):
        large = []
    sizes = _distinct(lines[at].size for at in large)
    heads: dict[int, _Head] = {}
    taken = -1
    for at in large:
        if at <= taken:
            continue
        run = _run_of_size(lines, at, len(lines))
        heads[at] = _Head(level=_level_of(lines[at].size, sizes), lines=run)
        taken = at + run - 1
    inside = {at + more for at, head in heads.items() for more in range(head.lines)}
    for at, line in enumerate(lines):
        rank = rank_of(line.text) if at not in inside and _may_head(line) and not line.cells else None
        bold = normal > 0 and line.weight >= 1.25 * normal
        if rank is not None and (bold or rank in _HEADING_RANKS) and not _is_list_like(lines, at, rank):
            heads[at] = _Head(level=10 + rank)
    return heads


def _is_list_like(lines: Sequence[Line], at: int, rank: int) -> bool:
    return any(0 <= near < len(lines) and rank_of(lines[near].text) == rank for near in (at - 1, at + 1))


def _distinct(sizes: Iterator[float]) -> list[float]:
    """From the largest down, those within five percent as one."""
    kept: list[float] = []
    for size in sorted(sizes, reverse=True):
        if not kept or size < 0.95 * kept[-1]:
            kept.append(size)
    return kept


def _level_of(size: float, sizes: Sequence[float]) -> int:
    return min(next(rank for rank, one in enumerate(sizes, 1) if size >= 0.95 * one), _MAX_SIZES)


class _Builder:
    def __init__(self, lines: Sequence[Line], heads: dict[int, _Head]) -> None:
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
