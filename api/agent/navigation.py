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

_SEASON = re.compile(r"(?<!\d)(?P<first>(?P<century>1\d|20)\d\d)\s?(?:--?|–)\s?(?:19|20)?(?P<last>\d\d)(?![\d-])")


def asks_for_neighbour(question: str) -> bool:
    return _ASKS_FOR_NEIGHBOUR.search(question) is not None


def without_navigation(text: str, *, title: str, question: str) -> str:
    """Blanks in its place, so that every other sign stays where it is.

    On a page of 1959, the first year of the season 1958–59 leads to the one before too, unless seasons are asked for.
    """

    def shortened(match: re.Match[str]) -> str:
        of_title = f"{match['century']}{match['last']}" in title and match["first"] not in title
        return match[0].replace(match["first"], "    ", 1) if of_title else match[0]

    apart = _NAVIGATION.sub(lambda match: " " * len(match[0]), text)
    return apart if _SEASON.search(question) else _SEASON.sub(shortened, apart)
