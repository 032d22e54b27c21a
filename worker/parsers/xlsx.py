"""Workbooks, by openpyxl in its streaming mode. unstructured makes one table of a sheet and shows hidden ones."""

import datetime
import io
from collections.abc import Iterator
from typing import Any

import openpyxl
from msgspec.structs import replace

from shared.errors import DocumentError
from shared.types.documents import BlockFlag
from worker.parsers.archive import Archive
from worker.parsers.sheets import sheet_elements
from worker.parsers.source import File
from worker.parsers.types import Element, Parsed

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MAX_CELLS = 5_000_000


def read(file: File) -> Parsed:
    Archive(file.data)  # for its limits; openpyxl has none
    values, formulas = _open(file.data, values=True), _open(file.data, values=False)
    elements: list[Element] = []
    hidden = False
    room = MAX_CELLS
    try:
        for number, sheet in enumerate(values.worksheets, 1):
            if sheet.sheet_state != "visible":
                hidden = True
                continue
            rows: list[list[str]] = []
            for row in _rows(sheet, formulas[sheet.title]):
                room -= len(row)
                if room < 0:
                    raise DocumentError("too_large", f"The workbook has more than {MAX_CELLS} cells.")
                rows.append(row)
            of_sheet = list(sheet_elements(rows, page=number))
            if of_sheet:
                elements += [Element(kind="heading", text=sheet.title, level=2, page=number), *of_sheet]
    finally:
        values.close()
        formulas.close()
    if hidden and elements:
        flags: tuple[BlockFlag, ...] = ("hidden_text_removed",)
        elements[0] = replace(elements[0], flags=flags)
    return Parsed(
        title=values.properties.title or "",
        media_type=MEDIA_TYPE,
        elements=tuple(elements),
        pages=len(values.worksheets),
    )


def _open(data: bytes, *, values: bool) -> Any:
    return openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=values)


def _rows(sheet: Any, formulas: Any) -> Iterator[list[str]]:
    """A formula that was never calculated shows itself."""
    sheet.reset_dimensions()  # what a sheet says of its size may be wrong by millions
    formulas.reset_dimensions()
    for cells, unevaluated in zip(sheet.iter_rows(), formulas.iter_rows(), strict=False):
        row = [_shown(cell, formula) for cell, formula in zip(cells, unevaluated, strict=False)]
        while row and not row[-1]:
            row.pop()
        yield row


def _shown(cell: Any, formula: Any) -> str:
    value = cell.value if cell.value is not None else formula.value
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
        case datetime.datetime() if value.time() == datetime.time():
            return value.date().isoformat()
        case datetime.datetime():
            return value.isoformat(" ", "seconds")
        case float() | int() if "%" in (cell.number_format or ""):
            return f"{value * 100:.10g}%"
        case float():
            return f"{value:.15g}"
        case _:
            return str(value)
