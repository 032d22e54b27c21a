"""Characters that no reader sees: in a name they speak to a terminal, turn its reading round, or make two names look like one."""

import re

_UNSEEN = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029"  # control characters, halves of characters, line ends
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # changes of direction
    "\u00ad\u115f\u1160\u180e\u200b\u2060-\u2064\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"  # no width, fillers
    "\U000e0000-\U000e007f"  # tags
    "]"
)


def unseen(text: str) -> str | None:
    """The first of them, if there is one."""
    found = _UNSEEN.search(text)
    return None if found is None else found[0]


def shown(text: str) -> str:
    """The same length, with U+FFFD for each of them."""
    return _UNSEEN.sub("\ufffd", text)
