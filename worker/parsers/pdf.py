"""PDF with a text layer, by pypdfium2: the fastest reader measured and right with Chinese fonts, embedded or not (FACTS).

unstructured's partition_pdf needs unstructured_inference and then gave no elements at all. Scans are turned away: no OCR here.
"""

import re
from collections.abc import Callable
from typing import Any, cast

import pypdfium2 as pdfium
import pypdfium2.raw as untyped_raw
from msgspec.structs import replace

from shared.errors import DocumentError
from worker.parsers.headings import numbered_headings
from worker.parsers.pdf_headings import OutlineEntry
from worker.parsers.pdf_layout import elements_of
from worker.parsers.pdf_lines import PageLines, lines_of
from worker.parsers.source import File
from worker.parsers.types import Element, Parsed

MAX_PAGES = 20_000
raw = cast("Any", untyped_raw)
_NOT_A_TITLE = re.compile(
    r"(?:untitled|无标题|未命名|microsoft\s+\w+\s+-.*|.*\.(?:docx?|dvi|tex|indd|qxd|rtf|pptx?|xlsx?|pdf|cdr|ai|wpd)|slide \d+|.{0,2})",
    re.IGNORECASE,
)
_MOJIBAKE = re.compile(r"[\ue000-\uf8ff\ufffd\x00-\x08\x0e-\x1f]")


def read(file: File) -> Parsed:
    document = _open(file.data)
    try:
        if len(document) > MAX_PAGES:
            raise DocumentError("too_large", f"The PDF has more than {MAX_PAGES} pages.")
        pages = [_page(document, index) for index in range(len(document))]
        outline = _outline(document)
        named = _readable(lambda: document.get_metadata_value("Title")).strip()
    finally:
        document.close()
    _require_text(pages)
    hidden = {page for page, found in enumerate(pages, 1) if any(line.is_tiny for line in found.lines)}
    elements = elements_of([_visible(page) for page in pages], outline)
    if not any(element.kind == "heading" for element in elements):
        elements = numbered_headings(elements)
    return Parsed(
        title="" if _NOT_A_TITLE.fullmatch(named) else named,
        media_type="application/pdf",
        elements=tuple(_flagged(element, hidden) for element in elements),
        pages=len(pages),
    )


def _open(data: bytes) -> Any:
    try:
        return pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if raw.FPDF_GetLastError() == raw.FPDF_ERR_PASSWORD:
            raise DocumentError("encrypted", "The PDF is protected with a password. Save it without one.") from error
        raise DocumentError("corrupt", "The PDF is damaged or incomplete.") from error


def _page(document: Any, index: int) -> PageLines:
    try:
        page = document[index]
    except pdfium.PdfiumError:  # one broken page of many: the others can still be read
        return PageLines(lines=(), height=0.0, has_pictures=False)
    try:
        return lines_of(page, index + 1)
    finally:
        page.close()


def _outline(document: Any) -> list[OutlineEntry]:
    entries: list[OutlineEntry] = []
    for mark in document.get_toc(max_depth=12):
        destination = mark.get_dest()
        index = destination.get_index() if destination is not None else None
        if destination is None or index is None:
            continue
        kind, place = destination.get_view()
        y = place[1] if kind == raw.PDFDEST_VIEW_XYZ and len(place) > 1 else None
        entries.append(OutlineEntry(level=mark.level, title=_readable(mark.get_title), page=index + 1, y=y))
    return entries


def _readable(ask: Callable[[], str]) -> str:
    """A title that breaks its own encoding is no reason to refuse the document."""
    try:
        return ask()
    except UnicodeDecodeError:
        return ""


def _require_text(pages: list[PageLines]) -> None:
    texts = [line.text for page in pages for line in page.lines]
    size = sum(len(text) for text in texts)
    pictures = sum(page.has_pictures for page in pages)
    if size == 0 or (pictures and size < 4 * len(pages)):
        raise DocumentError(
            "no_text_layer", "The PDF holds pictures of pages, no text. Run a text recognition (OCR) on it first."
        )
    if sum(len(_MOJIBAKE.findall(text)) for text in texts) > 0.3 * size:
        raise DocumentError(
            "unreadable", "The PDF's fonts do not tell which characters they show. Run a text recognition (OCR) on it."
        )


def _visible(page: PageLines) -> PageLines:
    return replace(page, lines=tuple(line for line in page.lines if not line.is_tiny))


def _flagged(element: Element, hidden: set[int]) -> Element:
    return replace(element, flags=("hidden_text_removed",)) if element.page in hidden else element
