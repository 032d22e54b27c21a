"""HTML, by unstructured on a tree prepared with lxml. Also serves the formats that carry HTML: EPUB, e-mail, misnamed .xls.

unstructured finds text, headings and lists well, but it shows hidden text, drops line breaks, figures, `details` and everything
outside `main`, and joins a cell's list; so the tree is mended first, and tables and `pre` are read here. Measured 2026-12 on 0.27.35.
"""

import re
from collections.abc import Iterator

from msgspec.structs import replace
from unstructured.documents.elements import Element as Found
from unstructured.documents.elements import ListItem, Title
from unstructured.partition.html import partition_html

from shared.errors import DocumentError
from shared.types.documents import BlockFlag
from worker.parsers import plain
from worker.parsers.clean import readable
from worker.parsers.markup import Node, elements, parse_html, to_html, walk
from worker.parsers.source import File
from worker.parsers.tables import table
from worker.parsers.types import Element, Parsed

# Non-characters: no cleaned text holds them.
_BREAK, _KEPT, _HIDDEN, _PAD = "\ufdd0", "\ufdd1", "\ufdd2\ufdd2", "\ufdd3"
_HIDDEN_FLAG: tuple[BlockFlag, ...] = ("hidden_text_removed",)
_KEPT_MARK = re.compile(f"{_KEPT}(\\d+){_KEPT}")

_UNSEEN = (
    "script",
    "style",
    "template",
    "noscript",
    "iframe",
    "object",
    "select",
    "button",
    "input",
    "textarea",
    "svg",
    "canvas",
)
_AS_DIV = (
    "main",
    "details",
    "summary",
    "figure",
    "figcaption",
    "form",
    "fieldset",
    "legend",
    "dialog",
    "hgroup",
    "search",
    "dt",
    "dd",
    "dl",
)
_AS_SPAN = ("label", "math", "output", "meter", "progress")
_DECLARED = re.compile(rb"<(?:meta|\?xml)[^>]{0,300}?(?:charset|encoding)\s*=\s*[\"']?\s*([\w-]+)", re.IGNORECASE)
_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d]*[1-9])|opacity\s*:\s*0(?:\.0+)?\s*(?:;|$)",
    re.IGNORECASE,
)
_RULE = re.compile(r"(?<![^{}])([^{}]++)\{([^{}]*+)\}")
_SIMPLE_SELECTOR = re.compile(r"[.#][\w-]+")
_MAX_DEPTH = 200  # the reader drops what lies below 256 without a word
_NUMBERED = re.compile(r"-?\d+\. ")
_LONG_PRE_LINES = 40  # a longer `pre` without `code` in it is a plain text somebody wrapped
_WIDER_THAN = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso-8859-1": "cp1252",
    "latin-1": "cp1252",
    "us-ascii": "cp1252",
    "shift_jis": "cp932",
}


def read(file: File) -> Parsed:
    declared = _DECLARED.search(file.data[:4096])
    name = declared[1].decode("ascii").lower() if declared else None
    text, encoding = file.text(declared=_WIDER_THAN.get(name, name) if name else None)
    title, elements = elements_of(text)
    return Parsed(title=title, media_type="text/html", elements=elements, encoding=encoding)


def elements_of(text: str) -> tuple[str, tuple[Element, ...]]:
    """The `title` element's text and the body's elements. Raises: corrupt."""
    root = _tree(text)
    if _depth(root) > _MAX_DEPTH:
        raise DocumentError("corrupt", "The page's elements are nested too deeply.")
    title = " ".join((root.findtext(".//title") or "").split())
    kept = _prepare(root)
    found = partition_html(text=to_html(root))
    of_page = _elements(found, kept)
    if title and of_page and not any(element.kind == "heading" for element in of_page):
        of_page.insert(0, Element(kind="heading", text=title, level=1))  # what the window shows heads the page
    return title, tuple(of_page)


