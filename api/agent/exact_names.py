"""Strings of a question that mean themselves: identifiers and quoted words. Pure.

No rewording may touch them, and the keyword search or a scan finds them where meaning does not.
"""

import re

_QUOTED = re.compile(
    r"“([^“”]{1,80})”|「([^「」]{1,80})」|『([^『』]{1,80})』|《([^《》]{1,80})》|\"([^\"]{1,80})\"|'([^']{2,80})'(?!\w)|`([^`]{1,80})`"
)
_IDENTIFIER = re.compile(
    r"(?<![A-Za-z0-9_])(?=[A-Za-z0-9])(?=[A-Za-z0-9_.\-/]*[A-Za-z_])(?=[A-Za-z0-9_.\-/]*[\d_])[A-Za-z0-9][A-Za-z0-9_]*(?:[-_./#+][A-Za-z0-9_]+)*"
)


def exact_names(question: str) -> list[str]:
    """Quoted words and identifiers, longest first."""
    quoted = [next(filter(None, match.groups())).strip() for match in _QUOTED.finditer(question)]
    names = {*quoted, *identifiers(question)}
    return sorted((name for name in names if name), key=lambda name: (-len(name), name))


def identifiers(question: str) -> list[str]:
    """Part numbers, versions, symbols with a digit or underscore in them, in the order of the text."""
    return [match[0] for match in _IDENTIFIER.finditer(question)]
