"""Where a text says what its figures are per: "2.5 litres per second", "$300 a seat/month", 每席位每月300美元, 时速80公里. Pure."""

import re

from api.agent.denominators import GOES_ON, OF_ADJECTIVE, UNITS, Per
from api.agent.units import alternatives

_NO_THING_WORDS = (
    "the this that these those our your their its his her my se cent mille mil a an each every any all and or of"
)
_NO_THING = frozenset(_NO_THING_WORDS.split())
_NO_SECOND_WORDS = (
    "and or but is are was were be in on at for from by with to of the a an as if when where which that than per plus only will"
    " must may can not has have including excluding before after until during since while each every its their it they he she"
)
_NO_SECOND = frozenset(_NO_SECOND_WORDS.split())
_UNIT = alternatives(UNITS)
_NEXT = re.compile(
    r"\s?(?:(?P<annual>p\.\s?a\b\.?)|(?:(?P<mark>/\s?|每|per\s(?:each\s|every\s)?)|(?P<article>an?|each|every)\s)"
    rf"(?:(?P<count>\d{{1,3}}(?:,\d{{3}})+|\d{{1,7}}(?:\.\d{{1,3}})?|[百千万])?\s?(?:[个個名位](?=[\u4e00-\u9fff]))?(?:(?P<unit>{_UNIT})(?P<power>\^?[23](?!\d|\.\d))?"
    r"|(?P<thing>[A-Za-z][A-Za-z-]{1,24})(?:\s(?P<second>[a-z][a-z-]{1,24}))?|(?P<han>[\u4e00-\u6bce\u6bd0-\u9fff]{1,4}))))"
)
_ROUND = {"百": "100", "千": "1000", "万": "10000"}
_FIRST = frozenset("/每pae")
_FAR = re.compile(
    r"(?:\s(?!(?:and|or|plus|but|to|in|on|at|is|was|are|were|per|for|with)\b)[A-Za-z][A-Za-z'’-]{0,20}){1,2}(?=\s(?:per|an?|each|every)\s)"
)
_LONG_AGO = re.compile(r"\s(?:ago|later|earlier|before|after|or|and a half|old|long|from now)\b")
_BEFORE = re.compile(
    r"(?P<each>(?:每[^每，。；、,;:：\s()（）|！？“”]{1,9}){1,3})[:：]?\s?\Z"
    r"|(?<![\d每今去本当同次该全])(?P<frame>人均|[时秒]速|[年月日周时](?:租|薪|费(?!用)|均|产))[^\d，。；、,;|\s]{0,6}\s?\Z"
)
_BEFORE_EN = re.compile(
    rf"\b[Pp]er\s(?P<unit>{_UNIT})[,:]?\s\Z"
    r"|\b(?i:(?P<adjective>hourly|daily|weekly|monthly|quarterly|yearly|annual)\s(?:[a-z]{1,20}\s){0,2}(?:fee|price|rent|salary|wage|pay|cost|subscription|rate|charge|payment"
    r"|income|premium|budget|output|production|limit|allowance|dose|consumption)s?(?:\s[a-z]{1,12}){0,3})[:]?\s\Z"
)
_PIECE = re.compile(
    rf"(?P<count>\d{{1,7}}|[百千万])?(?:[个個名位](?=[\u4e00-\u9fff]))?(?:(?P<unit>{_UNIT})|(?P<thing>[A-Za-z]+|[^\dA-Za-z]{{1,3}}))"
)
_IN_ENGLISH = ("Per ", "per ", "ourly ", "aily ", "eekly ", "onthly ", "arterly ", "early ", "nnual ")
_WINDOW, _WIDE = 30, 90  # code points before a figure


