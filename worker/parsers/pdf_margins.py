"""Running heads and page numbers, told apart from the text between them. Pure."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from worker.parsers.headings import folded
from worker.parsers.pdf_lines import Line, PageLines

_EDGE_LINES = 3  # from the top and the bottom of a page that may be running heads
_MARGIN_TOP = 0.86  # of the page's height
_PAGE_NUMBER = re.compile(r"(?:第|共|页|頁|page|of|p|seite|von|[ivxlc]|[\W\d])*", re.IGNORECASE)


def without_running_heads(pages: Sequence[PageLines]) -> list[Line]:
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
    return re.sub(r"\d+", "#", folded(line.text))
