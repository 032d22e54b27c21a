"""Whether an answer says nothing: dots, marks of sources, a heading without its text. Pure.

Such a text is no answer, whatever it cites: the model is told so, like of an empty one (decision 0148).
"""

import re
import unicodedata

from api.agent.citations import find_markers
from api.agent.stated import stated

_NUMBERED = re.compile(
    r"[\[［【〔][\s\d,，、^–-]{0,40}[\]］】〕](?![(:])"
)  # [1], 【】, [^2]; behind a link's text stands its address
_FENCE = re.compile(r"\s*(?:`{3,}[^`]*|~{3,}.*)")
_HEADING = re.compile(r"\s*#{1,6}(?:\s|$)")
_ANNOUNCES = re.compile(r"[:：][*_”\"]*\s*$")
_SIGNS = frozenset({"So", "Sc", "Sm"})  # emoji and the like, currencies, mathematics


def wordless(text: str, *, signs: bool) -> bool:
    """`signs`: an emoji or a sign may be what was asked for, which no document is looked at for.

    Says something: a letter or a digit beside source marks and numbers in brackets, in a line that is not the border of code. A
    heading that cites nothing and what announces something ("答案：") don't by themselves, unless they give an amount.
    """
    return not any(_speaks(line, cites=cites, signs=signs) for line, cites in _lines(text))


def _lines(text: str) -> list[tuple[str, bool]]:
    """Each line without marks of sources, and whether it had one."""
    pieces: list[str] = []
    at = 0
    for marker in find_markers(text):
        pieces += [text[at : marker.start], "\0"]
        at = marker.end
    bare = _NUMBERED.sub("", "".join([*pieces, text[at:]]))
    return [(line.replace("\0", ""), "\0" in line) for line in bare.splitlines()]


def _speaks(line: str, *, cites: bool, signs: bool) -> bool:
    if _FENCE.fullmatch(line) or not any(map(str.isalnum, line)):
        return signs and any(unicodedata.category(sign) in _SIGNS for sign in line if sign != "|")  # of a table
    empty = _ANNOUNCES.search(line) or (_HEADING.match(line) and not cites)
    return not empty or stated(line) != "nothing"
