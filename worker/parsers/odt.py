"""OpenDocument text, from its own XML: unstructured needs pandoc for it, which we may not ship (GPL)."""

from collections.abc import Iterator

from msgspec.structs import replace

from worker.parsers.archive import Archive
from worker.parsers.headings import numbered_headings
from worker.parsers.markup import Node
from worker.parsers.source import File
from worker.parsers.tables import table
from worker.parsers.types import Element, ElementKind, Parsed

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_SKIPPED = frozenset(
    {f"{_TEXT}tracked-changes", f"{_OFFICE}annotation", f"{_OFFICE}annotation-end", f"{_TEXT}note-citation"}
)
_TITLE_STYLES = ("Title", "标题")


def read(file: File) -> Parsed:
    archive = Archive(file.data)
    content = archive.xml("content.xml")
    meta = archive.xml("meta.xml") if "meta.xml" in archive.names else None
    body = content.find(f".//{_OFFICE}text")
    reader = _Reader(_parents(content))
    elements = tuple(reader.blocks(body, depth=0)) if body is not None else ()
    title = meta.findtext(".//{http://purl.org/dc/elements/1.1/}title") if meta is not None else None
    return Parsed(
        title=title or "", media_type="application/vnd.oasis.opendocument.text", elements=numbered_headings(elements)
    )


def _parents(content: Node) -> dict[str, str]:
    """Automatic styles and the named ones they vary."""
    style = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
    return {
        node.get(f"{style}name", ""): node.get(f"{style}parent-style-name", "")
        for node in content.iter(f"{style}style")
    }


class _Reader:
    def __init__(self, parents: dict[str, str]) -> None:
        self._parents = parents
        self._notes: list[tuple[str, Node]] = []
        self._note_number = 0
        self._frames: list[Node] = []

    def blocks(self, parent: Node, *, depth: int) -> Iterator[Element]:
        for node in parent:
            match node.tag:
                case tag if tag == f"{_TEXT}h":
                    level = node.get(f"{_TEXT}outline-level", "1")
                    yield from self._block(node, "heading", level=int(level) + 1 if level.isdecimal() else 2)
                case tag if tag == f"{_TEXT}p":
                    style = node.get(f"{_TEXT}style-name", "")
                    is_title = style in _TITLE_STYLES or self._parents.get(style) in _TITLE_STYLES
                    yield from self._block(node, "heading" if is_title else "paragraph", level=1 if is_title else 0)
                case tag if tag == f"{_TEXT}list":
                    yield from self._list(node, depth)
                case tag if tag == f"{_TABLE}table":
                    yield from self._table(node)
                case tag if tag in _SKIPPED or not isinstance(tag, str):
                    continue
                case _:
                    yield from self.blocks(node, depth=depth)

    def _block(
        self, node: Node, kind: ElementKind, *, level: int = 0, indent: str = "", tight: bool = False
    ) -> Iterator[Element]:
        text = "".join(self._inline(node)).strip()
        if text:
            yield Element(kind=kind, text=indent + text, level=level, tight=tight)
        notes, self._notes = self._notes, []
        for mark, body in notes:
            for element in self.blocks(body, depth=0):
                yield replace(element, text=f"{mark} {element.text}")
        frames, self._frames = self._frames, []
        for frame in frames:
            yield from self.blocks(frame, depth=0)

    def _list(self, node: Node, depth: int) -> Iterator[Element]:
        first = depth == 0
        for item in node:
            for child in item:
                if child.tag == f"{_TEXT}list":
                    yield from self._list(child, depth + 1)
                elif child.tag in (f"{_TEXT}p", f"{_TEXT}h"):
                    is_heading = child.tag == f"{_TEXT}h"
                    if is_heading:
                        yield from self.blocks([child], depth=depth)
                    else:
                        yield from self._block(child, "list_item", indent="  " * depth + "- ", tight=not first)
                    first = False

    def _table(self, node: Node) -> Iterator[Element]:
        rows: list[list[str]] = []
        headers = 0
        for row in node.iter(f"{_TABLE}table-row"):
            if next(row.iterancestors(f"{_TABLE}table")) is not node:
                continue
            cells: list[str] = []
            for cell in row.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
                repeat = cell.get(f"{_TABLE}number-columns-repeated", "1")
                cells += [self._cell(cell)] * min(int(repeat) if repeat.isdecimal() else 1, 100)
            if next(row.iterancestors(f"{_TABLE}table-header-rows"), None) is not None:
                headers += 1
            rows.append(cells)
        if headers == 0 and len(rows) > 2 and len(rows[0]) > 1 and all(rows[0]):
            headers = 1  # every column named in the first row
        element = table(rows, header_rows=headers if headers < len(rows) else 0)
        if element is not None:
            yield element

    def _cell(self, cell: Node) -> str:
        paragraphs = cell.iter(f"{_TEXT}p", f"{_TEXT}h")
        return " ".join(text for node in paragraphs if (text := "".join(self._inline(node)).strip()))

    def _inline(self, node: Node) -> Iterator[str]:
        yield _collapsed(node.text)
        for child in node:
            match child.tag:
                case tag if tag in _SKIPPED or not isinstance(tag, str):
                    pass
                case tag if tag == f"{_TEXT}s":
                    count = child.get(f"{_TEXT}c", "1")
                    yield " " * min(int(count) if count.isdecimal() else 1, 1000)
                case tag if tag == f"{_TEXT}tab":
                    yield "\t"
                case tag if tag == f"{_TEXT}line-break":
                    yield "\n"
                case tag if tag == f"{_TEXT}note":
                    yield self._note(child)
                case tag if tag.endswith("}text-box"):
                    self._frames.append(child)
                case _:
                    yield from self._inline(child)
            yield _collapsed(child.tail)

    def _note(self, node: Node) -> str:
        self._note_number += 1
        mark = f"[{self._note_number}]"
        body = node.find(f"{_TEXT}note-body")
        if body is not None:
            self._notes.append((mark, body))
        return mark


def _collapsed(text: str | None) -> str:
    """White space in the file is one blank; real blanks are elements of their own."""
    if not text:
        return ""
    inner = " ".join(text.split())
    return (" " if text[0].isspace() else "") + inner + (" " if inner and text[-1].isspace() else "")
