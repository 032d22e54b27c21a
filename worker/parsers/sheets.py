"""Tables of typed cells as elements: what workbooks and CSV files share."""

import re
from collections.abc import Iterator, Sequence

from worker.parsers.tables import table
from worker.parsers.types import Element

_NUMBER = re.compile(r"[-+]?[\d.,:/%\s-]+")


def sheet_elements(rows: Sequence[Sequence[str]], *, page: int | None = None) -> Iterator[Element]:
    """Blank rows divide a sheet into tables; a lone cell above a table is its title."""
    part: list[Sequence[str]] = []
    for row in [*rows, ()]:
        if any(cell.strip() for cell in row):
            part.append(row)
            continue
        yield from _part(part, page)
        part = []


def _part(rows: list[Sequence[str]], page: int | None) -> Iterator[Element]:
    width = max((_filled(row) for row in rows), default=0)
    while rows and width > 1 and _filled(rows[0]) == 1:
        yield Element(kind="paragraph", text=" ".join(cell for cell in rows.pop(0) if cell.strip()), page=page)
    if rows and (element := table(rows, header_rows=_header_rows(rows), page=page)) is not None:
        yield element


def _filled(row: Sequence[str]) -> int:
    return sum(1 for cell in row if cell.strip())


def _header_rows(rows: Sequence[Sequence[str]]) -> int:
    """The first row, when it names columns."""
    names = [cell.strip() for cell in rows[0]]
    named = len(rows) > 1 and sum(map(bool, names)) > 1 and not any(name and _NUMBER.fullmatch(name) for name in names)
    return 1 if named else 0
