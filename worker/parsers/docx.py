"""Word documents, read from their own XML.

Not by unstructured (0.27): it gives Title and Heading 1 one level, calls short bold lines headings, shows hidden text, and loses
footnotes, text boxes, equations, tracked insertions, smart tags and every Chinese list number. python-docx opens the package.
"""

import io
from collections.abc import Iterator
from typing import Any, cast

import docx
from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from msgspec import Struct
from msgspec.structs import replace

from shared.types.documents import BlockFlag
from worker.parsers.archive import Archive
from worker.parsers.headings import numbered_headings
from worker.parsers.markup import Node, parse_xml
from worker.parsers.numbering import Numbering, W, value_of
from worker.parsers.source import File
from worker.parsers.tables import table
from worker.parsers.types import Element, Parsed

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_MATH_TEXT = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_HIDDEN_FLAG: tuple[BlockFlag, ...] = ("hidden_text_removed",)
_LINE_MARKS = {f"{W}tab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"}
_NOT_SHOWN = frozenset(
    {f"{W}del", f"{W}moveFrom", f"{W}rPr", f"{W}pPr", f"{W}instrText", f"{W}delText", f"{W}rt", _FALLBACK}
)
_NOTES = {f"{W}footnoteReference": "footnotes", f"{W}endnoteReference": "endnotes"}


class _Style(Struct, frozen=True, kw_only=True):
    level: int  # of a heading, 0 = none
    number_id: str | None
    number_level: int
    hidden: bool


def read(file: File) -> Parsed:
    Archive(file.data)  # for its limits; python-docx has none
    document = docx.Document(io.BytesIO(file.data))
    elements = numbered_headings(tuple(_Reader(document).elements()))
    return Parsed(title=document.core_properties.title or "", media_type=MEDIA_TYPE, elements=elements)


class _Reader:
    def __init__(self, document: Document) -> None:
        self._body: Node = cast("Any", document).element.body
        self._styles = _styles(_part(document, RELATIONSHIP_TYPE.STYLES))
        self._numbering = Numbering(_part(document, RELATIONSHIP_TYPE.NUMBERING))
        self._notes = {
            "footnotes": _notes(_part(document, RELATIONSHIP_TYPE.FOOTNOTES)),
            "endnotes": _notes(_part(document, RELATIONSHIP_TYPE.ENDNOTES)),
        }
        self._cited: list[tuple[str, str]] = []  # notes of the paragraph at hand: mark and text
        self._note_number = 0
        self._boxes: list[Node] = []  # text boxes anchored in the paragraph at hand
        self._hidden = False  # something was left out since the last element

    def elements(self) -> Iterator[Element]:
        previous: Element | None = None
        for element in self._blocks(self._body):
            in_list = element.kind == "list_item" and previous is not None and previous.kind == "list_item"
            yield replace(element, tight=in_list)
            previous = element

    def _blocks(self, parent: Node) -> Iterator[Element]:
        for node in parent:
            if node.tag == f"{W}p":
                yield from self._paragraph(node)
            elif node.tag == f"{W}tbl":
                yield from self._table(node)
            elif node.tag in (f"{W}sdt", f"{W}sdtContent", f"{W}ins", f"{W}moveTo", f"{W}customXml", f"{W}smartTag"):
                yield from self._blocks(node)

    def _paragraph(self, node: Node) -> Iterator[Element]:
        style = self._style(node)
        text = "".join(self._text(node, hidden=style.hidden)).strip("\n")
        flags = self._take_hidden() if text.strip() else ()
        label = self._label(node, style) if text.strip() else None
        shown = f"{label} {text.lstrip()}" if label else text
        if not text.strip():
            pass
        elif style.level:
            yield Element(kind="heading", text=shown, level=style.level, flags=flags)
        elif label is not None:
            indent = "  " * min(self._number(node, style)[1], 8)
            yield Element(kind="list_item", text=indent + (shown if label else f"- {text.lstrip()}"), flags=flags)
        else:
            yield Element(kind="paragraph", text=shown, flags=flags)
        yield from self._anchored()

    def _anchored(self) -> Iterator[Element]:
        """Text boxes and notes of the paragraph just read."""
        boxes, self._boxes = self._boxes, []
        for box in boxes:
            yield from self._blocks(box)
        cited, self._cited = self._cited, []
        for mark, text in cited:
            yield Element(kind="paragraph", text=f"{mark} {text}")

    def _take_hidden(self) -> tuple[BlockFlag, ...]:
        hidden, self._hidden = self._hidden, False
        return _HIDDEN_FLAG if hidden else ()

    def _text(self, node: Node, *, hidden: bool = False) -> Iterator[str]:
        for child in node:
            if child.tag in _NOT_SHOWN:
                continue
            if child.tag == f"{W}txbxContent":
                self._boxes.append(child)
            elif child.tag == f"{W}r" and (hidden or _vanishes(child.find(f"{W}rPr"))):
                self._hidden = self._hidden or any((part.text or "").strip() for part in child.iter(f"{W}t"))
            elif child.tag in (f"{W}t", _MATH_TEXT):
                yield child.text or ""
            elif child.tag in _LINE_MARKS:
                yield "\n" if child.get(f"{W}type") == "page" else _LINE_MARKS[child.tag]
            elif child.tag in _NOTES:
                yield self._cite(_NOTES[child.tag], child.get(f"{W}id"))
            else:
                yield from self._text(child, hidden=hidden)

    def _cite(self, kind: str, note_id: str | None) -> str:
        note = self._notes[kind].get(note_id or "")
        if note is None:
            return ""
        self._note_number += 1
        mark = f"[{self._note_number}]"
        text = " ".join(" ".join("".join(self._text(part)) for part in note.iter(f"{W}p")).split())
        self._cited.append((mark, text))
        return mark

    def _label(self, node: Node, style: _Style) -> str | None:
        number_id, at = self._number(node, style)
        return self._numbering.label(number_id, at) if number_id is not None and number_id != "0" else None

    def _number(self, node: Node, style: _Style) -> tuple[str | None, int]:
        properties = node.find(f"{W}pPr/{W}numPr")
        number_id = value_of(properties, "numId")
        at = value_of(properties, "ilvl")
        return (
            style.number_id if number_id is None else number_id,
            style.number_level if at is None or not at.isdecimal() else int(at),
        )

    def _style(self, node: Node) -> _Style:
        properties = node.find(f"{W}pPr")
        style = self._styles.get(value_of(properties, "pStyle") or "", self._styles[""])
        own = value_of(properties, "outlineLvl")
        return style if own is None else replace(style, level=_level(own))

    def _table(self, node: Node) -> Iterator[Element]:
        rows: list[list[str]] = []
        above: dict[int, str] = {}  # column -> text of the cell that reaches down
        headers = 0
        for row in _rows(node):
            cells: list[str] = []
            for cell in row.iter(f"{W}tc"):
                if next(cell.iterancestors(f"{W}tr")) is not row:
                    continue
                properties = cell.find(f"{W}tcPr")
                merge = properties.find(f"{W}vMerge") if properties is not None else None
                column = len(cells)
                if merge is not None and merge.get(f"{W}val") != "restart":
                    text = above.get(column, "")
                else:
                    text = self._cell(cell)
                    above[column] = text
                across = value_of(properties, "gridSpan") or "1"
                cells += [text, *[""] * (min(int(across), 100) - 1 if across.isdecimal() else 0)]
            if headers == len(rows) and row.find(f"{W}trPr/{W}tblHeader") is not None:
                headers += 1
            rows.append(cells)
        if headers == 0 and len(rows) > 2 and len(rows[0]) > 1 and all(rows[0]):
            headers = 1  # every column named in the first row
        element = table(rows, header_rows=headers if headers < len(rows) else 0)
        if element is not None:
            yield replace(element, flags=self._take_hidden())
        yield from self._anchored()

    def _cell(self, cell: Node) -> str:
        return " ".join(part for part in ("".join(self._text(node)).strip() for node in cell.iter(f"{W}p")) if part)