def _tree(text: str) -> Node:
    return parse_html(re.sub(r"^\s*<\?xml[^>]*\?>", "", text))  # lxml refuses text that declares an encoding


def _depth(root: Node) -> int:
    depth = deepest = 0
    for event, _ in walk(root):
        depth += 1 if event == "start" else -1
        deepest = max(deepest, depth)
    return deepest


def _prepare(root: Node) -> list[Element]:
    """Mend the tree in place; returns the tables and preformatted texts taken out of it, which marks in the tree stand for."""
    for node in elements(root):  # character references may name what may not be written back
        node.text, node.tail = readable(node.text or ""), readable(node.tail or "")
    hiding = {selector for style in root.iter("style") for selector in _hiding_selectors(style.text or "")}
    for node in elements(root):
        if not isinstance(node.tag, str) or node.getparent() is None:
            continue
        if node.tag in _UNSEEN or node.tag == "head":
            node.drop_tree()
        elif _is_hidden(node, hiding):
            shown = bool(node.text_content().strip())
            node.tail = (_HIDDEN if shown else "") + (node.tail or "")
            node.drop_tree()
        elif node.tag in _AS_DIV:
            node.tag = "div"
        elif node.tag in _AS_SPAN:
            node.tag = "span"
        elif node.tag == "br":
            node.tail = _BREAK + (node.tail or "")
            node.drop_tag()
    _number_lists(root)
    for node in elements(root):
        node.text, node.tail = _padded(node.text), _padded(node.tail)
    kept: list[Element] = []
    for node in list(root.iter("table", "pre")):
        if any(above.tag in ("table", "pre") for above in node.iterancestors()):
            continue  # it stays in its cell
        element = _table(node) if node.tag == "table" else _preformatted(node)
        if element is None:
            node.drop_tree()
            continue
        tail, flagged = node.tail, _HIDDEN in node.text_content()
        node.clear()
        node.tag, node.text, node.tail = "p", f"{_KEPT}{len(kept)}{_KEPT}{_HIDDEN if flagged else ''}", tail
        kept.append(element)
    return kept


def _padded(text: str | None) -> str | None:
    """unstructured drops paragraphs of one character."""
    return text + _PAD if text and len(text.strip()) == 1 else text


def _hiding_selectors(css: str) -> Iterator[str]:
    for selectors, declarations in _RULE.findall(css):
        if _HIDING.search(declarations):
            yield from (one.strip() for one in selectors.split(",") if _SIMPLE_SELECTOR.fullmatch(one.strip()))


def _is_hidden(node: Node, hiding: set[str]) -> bool:
    if node.get("hidden") is not None or _HIDING.search(node.get("style") or ""):
        return node.tag not in ("html", "body")
    names = {f".{name}" for name in (node.get("class") or "").split()} | {f"#{node.get('id')}"}
    return not hiding.isdisjoint(names)


def _number_lists(root: Node) -> None:
    for listing in root.iter("ol"):
        start = listing.get("start") or "1"
        number = int(start) if re.fullmatch(r"-?\d{1,6}", start) else 1
        for item in listing.iterchildren("li"):
            child = next(iter(item), None)
            wrapped = child is not None and child.tag in ("p", "div") and not (item.text or "").strip()
            first: Node = child if wrapped else item
            first.text = f"{number}. " + (first.text or "").lstrip()
            number += 1


