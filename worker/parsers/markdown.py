"""Markdown, by markdown-it-py and not unstructured: exact source text, fences, tables and nested lists stay as written."""

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec.structs import replace

from shared.types.documents import BlockFlag
from worker.parsers.source import File
from worker.parsers.types import Element, ElementKind, Parsed

_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TITLE = re.compile(r"^title:[ \t]*(.+)$", re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
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
    if named is None:
        return None
    title = named[1].strip(" \t")
    is_quoted = len(title) > 2 and title[0] in "'\"" and title[0] == title[-1]
    return (title[1:-1] if is_quoted else title).strip()


def elements_of(text: str) -> tuple[Element, ...]:
    """`text`: cleaned. Every line that is not blank is in exactly one element, but comments, which no reader sees, in none."""
    lines = text.split("\n")
    front = _FRONT_MATTER.match(text)
    skipped = max(front[0].count("\n"), 1) if front else 0
    writer = _Writer(lines)
    if front:
        writer.add("code", 0, skipped)
    body = "\n" * skipped + "\n".join(lines[skipped:])
    for leaf in _leaves(MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(body)):
        writer.add("paragraph", writer.reached, leaf.start)  # link definitions and the like: in no token
        writer.add(leaf.kind, max(leaf.start, writer.reached), leaf.end, leaf)
    writer.add("paragraph", writer.reached, len(lines))
    return writer.elements()


class _Writer:
    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._elements: list[Element] = []
        self._hidden = False  # a comment was left out since the last element
        self.reached = 0

    def add(self, kind: ElementKind, start: int, end: int, leaf: "_Leaf | None" = None) -> None:
        if start >= end:
            return
        self.reached = end
        shown = "\n".join(line.rstrip() for line in self._lines[start:end]).rstrip().lstrip("\n")
        if kind != "code" and _COMMENT.search(shown):
            shown, self._hidden = _COMMENT.sub("", shown).strip("\n"), True
        if not shown.strip():
            return
        flags: tuple[BlockFlag, ...] = ("hidden_text_removed",) if self._hidden else ()
        self._hidden = False
        self._elements.append(
            Element(
                kind="heading" if leaf is not None and leaf.level else kind,
                text=shown,
                level=leaf.level if leaf is not None else 0,
                title=leaf.title if leaf is not None else "",
                tight=start > 0 and bool(self._lines[start - 1].strip()) and bool(self._elements),
                header_rows=2 if kind == "table" else 0,
                flags=flags,
            )
        )

    def elements(self) -> tuple[Element, ...]:
        if self._hidden and self._elements:
            self._elements[-1] = replace(self._elements[-1], flags=("hidden_text_removed",))
        return tuple(self._elements)


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
