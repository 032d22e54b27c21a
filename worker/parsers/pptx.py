"""Presentations, by python-pptx. Not by unstructured: it calls every short paragraph a title and leaves charts and grouped tables out."""

import io
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace
from pptx import Presentation
from pptx.enum.shapes import MSO_SHAPE_TYPE, PP_PLACEHOLDER

from shared.types.documents import BlockFlag
from worker.parsers.archive import Archive
from worker.parsers.source import File
from worker.parsers.tables import table
from worker.parsers.types import Element, Parsed

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
_ROW_POINTS = 12700 * 20  # shapes whose tops differ by less stand side by side
_FOOTERS = frozenset({PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.SLIDE_NUMBER, PP_PLACEHOLDER.DATE})
_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_LINE_BREAK = "\x0b"  # how python-pptx gives a line break inside a paragraph


def read(file: File) -> Parsed:
    Archive(file.data)  # for its limits; python-pptx has none
    presentation: Any = Presentation(io.BytesIO(file.data))
    slides = list(presentation.slides)
    elements: list[Element] = []
    hidden = False
    for number, slide in enumerate(slides, 1):
        if slide._element.get("show") == "0":  # pyright: ignore[reportPrivateUsage] - python-pptx has no name for it
            hidden = True
            continue
        of_slide = list(_slide(slide, number))
        if hidden and of_slide:
            flags: tuple[BlockFlag, ...] = ("hidden_text_removed",)
            of_slide[0], hidden = replace(of_slide[0], flags=flags), False
        elements += of_slide
    title = presentation.core_properties.title or ""
    shown = "" if title.lower() in ("powerpoint presentation", "powerpoint 演示文稿", "slide 1") else title
    return Parsed(title=shown, media_type=MEDIA_TYPE, elements=tuple(elements), pages=len(slides))


def _slide(slide: Any, number: int) -> Iterator[Element]:
    title = slide.shapes.title
    named = title.text_frame.text.replace(_LINE_BREAK, " ").strip() if title is not None else ""
    if named:
        yield Element(kind="heading", text=named, level=1, page=number)
    for shape in _in_reading_order(slide.shapes):
        if title is None or shape.shape_id != title.shape_id:
            yield from _shape(shape, number)
    if slide.has_notes_slide and (frame := slide.notes_slide.notes_text_frame) is not None:
        yield from _text(frame, number)


def _in_reading_order(shapes: Iterable[Any]) -> list[Any]:
    return sorted(shapes, key=lambda shape: ((shape.top or 0) // _ROW_POINTS, shape.left or 0))


def _shape(shape: Any, number: int) -> Iterator[Element]:
    if shape.is_placeholder and shape.placeholder_format.type in _FOOTERS:
        return
    if shape.shape_type == MSO_SHAPE_TYPE.GROUP:
        for inner in _in_reading_order(shape.shapes):
            yield from _shape(inner, number)
    elif shape.has_table:
        rows = [[cell.text.replace(_LINE_BREAK, " ") for cell in row.cells] for row in shape.table.rows]
        element = table(rows, header_rows=1 if shape.table.first_row and len(rows) > 1 else 0, page=number)
        if element is not None:
            yield element
    elif shape.has_chart:
        yield from _chart(shape.chart, number)
    elif shape.has_text_frame:
        yield from _text(shape.text_frame, number)


def _text(frame: Any, number: int) -> Iterator[Element]:
    for position, paragraph in enumerate(frame.paragraphs):
        text = paragraph.text.replace(_LINE_BREAK, "\n").strip()
        if text:
            yield Element(kind="paragraph", text="  " * paragraph.level + text, page=number, tight=position > 0)


def _chart(chart: Any, number: int) -> Iterator[Element]:
    if chart.has_title and chart.chart_title.has_text_frame:
        yield from _text(chart.chart_title.text_frame, number)
    series = list(chart._chartSpace.iter(f"{_CHART}ser"))  # pyright: ignore[reportPrivateUsage] - `plots` refuses 3-D charts
    categories = max((_points(one, "cat") for one in series), key=len, default=list[str]())
    values = [_points(one, "val") for one in series]
    head = ["", *(" ".join(_points(one, "tx")) for one in series)]
    rows = [[name, *(of[at] if at < len(of) else "" for of in values)] for at, name in enumerate(categories)]
    element = table([head, *rows], header_rows=1, page=number)
    if element is not None:
        yield element


def _points(series: Any, part: str) -> list[str]:
    found = series.find(f"{_CHART}{part}")
    return [node.text or "" for node in found.iter(f"{_CHART}v")] if found is not None else []
