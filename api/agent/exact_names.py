"""Strings of a question that mean themselves: identifiers and quoted words. Pure.

No rewording may touch them, and the keyword search or a scan finds them where meaning does not. Q3, FY2024, 12V and 3rd are none: a text
may write 第三季度, "fiscal 2024", "12 volts" and "third" (see pins.py).
"""

import re

from api.agent.facts import facts
from shared.text.fold import fold

_QUOTED = re.compile(
    r"“([^“”]{1,80})”|「([^「」]{1,80})」|『([^『』]{1,80})』|《([^《》]{1,80})》|\"([^\"]{1,80})\"|(?<![A-Za-z0-9])'([^']{2,80})'(?!\w)|`([^`]{1,80})`"
)
_IDENTIFIER = re.compile(
    r"(?<![A-Za-z0-9_])(?=[A-Za-z0-9])(?=[0-9.\-/]{0,200}+[A-Za-z_])(?=[A-Za-z.\-/]{0,200}+[\d_])[A-Za-z0-9][A-Za-z0-9_]*(?:[-_./#+][A-Za-z0-9_]+)*"
)
_PERIOD = re.compile(
    r"(?:FY|CY)?-?(?:(?:19|20)\d\d-?)?(?:[QH][1-4]|[1-4][QH])|(?:FY|CY)-?(?:19|20)?\d\d", re.IGNORECASE
)
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)", re.IGNORECASE)
_BEHIND = " \t\u3000,.;:?!，。；：？！、…"  # within the quotation marks, as in “Classic,” and no part of what is quoted
_AMOUNT = re.compile(r"\d+(?:\.\d+)?[A-Za-z]{1,3}")
_RUN = re.compile(r"[^\W\d_]+|\d+")


def exact_names(question: str) -> list[str]:
    """Quoted words and identifiers, longest first."""
    quoted = [next(filter(None, match.groups())).strip().rstrip(_BEHIND) for match in _QUOTED.finditer(question)]
    names = {*quoted, *identifiers(question)}
    return sorted((name for name in names if name), key=lambda name: (-len(name), name))


def identifiers(question: str) -> list[str]:
    """Part numbers, versions, symbols with a digit or underscore in them, in the order of the text."""
    return [match[0] for match in _IDENTIFIER.finditer(question) if not _fixes_something(match[0])]


def absent(question: str, text: str) -> tuple[str, ...]:
    """The exact names of `question` that `text` doesn't have, however it joins their parts and whatever its case."""
    wanted = exact_names(question)
    if not wanted:
        return ()
    loose, folded = frozenset(identifiers(question)), fold(text)
    return tuple(
        name for name in wanted if not (spelled(name).search(folded) if name in loose else fold(name) in folded)
    )


def spelled(name: str) -> re.Pattern[str]:
    """Finds an identifier however its parts are joined: ZX-9, zx9 and ZX 9, in a folded text."""
    joined = r"[\s\-_./]*".join(map(re.escape, _RUN.findall(name.casefold())))
    return re.compile(rf"(?<![a-z0-9]){joined}(?![a-z0-9])")


def _fixes_something(name: str) -> bool:
    """Whether it is a period, an ordinal or an amount."""
    if _PERIOD.fullmatch(name) or _ORDINAL.fullmatch(name):
        return True
    return _AMOUNT.fullmatch(name) is not None and any(one.unit is not None for one in facts(name).quantities)
