"""Text as a reader sees it: line ends made one, and nothing in it that can't be seen."""

import re

from worker.parsers.suspect import UNSEEN_MESSAGE

_LINE_ENDS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_UNREADABLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_UNSEEN = re.compile(
    r"[\u00ad\u180e\u200b\u2060-\u2064\u206a-\u206f\ufeff\u3164\u115f\u1160\uffa0]"  # soft hyphens, zero widths, fillers
    r"|[\u202a-\u202e\u2066-\u2069]"  # overrides of direction: they make a text read otherwise than it is written
)
# Bullets of the Symbol and Wingdings fonts, which have no characters of their own.
_BULLETS = str.maketrans("\uf0b7\uf0a7\uf06c\uf06e\uf0a8\uf0d8\uf076\uf0fc\uf0e0", "•▪●■□➢❖✓→")
_BLANK_LINES_BEFORE = re.compile(r"\A(?:[^\S\n]*+\n)*+")
_LONG_BLANK = re.compile(r"[^\S\n]{101,}")  # e.g. a form filled up with blanks; no reader counts them


def readable(text: str) -> str:
    """Without control characters, lone surrogates and non-characters; every line ends in \\n."""
    return _UNREADABLE.sub("", _LINE_ENDS.sub("\n", text))


def clean(text: str) -> str:
    """`readable`, and without what takes no room on the page."""
    text = _UNSEEN.sub("", UNSEEN_MESSAGE.sub("", readable(text))).translate(_BULLETS)
    return _LONG_BLANK.sub(lambda run: run[0][:100], text)


def trimmed(text: str) -> str:
    """Without blank lines before it and white space after it; an indented first line keeps its indent."""
    return _BLANK_LINES_BEFORE.sub("", text.rstrip())