class Rates:
    """Of one text: what its figures are per."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._far = any(word in text for word in (" per ", " a ", " an ", " each ", " every "))
        self._english = any(word in text for word in _IN_ENGLISH)
        self._chinese = any(sign in text for sign in "每均速租薪费产")

    def behind(self, end: int, *, measured: bool) -> tuple[tuple[Per, ...], int]:
        """What stands behind a figure with its unit, and where that ends. `measured`: whether it has a unit."""
        text, found, at = self._text, list[Per](), end
        first = text[at : at + 2].lstrip()[:1]
        if not first or first not in _FIRST or _NEXT.match(text, at) is None:
            far = _FAR.match(text, at) if self._far and first.isalpha() else None
            if far is None:
                return (), end
            at = far.end()
        ends = end if at == end else None
        while len(found) < 4 and (match := _NEXT.match(text, at)) is not None:
            one = _read(match, text, measured=measured or bool(found))
            if not one or (ends is None and match["article"] and one[0].dimension != "time"):
                break
            found += one
            at = match.end("second") if _goes_on(match, text) else _end(match)
            ends = at if ends is not None else None
        return tuple(found), end if ends is None or not found else ends

    def before(self, start: int) -> tuple[tuple[Per, ...], int]:
        """What stands before a figure with its currency, and where that begins."""
        match = _BEFORE.search(self._text, max(start - _WINDOW, 0), start) if self._chinese else None
        if match is None:
            return self._before_in_english(start) if self._english else ((), start)
        if match["each"]:
            pieces = [(piece, _PIECE.match(piece)) for piece in match["each"].split("每")[1:]]
            found = tuple(one for piece, read in pieces if read for one in _each(piece, read))
            nothing_else = all(read is not None and read.end() == len(piece) for piece, read in pieces)
            return found, match.start() if nothing_else else start
        word = match["frame"]
        one = Per(name=OF_ADJECTIVE[word] if word in OF_ADJECTIVE else UNITS[word[0]])
        return (one,), match.start("frame") if match.end("frame") == start else start

    def _before_in_english(self, start: int) -> tuple[tuple[Per, ...], int]:
        match = _BEFORE_EN.search(self._text, max(start - _WIDE, 0), start)
        if match is None:
            return (), start
        if match["unit"]:
            return (Per(name=UNITS[match["unit"]]),), match.start()
        return (Per(name=OF_ADJECTIVE[match["adjective"].lower()]),), start


def _end(match: re.Match[str]) -> int:
    return match.start("second") - 1 if match["second"] else match.end()


def _goes_on(match: re.Match[str], text: str) -> bool:
    """Whether "per licensed seat per month" goes on behind its second word."""
    return bool(match["second"]) and _NEXT.match(text, match.end()) is not None and match["second"] not in _NO_SECOND


def _read(match: re.Match[str], text: str, *, measured: bool) -> list[Per]:
    if match["annual"]:
        return [Per(name="year")]
    slash, count = (match["mark"] or "").startswith("/"), _count(match)
    if slash and not measured and (match["count"] or not match["unit"]):
        return []
    if match["unit"] and text[match.end("unit") : match.end("unit") + 1] not in [*GOES_ON.get(match["unit"], "")]:
        one = Per(name=UNITS[match["unit"]], count=count)
        if match["article"] and (
            _LONG_AGO.match(text, match.end()) or (match["article"] in ("each", "every") and one.dimension != "time")
        ):
            return []
        return [one] * (int(match["power"][-1]) if match["power"] and slash else 1)
    if match["article"] or (match["count"] and not match["unit"]):
        return []
    if match["unit"]:
        return [Per(name=text[match.start("unit") : match.end("unit") + 1], is_unit=False)]
    if match["han"]:
        return [Per(name=match["han"], is_unit=False)]
    first, second = match["thing"].lower(), match["second"] or ""
    if first in _NO_THING or (slash and not measured):
        return []
    words = [first] if slash or second in _NO_SECOND else [first, second]
    return [Per(name=" ".join(word.rstrip("s") for word in words), is_unit=False)]


def _each(piece: str, match: re.Match[str]) -> list[Per]:
    """`match`: of a unit or a thing at the head of what stands between 每 and the figure."""
    if (match["thing"] or "").startswith(("隔", "当", "逢", "种")):
        return []
    if match["unit"] and piece[match.end() : match.end() + 1] not in [*GOES_ON.get(match["unit"], "")]:
        return [Per(name=UNITS[match["unit"]], count=_count(match))]
    return [Per(name=match["thing"] or piece[match.start("unit") : match.end() + 1], is_unit=False)]


def _count(match: re.Match[str]) -> str:
    count = match["count"] or ""
    return _ROUND.get(count) or count.replace(",", "").lstrip("0") or "1"
