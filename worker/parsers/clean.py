"""Text as a reader sees it: line ends made one, and nothing in it that can't be seen."""

import re

_LINE_ENDS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_UNSEEN = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"  # controls, lone surrogates, non-characters
    r"|[\u00ad\u180e\u200b\u2060-\u2064\u206a-\u206f\ufeff\u3164\u115f\u1160\uffa0]"  # soft hyphens, zero widths, fillers
)
_BLANK_LINES_AROUND = re.compile(r"\A(?:[^\S\n]*\n)+|\s+\Z")
_LONG_BLANK = re.compile(r"[^\S\n]{101,}")  # e.g. a form filled up with blanks; no reader counts them


def clean(text: str) -> str:
    text = _UNSEEN.sub("", _LINE_ENDS.sub("\n", text))
    return _LONG_BLANK.sub(lambda run: run[0][:100], text)


def trimmed(text: str) -> str:
    """Without blank lines before it and white space after it; an indented first line keeps its indent."""
    return _BLANK_LINES_AROUND.sub("", text)
