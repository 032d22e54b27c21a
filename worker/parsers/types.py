"""What a parser makes of a file: a title and a flat list of elements in reading order."""

from typing import Literal

from msgspec import Struct

from shared.types.documents import BlockFlag

PARSER_VERSION = (
    "1"  # raise it when any format's text, headings or pages come out differently: it is part of the lineage
)

ElementKind = Literal["heading", "paragraph", "list_item", "table", "code"]


class Element(Struct, frozen=True, kw_only=True):
    """One piece of a document.

    `text` is what a reader sees, without blank lines around it; a table has one row per line, cells separated by " | ",
    except that tables which are written out in the file (Markdown) stay as they are.
    """

    kind: ElementKind
    text: str
    level: int = 0  # headings only: 1 = top
    title: str = ""  # headings only: the text without marks; "" = same as `text`
    tight: bool = False  # no blank line between this element and the one before it
    header_rows: int = 0  # tables only: leading lines of `text` that head every part of the table
    page: int | None = None  # 1-based; slides and sheets count as pages
    page_last: int | None = None  # where the element ends, when that is another page
    flags: tuple[BlockFlag, ...] = ()


class Parsed(Struct, frozen=True, kw_only=True):
    title: str
    media_type: str
    elements: tuple[Element, ...]  # at least one has text
    pages: int | None = None
    encoding: str | None = None  # text formats: what the bytes were decoded with
