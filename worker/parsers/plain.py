"""Plain text. Our own, because unstructured calls 138 of 200 Chinese paragraphs a title (FACTS).

A line break ends a paragraph only where it can't be the wrap of a long line, so that no sentence is cut.
"""

import re
import unicodedata

from worker.parsers.headings import Heading, find_headings
from worker.parsers.source import File
from worker.parsers.types import Element, Parsed

ENDS_SENTENCE = re.compile(r"[。！？!?.…：:；;”」』\"')）\]】]$")
LIST_ITEM = re.compile(
    r"\s*(?:[-*•·●○■□◆▪–—]\s"
    r"|(?:\(?\d{1,3}(?:[)、）]|\.(?!\d))|[（(][一二三四五六七八九十\d]{1,3}[)）]|[①-⑳]|[a-zA-Z][.)](?=\s))\s*\S)"
)
_UNWRAPPED_COLUMNS = 100  # no one wraps wider; a longer line is a paragraph of its own


def read(file: File) -> Parsed:
    text, encoding = file.text()
    return Parsed(title="", media_type="text/plain", elements=elements_of(text), encoding=encoding)


def elements_of(text: str) -> tuple[Element, ...]:
    """`text`: cleaned."""
    lines = text.split("\n")
    headings = find_headings(lines)
    elements: list[Element] = []
    paragraph: list[str] = []
    blank_before = True

    def flush() -> None:
        nonlocal blank_before
        if paragraph:
            kind = "list_item" if LIST_ITEM.match(paragraph[0]) else "paragraph"
            elements.append(Element(kind=kind, text="\n".join(paragraph), tight=not blank_before))
            paragraph.clear()
            blank_before = False

    number = 0
    while number < len(lines):
        line = lines[number].rstrip()
        heading = headings.get(number)
        if heading is not None:
            flush()
            elements.append(_heading(heading, lines, number, tight=not blank_before))
            blank_before = False
            number += heading.lines
            continue
        if not line:
            flush()
            blank_before = True
        else:
            if paragraph and _breaks(paragraph[-1], line):
                flush()
            paragraph.append(line)
        number += 1
    flush()
    return tuple(elements)


def _heading(heading: Heading, lines: list[str], number: int, *, tight: bool) -> Element:
    shown = "\n".join(line.rstrip() for line in lines[number : number + heading.lines])
    return Element(kind="heading", text=shown, level=heading.level, title=heading.title, tight=tight)


def _breaks(line: str, following: str) -> bool:
    return (
        ENDS_SENTENCE.search(line) is not None
        or LIST_ITEM.match(following) is not None
        or following.startswith(("\u3000", "    ", "\t"))
        or columns(line) > _UNWRAPPED_COLUMNS
    )


def columns(text: str) -> int:
    """Width on a screen: Chinese and full-width characters take two."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)