def _rows(node: Node) -> Iterator[Node]:
    for child in node:
        if child.tag == f"{W}tr":
            yield child
        elif child.tag in (f"{W}sdt", f"{W}sdtContent", f"{W}ins"):
            yield from _rows(child)


def _part(document: Document, relation: str) -> Node | None:
    """The root of a part beside the body, such as the styles."""
    for related in document.part.rels.values():
        if related.reltype == relation and not related.is_external:
            return parse_xml(related.target_part.blob)
    return None


def _notes(part: Node | None) -> dict[str, Node]:
    if part is None:
        return {}
    real = (note for note in part if note.get(f"{W}type") in (None, "normal"))
    return {note.get(f"{W}id") or "": note for note in real}


def _styles(part: Node | None) -> dict[str, _Style]:
    """By style id; "" is the default paragraph style."""
    nodes = {node.get(f"{W}styleId"): node for node in part.iter(f"{W}style")} if part is not None else {}
    default = next(
        (node for node in nodes.values() if node.get(f"{W}default") and node.get(f"{W}type") == "paragraph"), None
    )
    styles = {"": _resolved(default, nodes)}
    for style_id, node in nodes.items():
        if style_id and node.get(f"{W}type") == "paragraph":
            styles[style_id] = _resolved(node, nodes)
    return styles


def _resolved(node: Node | None, nodes: dict[str, Node]) -> _Style:
    """Follow basedOn until every property is known."""
    level: int | None = None
    number_id: str | None = None
    number_level: int | None = None
    hidden: bool | None = None
    seen: set[str] = set()
    while node is not None and node.get(f"{W}styleId") not in seen:
        seen.add(node.get(f"{W}styleId"))
        properties = node.find(f"{W}pPr")
        if level is None:
            outline = value_of(properties, "outlineLvl")
            level = _level(outline) if outline is not None else _named_level(value_of(node, "name") or "")
        numbers = properties.find(f"{W}numPr") if properties is not None else None
        number_id = value_of(numbers, "numId") if number_id is None else number_id
        at = value_of(numbers, "ilvl")
        number_level = int(at) if number_level is None and at is not None and at.isdecimal() else number_level
        run = node.find(f"{W}rPr")
        hidden = _vanishes(run) if hidden is None and run is not None else hidden
        node = nodes.get(value_of(node, "basedOn") or "")
    return _Style(level=level or 0, number_id=number_id, number_level=number_level or 0, hidden=bool(hidden))


def _level(outline: str) -> int:
    """Outline levels count from 0; 9 is body text. The document's title is level 1, so headings begin at 2 beneath it."""
    return int(outline) + 2 if outline.isdecimal() and int(outline) < 9 else 0


def _named_level(name: str) -> int | None:
    """Built-in styles keep their English names in the file, whatever the user's language."""
    name = name.lower()
    if name == "title":
        return 1
    if name.startswith("heading ") and name[8:].isdecimal():
        return int(name[8:]) + 1
    return None


def _vanishes(properties: Node | None) -> bool:
    if properties is None:
        return False
    for tag in ("vanish", "webHidden"):
        node = properties.find(f"{W}{tag}")
        if node is not None and node.get(f"{W}val") not in ("0", "false", "off"):
            return True
    return False
