"""Empty brackets that a model left where a source should stand: 【】, [], [^]. Pure.

A reader takes one for a source that got lost. `[]` is code as well (`list[]`, `a = []`): it goes only where a mark of a source would
stand, behind words at a clause's end. None goes whose kind stands in what the answer may quote, or in code.
"""

import re
import string
from collections.abc import Sequence

_WIDE = re.compile(r"[【〔［][ \t\u3000]{0,4}\^?[ \t\u3000]{0,4}[】〕］]")
_NARROW = re.compile(r"\[[ \t]{0,4}\^?[ \t]{0,4}\](?:[ \t]?\[[ \t]{0,4}\^?[ \t]{0,4}\])*")
_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]+`|^(?: {4}|\t)[^\n]*", re.DOTALL | re.MULTILINE)
# What follows a mark at a clause's end: a stop, the end of a quotation, another mark, nothing
_ENDS = re.compile(r"[ \t\u3000]*(?:[.,;:!?。，；：！？、”’」』\[【〔［\n]|\Z)")
_BEHIND = re.compile(
    r"[^\W_]|[.,;!?。，；！？、”’」』\]】〕］)）%％`]"
)  # what a mark stands behind; no operator, no list's own mark
_BLANKS = " \t\u3000"
_IN_NAMES = f"{string.ascii_letters}{string.digits}_"


def without_leftovers(text: str, quotable: Sequence[str]) -> str:
    """`text` without empty marks, nor the blanks before one. `quotable`: what was read and asked."""
    found: list[tuple[int, int]] = []
    for pattern, is_mark in ((_WIDE, _anywhere), (_NARROW, _at_the_end)):
        if pattern.search(text) and not any(pattern.search(one) for one in quotable):
            found += [span for one in pattern.finditer(text) if (span := is_mark(text, one.start(), one.end()))]
    if not found:
        return text
    code = [one.span() for one in _CODE.finditer(text)]
    pieces: list[str] = []
    at = place = 0
    for start, end in sorted(found):
        while place < len(code) and code[place][1] <= start:
            place += 1
        if start < at or (place < len(code) and code[place][0] < end):
            continue
        pieces.append(text[at:start])
        at = end
    return "".join([*pieces, text[at:]])


def _anywhere(text: str, start: int, end: int) -> tuple[int, int]:
    return _without(text, start, _BLANKS), end


def _at_the_end(text: str, start: int, end: int) -> tuple[int, int] | None:
    if not _ENDS.match(text, end):
        return None
    begin = _without(text, start, _BLANKS)
    words = _without(text, begin, "*")  # **bold**[]
    before = text[words - 1 : words]
    if before in ("", "\n"):  # a line of nothing else, and no list's mark
        return (begin, end) if words == begin else None
    if not _BEHIND.match(before) or (begin == start == words and _is_name(text[max(words - 40, 0) : words])):
        return None
    return begin, end


def _without(text: str, end: int, signs: str) -> int:
    """Where the text before `end` ends without these signs."""
    while end > 0 and text[end - 1] in signs:
        end -= 1
    return end


def _is_name(before: str) -> bool:
    """Whether it ends in what code may put `[]` behind: a name, a call, another index."""
    last = before[-1:]
    word = before[len(before.rstrip(_IN_NAMES)) :]
    return last in ")]`" or any(not sign.isdigit() for sign in word)
