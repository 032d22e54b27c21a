"""Where sentences end, in Chinese and English text, without a model.

Leans towards too few cuts: a citation of two sentences is true, half a sentence may not be.
"""

import re

_CLOSERS = "\"'”’」』）)】］]》〉*_`"
# A place that may end a sentence: a run of end marks with the quotes, brackets and reference numbers that close on it, or a line end with the blanks after it.
_CANDIDATE = re.compile(rf"(?P<marks>[。！？｡.!?…]+)[{re.escape(_CLOSERS)}]*(?:\[\d{{1,3}}\])*|\n\s*")
_WIDE = re.compile(r"[。！？｡]")
_BLANKS = re.compile(r"\s*")
_CONTINUES = re.compile(r"\s*[,，、;；:：)）】」』”’的]")
_LIST_ITEM = re.compile(
    r"(?:[-*+•·▪◦‣–—>|#]|```|~~~|\(?\d{1,3}[.)、）．](?!\d)|[（(]?[一二三四五六七八九十百]{1,4}[)）、.．]|第[一二三四五六七八九十百\d]{1,5}[章节條条款]|[①-⑳]|[A-Za-z][.)]\s)"
)
_WORD_BEFORE = re.compile(r"[^\s\"'“‘(（「『\[]{1,24}$")
_ORDINAL_AT_LINE_START = re.compile(r"^\s*+(?:[-*+>#]\s*+)*+\(?(?:\d{1,3}(?:\.\d{1,3})*|[A-Za-z]|[ivxIVX]{1,5})$")
_ABBREVIATED = (
    "mr mrs ms dr prof sr jr st vs etc e.g i.e cf al fig figs eq eqs no nos vol ed eds pp p ch sec approx est dept univ inc ltd co corp"
    " jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun u.s u.k u.n a.m p.m ph.d m.sc b.sc gen col sgt capt lt"
    " rev hon pres gov sen rep ref refs ver v max min avg tel resp incl viz ca"
)
_MAY_END_WITH = "etc inc ltd co corp jr sr al u.s u.k u.n a.m p.m ph.d"
_ABBREVIATIONS = frozenset(_ABBREVIATED.split())
_MAY_END = frozenset(_MAY_END_WITH.split())  # abbreviations that sentences do end with
_SOFT_WRAP_COLUMNS = 50  # a shorter line was ended by its author, not by the width of the page, unless ...
_NARROW_WRAP_COLUMNS = 24  # ... the next begins with a small letter, or goes on in Chinese and is no longer
_NO_PROSE = re.compile(r"\s*(?:#{1,6}\s|[|>])")
_LOOK_BACK = 200


def sentences(text: str) -> list[tuple[int, int]]:
    """Spans (start, end) in code points that tile `text` exactly, in order, none empty; blanks belong to the sentence before them.

    Ends: 。！？ and the like with closing quotes; . ! ? before a blank unless an abbreviation, initial, number or list mark precedes or a
    small letter follows; blank lines; line ends that are not soft wraps (see `_line_ends`). Decimals, versions, file names and URLs stay whole.
    """
    cuts: list[int] = []
    last = _skip_blanks(text, 0)
    for match in _CANDIDATE.finditer(text):
        cut = _skip_blanks(text, match.end())
        if last < cut < len(text) and _ends(text, match, last):
            cuts.append(cut)
            last = cut
    return list(zip([0, *cuts], [*cuts, len(text)], strict=True)) if text else []


def _ends(text: str, match: re.Match[str], start: int) -> bool:
    marks = match["marks"]
    if marks is None:
        return _line_ends(text, match, start)
    if _CONTINUES.match(text, match.end()):  # “为什么？”的问题
        return False
    return _WIDE.search(marks) is not None or _narrow_ends(text, match, start)


def _narrow_ends(text: str, match: re.Match[str], start: int) -> bool:
    """An ASCII mark is also a decimal point, a part of a name, a wildcard: it ends a sentence only where prose would."""
    following = text[match.end()]
    before = text[max(start, match.start() - _LOOK_BACK) : match.start()]
    if _is_east(following):  # 他走了.然后
        return match["marks"][0] in "!?" or (bool(before) and _is_east(before[-1]))
    if not following.isspace():
        return False
    first = text[_skip_blanks(text, match.end())]
    if first.islower():
        return False
    whole_mark = match.group() != "."  # more than one, another, or one that a quote or bracket closes on
    return whole_mark or not _abbreviates(before, following_upper=first.isupper())


def _abbreviates(before: str, *, following_upper: bool) -> bool:
    line = before.rpartition("\n")[2]
    if _ORDINAL_AT_LINE_START.match(line):
        return True
    found = _WORD_BEFORE.search(before)
    word = found.group().lower() if found else ""
    if word in _ABBREVIATIONS:
        return not (word in _MAY_END and following_upper)
    return len(word) == 1 and word.isalpha() and before[-1:].isupper()  # J. K. Rowling


def _line_ends(text: str, match: re.Match[str], last: int) -> bool:
    """A wide line that its width ended goes on in the next; so does a narrower one where the next line says so."""
    if match.group().count("\n") > 1:
        return True
    line_start = text.rfind("\n", max(0, last - _LOOK_BACK), match.start()) + 1 or max(0, last - _LOOK_BACK)
    if (
        text[match.start() - 1] in ":：;；|"
        or _NO_PROSE.match(text, line_start)
        or _LIST_ITEM.match(text, match.end()) is not None
    ):
        return True
    columns = _columns(text, line_start, match.start())
    if columns >= _SOFT_WRAP_COLUMNS:
        return False
    following = text[match.end()]
    if columns < _NARROW_WRAP_COLUMNS:
        return True
    if following.islower():
        return False
    next_end = text.find("\n", match.end(), match.end() + _SOFT_WRAP_COLUMNS + 1)
    stop = next_end if next_end >= 0 else len(text)
    wide_as_next = _columns(text, match.end(), stop) <= columns + 2
    return not (_is_east(following) and _is_east(text[match.start() - 1]) and wide_as_next)


def _columns(text: str, start: int, end: int) -> int:
    """Of a line, counted up to a little more than a wide one has."""
    line = text[start : min(end, start + _SOFT_WRAP_COLUMNS + 1)].rstrip()
    return sum(2 if _is_east(char) else 1 for char in line)


def _skip_blanks(text: str, start: int) -> int:
    found = _BLANKS.match(text, start)
    return found.end() if found else start


def _is_east(char: str) -> bool:
    return "\u3040" <= char <= "\u9fff" or "\uf900" <= char <= "\uff60" or "\U00020000" <= char <= "\U0003fffd"
