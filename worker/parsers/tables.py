"""Rows of cells as text: one row per line, cells separated by " | "."""

from collections.abc import Sequence

from worker.parsers.types import Element

SEPARATOR = " | "


def table(
    rows: Sequence[Sequence[str]], *, header_rows: int = 0, page: int | None = None, tight: bool = False
) -> Element | None:
    """None when every cell is empty. Line ends inside a cell become blanks; empty cells keep their place, trailing ones do not."""
    lines = [_line(row) for row in rows]
    filled_header = sum(1 for line in lines[:header_rows] if line)
    shown = [line for line in lines if line]
    if not shown:
        return None
    return Element(kind="table", text="\n".join(shown), header_rows=filled_header, page=page, tight=tight)


def _line(row: Sequence[str]) -> str:
    cells = [" ".join(cell.split()) for cell in row]
    while cells and not cells[-1]:
        cells.pop()
    return SEPARATOR.join(cells)
