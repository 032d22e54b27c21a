"""XML of any vocabulary: an element with text of its own is a paragraph, a `title` heads what stands beside it."""

import re
from collections.abc import Iterator

from worker.parsers.markup import Node, local_name, parse_xml
from worker.parsers.source import File
from worker.parsers.types import Element, Parsed

_TITLES = frozenset({"title", "article-title", "head", "heading"})
_DECLARED = re.compile(r"^\s*<\?xml[^>]*\?>")


def read(file: File) -> Parsed:
    text, encoding = file.text()
    root = parse_xml(_DECLARED.sub("", text).encode())
    elements = tuple(_blocks(root, depth=1))
    title = next((element.text for element in elements if element.kind == "heading"), "")
    return Parsed(title=title, media_type="application/xml", elements=elements, encoding=encoding)


def _blocks(node: Node, *, depth: int) -> Iterator[Element]:
    if not isinstance(node.tag, str):
        return
    children = [child for child in node if isinstance(child.tag, str)]
    own = (node.text or "").strip() or any((child.tail or "").strip() for child in children)
    name = local_name(node)
    if own or not children:
        text = " ".join("".join(node.itertext()).split())
        if not text:
            return
        yield (
            Element(kind="heading", text=text, level=depth) if name in _TITLES else Element(kind="paragraph", text=text)
        )
        return
    titled = any(local_name(child) in _TITLES for child in children)
    for child in children:
        yield from _blocks(child, depth=depth + 1 if titled and local_name(child) not in _TITLES else depth)