def _table(node: Node) -> Element | None:
    rows: list[list[str]] = []
    spans: dict[int, tuple[int, str]] = {}  # column -> rows still covered by a cell above, and its text
    headers = 0
    for row in node.iter("tr"):
        if next(row.iterancestors("table"), None) is not node:
            continue
        cells: list[str] = []
        own = list(row.iterchildren("td", "th"))
        for cell in own:
            _fill_spans(cells, spans)
            text = _cell_text(cell)
            across, down = _span(cell, "colspan"), _span(cell, "rowspan")
            for _ in range(across):
                if down > 1:
                    spans[len(cells)] = (down - 1, text)
                cells.append(text)
                text = ""  # a wide cell's text once
        _fill_spans(cells, spans)
        in_head = any(above.tag == "thead" for above in row.iterancestors())
        if headers == len(rows) and own and (in_head or all(cell.tag == "th" for cell in own)):
            headers += 1
        rows.append(cells)
    if headers == 0 and len(rows) > 2 and len({len(row) for row in rows}) == 1 and all(rows[0]) and len(rows[0]) > 1:
        headers = 1  # every column named in the first row
    caption = " ".join(" ".join(part.text_content() for part in node.iterchildren("caption")).split())
    element = table(rows, header_rows=headers if headers < len(rows) else 0)
    if element is None or not caption:
        return element
    return replace(
        element, text=f"{caption}\n{element.text}", header_rows=element.header_rows and element.header_rows + 1
    )


def _fill_spans(cells: list[str], spans: dict[int, tuple[int, str]]) -> None:
    while (left := spans.get(len(cells))) is not None:
        rows, text = left
        if rows > 1:
            spans[len(cells)] = (rows - 1, text)
        else:
            del spans[len(cells)]
        cells.append(text)


def _span(cell: Node, name: str) -> int:
    value = cell.get(name) or "1"
    return min(int(value), 100) if re.fullmatch(r"\d{1,6}", value) and int(value) > 0 else 1


_BLOCKS = ("p", "div", "li", "tr", "td", "th", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6")


def _cell_text(cell: Node) -> str:
    parts: list[str] = []
    for event, node in walk(cell):
        if event == "start":
            parts += [" " if node.tag in _BLOCKS else "", node.text or ""]
        elif node is not cell:
            parts += [" " if node.tag in _BLOCKS else "", node.tail or ""]
    return "".join(parts).replace(_BREAK, " ").replace(_HIDDEN, "").replace(_PAD, "")


def _preformatted(node: Node) -> Element | None:
    text = node.text_content().replace(_BREAK, "\n").replace(_HIDDEN, "").replace(_PAD, "")
    if not text.strip():
        return None
    is_code = node.find(".//code") is not None or text.count("\n") < _LONG_PRE_LINES
    return Element(kind="code" if is_code else "paragraph", text=text)


def _elements(found: list[Found], kept: list[Element]) -> list[Element]:
    shown: list[Element] = []
    hidden = False  # something was taken out since the last element
    for one in found:
        hidden = hidden or _HIDDEN in one.text
        for piece in _pieces(one, one.text.replace(_HIDDEN, "").replace(_PAD, ""), kept):
            if not piece.text.strip():
                continue
            in_list = piece.kind == "list_item" and bool(shown) and shown[-1].kind == "list_item"
            shown.append(replace(piece, tight=piece.tight or in_list, flags=_HIDDEN_FLAG if hidden else ()))
            hidden = False
    if hidden and shown:
        shown[-1] = replace(shown[-1], flags=_HIDDEN_FLAG)
    return shown


def _pieces(one: Found, text: str, kept: list[Element]) -> Iterator[Element]:
    """Text around the marks of tables and preformatted texts, and these themselves."""
    parts = _KEPT_MARK.split(text)
    for position, part in enumerate(parts):
        if position % 2:
            element = kept[int(part)]
            yield from plain.elements_of(element.text) if element.kind == "paragraph" else (element,)
            continue
        shown = "\n".join(line.strip() for line in part.split(_BREAK)).strip()
        depth = one.metadata.category_depth or 0
        if isinstance(one, Title):
            yield Element(kind="heading", text=" ".join(shown.split()), level=depth + 1)
        elif isinstance(one, ListItem):
            mark = "" if _NUMBERED.match(shown) or not shown else "- "
            yield Element(kind="list_item", text="  " * max(depth - 1, 0) + mark + shown)
        else:
            yield Element(kind="paragraph", text=shown)
