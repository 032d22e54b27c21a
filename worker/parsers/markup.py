"""lxml, in one place: it carries no types, and whoever uses it forgets a safeguard sooner or later."""

from collections.abc import Iterator
from typing import Any, TypeAlias, cast

from lxml import etree as _untyped_etree  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]
from lxml import html as _untyped_html

from shared.errors import DocumentError

Node: TypeAlias = Any
_etree = cast("Any", _untyped_etree)
_html = cast("Any", _untyped_html)

MarkupError: type[Exception] = _etree.LxmlError


def parse_xml(data: bytes) -> Node:
    """Entities are not expanded and nothing is fetched. Raises: corrupt."""
    parser = _etree.XMLParser(
        resolve_entities=False, no_network=True, huge_tree=False, remove_pis=True, remove_comments=True
    )
    try:
        return _etree.fromstring(data, parser)
    except _etree.XMLSyntaxError as error:
        raise DocumentError("corrupt", "The file is damaged: its XML is not well-formed.") from error


def parse_html(text: str) -> Node:
    """Forgives everything but a page without anything. Raises: empty."""
    try:
        return _html.document_fromstring(text, parser=_html.HTMLParser(remove_comments=True, remove_pis=True))
    except _etree.ParserError as error:
        raise DocumentError("empty", "The page has no text.") from error


def to_html(root: Node) -> str:
    return cast("str", _etree.tostring(root, encoding="unicode", method="html"))


def elements(root: Node) -> list[Node]:
    """Every element at and below `root`, in document order; safe to change the tree meanwhile."""
    return list(root.iter(_etree.Element))


def walk(root: Node) -> Iterator[tuple[str, Node]]:
    """("start", node) and ("end", node)."""
    return iter(_etree.iterwalk(root, events=("start", "end")))


def local_name(node: Node) -> str:
    """Lower case and without the namespace; "" for a comment or an entity."""
    return cast("str", _etree.QName(node).localname.lower()) if isinstance(node.tag, str) else ""
