"""How much round a sentence is quoted with it: the whole list item or table row, the reason that follows. Pure."""

import re

from shared.text.sentences import sentences

_REASON = re.compile(
    r"\s*(?:[这其此该]{0,2}(?:主要|根本|直接)?(?:的)?(?:原因|缘由|理由)|这?(?:主要)?是?(?:因为|由于)"
    r"|(?:this|that|it)?\s?(?:is|was|were|are)?\s?(?:because|due to|caused by|owing to)\b|the (?:main )?(?:reason|cause)s?\b)",
    re.IGNORECASE,
)
_ITEM = re.compile(r"[ \t]*(?:[-*+•·]|\(?\d{1,3}[.)、）](?!\d)|[（(]?[一二三四五六七八九十]{1,3}[)）、])[ \t]*\S")
_ITEM_END = re.compile(
    r"\n(?:[ \t]*\n|[ \t]*#|[ \t]*\||(?=[ \t]*(?:[-*+•·]|\(?\d{1,3}[.)、）](?!\d)|[（(]?[一二三四五六七八九十]{1,3}[)）、])[ \t]*\S))"
)
_ITEM_CHARS = 600  # a longer list item is quoted by its sentences


def widened(text: str, span: tuple[int, int], *, reason: bool) -> tuple[int, int]:
    """The whole list item or table row round a sentence; for who asks why, the reason behind it as well."""
    start, end = span
    line_start = text.rfind("\n", 0, start) + 1
    if text.startswith("|", line_start):
        line_end = text.find("\n", end - 1)
        start, end = line_start, max(end, line_end if line_end >= 0 else len(text))
    elif item := _item(text, start):
        start, end = min(start, item[0]), max(end, item[1])
    if reason and _REASON.match(text, end):
        following = next(
            (span for span in sentences(text) if span[0] <= end < span[1] and text[end : span[1]].strip()), None
        )
        end = following[1] if following else end
    start += len(text[start:end]) - len(text[start:end].lstrip())
    end = start + len(text[start:end].rstrip())
    return start, end


def _item(text: str, at: int) -> tuple[int, int] | None:
    """The list item that a place is in, None if it is in none or in a very long one."""
    line = text.rfind("\n", 0, at) + 1
    while not _ITEM.match(text, line):
        before = text.rfind("\n", 0, max(line - 1, 0)) + 1
        if line == 0 or at - before > _ITEM_CHARS or not text[before:line].strip():
            return None
        line = before
    stop = _ITEM_END.search(text, at)
    end = stop.start() if stop else len(text)
    return (line, end) if end - line <= _ITEM_CHARS else None
