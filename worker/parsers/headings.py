"""Headings that nothing marks but their numbering: for plain text, and for PDF pages without an outline.

Conservative: a line that could be a list item or a sentence is no heading.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

MAX_CHARS = 60  # of a heading line
_NUMERAL = r"[〇零一二三四五六七八九十百千两\d０-９]{1,7}"
_ROMAN = r"(?:[IVXLC]{1,7}|\d{1,3}|[A-Z])"
# Rank orders the kinds of numbering from the outermost in; sections nest by it.
_NUMBERINGS: tuple[tuple[int, re.Pattern[str]], ...] = (
    (2, re.compile(rf"第{_NUMERAL}[编篇部卷](?:\s|$|(?=\S))")),
    (2, re.compile(rf"(?:PART|Part|BOOK|Book)\s+{_ROMAN}\b")),
    (3, re.compile(rf"第{_NUMERAL}[章回]")),
    (3, re.compile(rf"(?:CHAPTER|Chapter|APPENDIX|Appendix|附录|附件|附表)\s*{_ROMAN}?\b")),
    (4, re.compile(rf"第{_NUMERAL}节")),
    (4, re.compile(rf"(?:SECTION|Section|ARTICLE|Article)\s+{_ROMAN}\b")),
    (5, re.compile(rf"第{_NUMERAL}条")),
    (6, re.compile(r"[一二三四五六七八九十]{1,3}[、.．]")),
    (7, re.compile(r"[（(][一二三四五六七八九十]{1,3}[）)]")),
    (11, re.compile(r"\d{1,2}\.\d{1,2}\.\d{1,2}\.\d{1,2}\.?\s*(?=\S)(?!\d)")),
    (10, re.compile(r"\d{1,2}\.\d{1,2}\.\d{1,2}\.?\s*(?=\S)(?![\d.])")),
    (9, re.compile(r"\d{1,2}\.\d{1,2}\.?\s*(?=\S)(?![\d.%％])")),
    (8, re.compile(r"\d{1,2}[.．、]?\s+(?=[^\W\d])|\d{1,2}[.．、](?=[^\W\d])")),
)
_RANK_TITLE = 1
_LISTS = frozenset(
    {6, 7, 8}
)  # these number lists as often as headings: they must stand between blank lines or carry text
_ENDS_LIKE_PROSE = re.compile(r"[。；;，,、！!？?：:.…]$")
_UNDERLINE = re.compile(r"\s*(=+|-+)\s*")


class Heading(Struct, frozen=True, kw_only=True):
    level: int
    title: str
    lines: int = 1  # 2 with its underline


def rank_of(line: str) -> int | None:
    """The rank of a line's numbering when the line could be a heading, else None."""
    line = line.strip()
    if not line or len(line) > MAX_CHARS or _ENDS_LIKE_PROSE.search(line):
        return None
    return next((rank for rank, numbering in _NUMBERINGS if numbering.match(line)), None)


def find_headings(lines: Sequence[str]) -> dict[int, Heading]:
    """Line number -> heading."""
    ranks = {number: rank for number, line in enumerate(lines) if (rank := rank_of(line)) is not None}
    for number in _contents(lines, ranks) | _list_items(lines, ranks):
        del ranks[number]
    found = {number: Heading(level=rank, title=lines[number].strip()) for number, rank in ranks.items()}
    found |= _underlined(lines)
    first = next((number for number, line in enumerate(lines) if line.strip()), None)
    if first is not None and first not in found and _is_title(lines, first, found):
        found[first] = Heading(level=_RANK_TITLE, title=lines[first].strip())
    return found


def _is_title(lines: Sequence[str], first: int, found: dict[int, Heading]) -> bool:
    """The first line, when it looks like a title and is set off from what follows."""
    line = lines[first].strip()
    after = first + 1
    set_off = after in found or (after < len(lines) and not lines[after].strip())
    has_body = any(text.strip() for text in lines[after : after + 50])
    return set_off and has_body and len(line) <= MAX_CHARS and not _ENDS_LIKE_PROSE.search(line)


def _underlined(lines: Sequence[str]) -> dict[int, Heading]:
    found: dict[int, Heading] = {}
    for number in range(1, len(lines)):
        rule = _UNDERLINE.fullmatch(lines[number])
        title = lines[number - 1].strip()
        alone = number == 1 or not lines[number - 2].strip()
        if rule and len(rule[1]) >= 3 and alone and 0 < len(title) <= MAX_CHARS and not _ENDS_LIKE_PROSE.search(title):
            found[number - 1] = Heading(level=1 if rule[1][0] == "=" else 2, title=title, lines=2)
    return found


def _contents(lines: Sequence[str], ranks: dict[int, int]) -> set[int]:
    """Entries of a table of contents: lines that come again further down, with nothing but such lines between them."""
    last = {lines[number].strip(): number for number in ranks}
    return {number for number in ranks if last[lines[number].strip()] > number}


def _list_items(lines: Sequence[str], ranks: dict[int, int]) -> set[int]:
    """Neighbours with the same numbering and nothing under them are a list, not headings."""
    filled = [number for number, line in enumerate(lines) if line.strip()]
    items: set[int] = set()
    for one, other in pairwise(filled):
        if one in ranks and ranks.get(other) == ranks[one]:
            items |= {one, other}
    for number, rank in ranks.items():
        if rank in _LISTS and not _set_off(lines, number):
            items.add(number)
    return items


def _set_off(lines: Sequence[str], number: int) -> bool:
    """A blank line before it, or a line that ends like prose: not a list in the middle of a paragraph."""
    before = lines[number - 1].strip() if number else ""
    return not before or _ENDS_LIKE_PROSE.search(before) is not None or rank_of(before) is not None
