"""Markdown, by markdown-it-py and not unstructured: exact source text, fences, tables and nested lists stay as written."""

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

from worker.parsers.source import File
from worker.parsers.types import Element, ElementKind, Parsed

_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TITLE = re.compile(r"^title:[ \t]*(['\"]?)(.+?)\1[ \t]*$", re.MULTILINE)
_LEAVES = frozenset({"heading_open", "paragraph_open", "fence", "code_block", "html_block", "table_open", "hr"})
_KINDS: dict[str, ElementKind] = {"fence": "code", "code_block": "code", "table_open": "table"}
_LONGEST_SETEXT = 100  # characters; a longer "heading" is a paragraph above a rule that lacks its blank line


def read(file: File) -> Parsed:
    text, encoding = file.text()
    return Parsed(title=title_of(text) or "", media_type="text/markdown", elements=elements_of(text), encoding=encoding)


def title_of(text: str) -> str | None:
    """The front matter's title."""
    front = _FRONT_MATTER.match(text)
    named = _TITLE.search(front[1]) if front else None
    return named[2].strip() if named else None


def elements_of(text: str) -> tuple[Element, ...]:
    """`text`: cleaned. Every line that is not blank is in exactly one element."""
    lines = text.split("\n")
    front = _FRONT_MATTER.match(text)
    skipped = front[0].count("\n") if front else 0
    if front:
        skipped = max(skipped, 1)
    elements: list[Element] = []
    reached = 0

    def add(kind: ElementKind, start: int, end: int, **more: object) -> None:
        nonlocal reached
        shown = "\n".join(line.rstrip() for line in lines[start:end]).rstrip().lstrip("\n")
        if shown.strip():
            tight = start > 0 and bool(lines[start - 1].strip()) and bool(elements)
            elements.append(Element(kind=kind, text=shown, tight=tight, **more))  # pyright: ignore[reportArgumentType]
        reached = end

    if front:
        add("code", 0, skipped)
    body = "\n" * skipped + "\n".join(lines[skipped:])
    for leaf in _leaves(MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(body)):
        start, end = leaf.start, leaf.end
        if start > reached:
            add("paragraph", reached, start)  # link definitions and the like: in no token
        start = max(start, reached)
        if leaf.level:
            add("heading", start, end, level=leaf.level, title=leaf.title)
        else:
            add(leaf.kind, start, end, header_rows=2 if leaf.kind == "table" else 0)
    add("paragraph", reached, len(lines))
    return tuple(elements)


class _Leaf:
    """A block of the source without blocks inside it."""

    def __init__(self, token: Token, kind: ElementKind) -> None:
        assert token.map is not None
        self.start, self.end = token.map
        self.kind: ElementKind = kind
        self.level = 0
        self.title = ""


def _leaves(tokens: list[Token]) -> list[_Leaf]:
    leaves: list[_Leaf] = []
    item_opened = False
    for position, token in enumerate(tokens):
        if token.type == "list_item_open":
            item_opened = True
        if token.type not in _LEAVES or token.map is None:
            continue
        kind = _KINDS.get(token.type, "list_item" if item_opened else "paragraph")
        leaf = _Leaf(token, kind)
        if token.type == "heading_open" and token.level == 0:
            title = _plain(tokens[position + 1])
            if token.markup.startswith("#") or len(title) <= _LONGEST_SETEXT:
                leaf.level, leaf.title = int(token.tag[1:]), title
        item_opened = False
        leaves.append(leaf)
    return leaves


def _plain(inline: Token) -> str:
    """An inline token's text without marks."""
    parts: list[str] = []
    for child in inline.children or []:
        if child.type in ("text", "code_inline"):
            parts.append(child.content)
        elif child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif child.type == "image":
            parts.append(child.content)
    return "".join(parts).strip()
