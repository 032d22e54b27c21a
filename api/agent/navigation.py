"""What in a text only leads to its neighbours: the arrows of an infobox, 上一篇, "Preceded by". Pure.

A year or name that stands only there is what another document is about.
"""

import re

_NAVIGATION = re.compile(
    r"←[^←→\n]{0,80}→|^[ \t|]*←[^←→\n|]{1,80}|^[ \t]*[^←→\n|]{1,60}→[ \t]*$"
    r"|^[ \t|*-]*(?:[上下]一?[篇页章节条届期]|[前后]一?[篇页章节届期])[ \t]?[:：|][^\n|]{1,80}"
    r"|^[ \t|*-]*(?:previous(?: \w+)?|next(?: \w+)?|preceded by|followed by|succeeded by)[ \t]?[:|][^\n|]{1,80}",
    re.MULTILINE | re.IGNORECASE,
)
_ASKS_FOR_NEIGHBOUR = re.compile(
    r"[上下前后後]一?[篇页頁章节節条條届屆期个個任]|继任|繼任|接任|之[前后後]|\b(?:previous|next|preced\w+|succe\w+|follow\w*|before|after)\b",
    re.IGNORECASE,
)


def asks_for_neighbour(question: str) -> bool:
    return _ASKS_FOR_NEIGHBOUR.search(question) is not None


def without_navigation(text: str) -> str:
    """Blanks in its place, so that every other sign stays where it is."""
    return _NAVIGATION.sub(lambda match: " " * len(match[0]), text)
