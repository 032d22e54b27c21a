"""Which lines of a PDF are headings: its bookmarks say it, or the size, weight and numbering of its lines. Pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from msgspec import Struct

from worker.parsers.headings import NO_TITLE, folded, rank_of
from worker.parsers.pdf_lines import Line

_LARGER = 1.15  # times the body's size: a heading
_TITLE_LARGER = 1.3
_HEADING_CHARS = 120
_MAX_SIZES = 4  # levels by size
_HEADING_RANKS = frozenset({2, 3, 4, 9, 10, 11})  # parts, chapters, 1.1 and deeper: hardly ever the numbers of a list
_MOST_HEADINGS = 0.3  # of all lines: more than that and the size means something else
_ENDS_LIKE_PROSE = re.compile(r"[。；;，,、！!：:]$|(?<!\d)\.$")


class OutlineEntry(Struct, frozen=True, kw_only=True):
    level: int  # 0 = top
    title: str
    page: int  # 1-based
    y: float | None  # where on the page it points


class Head(Struct, frozen=True, kw_only=True):
    level: int
    lines: int = 1


def heads_of(lines: Sequence[Line], outline: Sequence[OutlineEntry]) -> dict[int, Head]:
    """Position of a heading's first line -> what it is."""
    marked = _from_outline(lines, outline)
    return _from_sizes(lines) if marked is None else marked


def _body_size(lines: Sequence[Line]) -> float:
    weights: Counter[float] = Counter()
    for line in lines:
        weights[round(line.size * 2) / 2] += len(line.text)
    return weights.most_common(1)[0][0] if weights else 0.0


def _from_outline(lines: Sequence[Line], outline: Sequence[OutlineEntry]) -> dict[int, Head] | None:
    """Line position -> heading, or None when the bookmarks are not those of this text's headings."""
    by_page: defaultdict[int, list[int]] = defaultdict(list)
    for at, line in enumerate(lines):
        by_page[line.page].append(at)
    heads: dict[int, Head] = {}
    for entry in outline:
        found = _locate(lines, [at for at in by_page[entry.page] if at not in heads], entry)
        if found is not None:
            heads[found[0]] = Head(level=entry.level + 2, lines=found[1])
    if len(heads) * 2 < len(outline) or len(heads) < 2:
        return None
    title = _title_lines(lines, before=min(heads))
    return ({title[0]: Head(level=1, lines=title[1])} if title else {}) | heads


def _locate(lines: Sequence[Line], candidates: Sequence[int], entry: OutlineEntry) -> tuple[int, int] | None:
    """Where an entry's title stands: the line's position and over how many lines it runs."""
    wanted = folded(entry.title)
    if not wanted:
        return None
    for at in candidates:
        joined = ""
        for more in range(3):
            if at + more >= len(lines) or lines[at + more].page != entry.page:
                break
            joined += folded(lines[at + more].text)
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


def _from_sizes(lines: Sequence[Line]) -> dict[int, Head]:
    """Headings are larger than the body, or bold and numbered, or numbered like chapters."""
    body = _body_size(lines)
    weight = Counter(line.weight for line in lines if abs(line.size - body) <= 0.5).most_common(1)
    normal = weight[0][0] if weight else -1
    large = [at for at, line in enumerate(lines) if line.size >= body * _LARGER and _may_head(line)]
    if len(large) > max(3, _MOST_HEADINGS * len(lines)):
        large = []
    sizes = _distinct(lines[at].size for at in large)
    heads: dict[int, Head] = {}
    taken = -1
    for at in large:
        if at <= taken:
            continue
        run = _run_of_size(lines, at, len(lines))
        heads[at] = Head(level=_level_of(lines[at].size, sizes), lines=run)
        taken = at + run - 1
    inside = {at + more for at, head in heads.items() for more in range(head.lines)}
    for at, line in enumerate(lines):
        rank = rank_of(line.text) if at not in inside and _may_head(line) and not line.cells else None
        bold = normal > 0 and line.weight >= 1.25 * normal
        if rank is not None and (bold or rank in _HEADING_RANKS) and not _is_list_like(lines, at, rank):
            heads[at] = Head(level=10 + rank)
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
