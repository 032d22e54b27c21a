"""Headings that nothing marks but their numbering: for plain text, and for PDF pages without an outline.

Conservative: a line that could be a list item or a sentence is no heading.
"""

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from worker.parsers.types import Element

MAX_CHARS = 60  # of a heading line
_NUMERAL = r"[〇零一二三四五六七八九十百千两\d０-９]{1,7}"
_ROMAN = r"(?:[IVXLC]{1,7}|\d{1,3}|[A-Z])"
_RANK_TITLE = 1
_RANK_NUMBER = 8
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
    (_RANK_NUMBER, re.compile(r"\d{1,2}[.．、]?\s+(?=[^\W\d])|\d{1,2}[.．、](?=[^\W\d])")),
)
_LISTS = frozenset(
    {6, 7, 8}
)  # these number lists as often as headings: they must stand between blank lines or carry text
NO_TITLE = re.compile(r"(?:table of )?contents|目\s*[录錄次]|abstract|摘\s*要|introduction|前\s*言", re.IGNORECASE)
_ENDS_LIKE_PROSE = re.compile(r"[。；;，,、！!？?：:.…]$")
_UNDERLINE = re.compile(r"\s*(=+|-+)\s*")


class Heading(Struct, frozen=True, kw_only=True):
    level: int
    title: str
    lines: int = 1  # 2 with its underline


def numbered_headings(elements: tuple[Element, ...]) -> tuple[Element, ...]:
    """For documents whose writer marked no headings as such: make headings of paragraphs that number themselves like ones."""
    if any(element.kind == "heading" for element in elements):
        return elements
    lines: list[str] = []
    for element in elements:
        single = element.kind in ("paragraph", "list_item") and "\n" not in element.text
        lines += [element.text if single else "…", ""]
    found = find_headings(lines)
    return tuple(
        replace(element, kind="heading", level=heading.level, title="", tight=False)
        if (heading := found.get(2 * position)) is not None and heading.level != _RANK_TITLE
        else element
        for position, element in enumerate(elements)
    )


def folded(text: str) -> str:
    """For comparing titles: no blanks, no case, one form of each character."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def rank_of(line: str) -> int | None:
    """The rank of a line's numbering when the line could be a heading, else None."""
    line = line.strip()
    if not line or len(line) > MAX_CHARS or _ENDS_LIKE_PROSE.search(line):
        return None
    return _numbered(line)


def _numbered(line: str) -> int | None:
    return next((rank for rank, numbering in _NUMBERINGS if numbering.match(line)), None)


def find_headings(lines: Sequence[str]) -> dict[int, Heading]:
    """Line number -> heading."""
    ranks = {number: rank for number, line in enumerate(lines) if (rank := rank_of(line)) is not None}
    contents = _contents(lines, ranks)
    for number in contents:
        del ranks[number]
    for number in _list_items(lines, ranks, contents) | _out_of_order(lines, ranks):
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
    return (
        set_off
        and has_body
        and len(line) <= MAX_CHARS
        and not NO_TITLE.fullmatch(line)
        and not _ENDS_LIKE_PROSE.search(line)
    )


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


def _list_items(lines: Sequence[str], ranks: dict[int, int], contents: set[int]) -> set[int]:
    """Neighbours with the same numbering and nothing under them are a list, not headings; one of them may well be a sentence."""
    filled = [number for number, line in enumerate(lines) if line.strip()]
    items: set[int] = set()
    for one, other in pairwise(filled):
        same = _numbered(lines[one].strip()) == _numbered(lines[other].strip())
        if same and one not in contents and other not in contents:
            items.update(number for number in (one, other) if number in ranks)
    for number, rank in ranks.items():
        if rank in _LISTS and not _set_off(lines, number):
            items.add(number)
    return items


def _out_of_order(lines: Sequence[str], ranks: dict[int, int]) -> set[int]:
    """Plain numbers head sections only in a row: 1, 2, 3; a lone 7 is something else."""
    rows: list[list[int]] = []
    last = 0
    for number, rank in ranks.items():
        if rank != _RANK_NUMBER:
            continue
        count = int(re.split(r"\D", lines[number].strip(), maxsplit=1)[0])
        if rows and count - last in (1, 2):
            rows[-1].append(number)
        elif count <= 1:
            rows.append([number])
        else:
            continue
        last = count
    kept = {number for row in rows if len(row) > 1 for number in row}
    return {number for number, rank in ranks.items() if rank == _RANK_NUMBER and number not in kept}


def _set_off(lines: Sequence[str], number: int) -> bool:
    """A blank line before it, or a line that ends like prose: not a list in the middle of a paragraph."""
    before = lines[number - 1].strip() if number else ""
    return not before or _ENDS_LIKE_PROSE.search(before) is not None or rank_of(before) is not None
