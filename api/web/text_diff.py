"""In what two texts differ, for people: by words in Latin script, by characters in Chinese. Pure."""

import re
from typing import Final

from api.web.alike import Patience, opcodes
from api.web.run_prompts import Part, parts

MOST_PIECES: Final = (
    4_000  # of both together: finding what is alike in longer ones would take seconds; they are compared by lines
)
LEAST_ALIKE: Final = 4  # characters: less in common between two changes is chance, and makes them unreadable
_PIECE: Final = re.compile(r"[^\W\d_\u2e80-\uffff]+|\d+|\s+|.", re.DOTALL)


def text_parts(before: str, after: str, patience: Patience | None = None) -> tuple[Part, ...]:
    """Those but the added ones, joined, are `before`; those but the removed ones, `after`."""
    patience = patience or Patience()
    old, new = _PIECE.findall(before), _PIECE.findall(after)
    steps = opcodes(old, new, patience) if len(old) + len(new) <= MOST_PIECES else None
    if steps is None:
        return parts(before, after, patience)
    told: list[tuple[str, str, str]] = []  # same, removed, added: one of a kind, or both of the others
    for tag, i, i_end, j, j_end in steps:
        was, now = "".join(old[i:i_end]), "".join(new[j:j_end])
        told.append((was, "", "") if tag == "equal" else ("", was, now))
    return _parts(_joined(told))


def _joined(told: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Short likenesses between two changes become part of these."""
    found: list[tuple[str, str, str]] = []
    for n, (same, was, now) in enumerate(told):
        inside = 0 < n < len(told) - 1
        if same and inside and len(same.strip()) < LEAST_ALIKE:
            was = now = same
            same = ""
        if not same and found and not found[-1][0]:
            found[-1] = ("", found[-1][1] + was, found[-1][2] + now)
        else:
            found.append((same, was, now))
    return found


def _parts(told: list[tuple[str, str, str]]) -> tuple[Part, ...]:
    every: list[Part] = []
    for same, was, now in told:
        if same:
            every.append(Part(kind="same", text=same))
        if was:
            every.append(Part(kind="removed", text=was))
        if now:
            every.append(Part(kind="added", text=now))
    return tuple(every)
