"""Where what a model put in brackets begins and ends. Pure; brackets of both widths, in or without a fence."""

import re

from api.agent.arguments import Unreadable, read_object, starts_object
from api.agent.labels import PROTOCOL_FOLLOWS

CLOSERS = {"[": "]］", "［": "]］", "(": ")）", "（": ")）", "【": "】"}
OPENERS = {"]": "[［", "］": "[［", ")": "(（", "）": "(（", "】": "【"}
_EITHER = {closers: re.compile(f"[{re.escape(closers + OPENERS[closers[0]])}]") for closers in set(CLOSERS.values())}
ANY_CLOSER = tuple(OPENERS)
FENCE = re.compile(r"\s*+```[\w-]*[ \t]*\n?")


def closing_at(text: str, start: int, opener: str) -> int | None:
    """The bracket that ends an answer.

    The balanced one if nothing but the protocol follows it; else the first of any that the protocol follows; else the
    last one that closes nothing inside the answer.
    """
    closers = CLOSERS[opener]
    openers = OPENERS[closers[0]]
    depth = 1
    first_end: int | None = None
    unmatched: int | None = None
    for bracket in _EITHER[closers].finditer(text, start):
        if bracket[0] in openers:
            depth += 1
            continue
        at = bracket.start()
        depth -= 1
        ends = PROTOCOL_FOLLOWS.match(text, at + 1) is not None
        if ends and depth == 0:
            return at
        if ends and first_end is None:
            first_end = at
        if depth == 0:
            unmatched = at
        depth = max(depth, 1)
    return unmatched if first_end is None else first_end


def wrapped_in(text: str, start: int, closers: str) -> tuple[str, int] | None:
    """`Finish[{"answer": "..."}]` means its one string: that string, and where the closing bracket stands."""
    at = past_blank(text, past(FENCE, text, start))
    if not starts_object(text, at):
        return None
    try:
        read = read_object(text, at)
    except Unreadable:
        return None
    end = past_blank(text, past(FENCE, text, read.end))
    match list(read.value.items()):
        case [("answer" | "text" | "content" | "reason" | "question" | "答案", str(value))] if end < len(text):
            return (value.strip(), end) if text[end] in closers else None
        case _:
            return None


def past(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def past_blank(text: str, at: int) -> int:
    while at < len(text) and (text[at].isspace() or text[at] in "\u200b\u2060\ufeff"):
        at += 1
    return at
