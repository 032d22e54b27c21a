"""A JSON object as chat models write it: strict about what it means, tolerant about how it looks.

Tolerated, because only one reading exists: full-width punctuation between values, typographic or single quotes around
strings, names without quotes, trailing commas, raw line breaks in strings, Python's True/False/None, closing brackets
missing at the very end. Refused, because two readings exist: a name given twice, an unfinished string, an unknown escape.
"""

import re
from json import JSONDecoder
from typing import NoReturn

from msgspec import Struct

_MAX_DEPTH = 32  # far beyond any tool's schema; keeps the reader's own recursion small
_OPEN_OBJECT, _CLOSE_OBJECT = "{｛", "}｝"
_OPEN_LIST, _CLOSE_LIST = "[［", "]］"
_COMMA, _COLON = ",，", ":：="
_QUOTES = {'"': '"', "＂": "＂", "'": "'", "“": "”“", "”": "”“", "‘": "’‘", "’": "’‘"}  # opening -> what may close it
_ESCAPES = {'"': '"', "'": "'", "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_NAME = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,2})?")
_BLANK = re.compile(r"(?:[\s\u200b\u2060\ufeff]|//[^\n]*|#[^\n]*|/\*.*?\*/)*", re.DOTALL)
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_PAIR = re.compile(r"[A-Za-z_]\w*\s*[=:：]")
FENCE_LINE = re.compile(r"```[\w-]*[ \t]*")


class Read(Struct, frozen=True, kw_only=True):
    """`end`: position behind the object. `unclosed`: the text ended before the object did."""

    value: dict[str, object]
    end: int
    unclosed: bool


class Unreadable(Exception):
    """`problem`: one phrase in English, for the model."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


def starts_object(text: str, at: int) -> bool:
    return text[at : at + 1] in tuple(_OPEN_OBJECT)


def read_object(text: str, at: int) -> Read:
    """Read the object that begins at `at`. Raises: Unreadable."""
    if (read := _as_json(text, at)) is not None:
        return read
    reader = _Reader(text, at)
    value = reader.mapping(1)
    return Read(value=value, end=reader.at, unclosed=reader.unclosed)


def starts_pair(text: str, at: int) -> bool:
    return _PAIR.match(text, at) is not None


def read_pairs(text: str, at: int) -> Read:
    """Read `query="…", doc_ids=[…]` up to the bracket around it, which is left. Raises: Unreadable."""
    reader = _Reader(text, at - 1)
    value = reader.mapping(1)
    return Read(value=value, end=reader.at, unclosed=reader.unclosed)


def without_fence(text: str) -> str:
    """The text without a fence around all of it."""
    lines = text.strip().split("\n")
    fenced = len(lines) > 2 and FENCE_LINE.fullmatch(lines[0]) and lines[-1].strip() == "```"
    return "\n".join(lines[1:-1]) if fenced else text


def _as_json(text: str, at: int) -> Read | None:
    """The object if it is plain JSON; None leaves it to the tolerant reader, which reads that the same way."""
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None
    written = text[at:end]
    nested = written.count("{") + written.count("[") >= _MAX_DEPTH
    if nested or "\\u" in written or _SURROGATE.search(written):  # may be no text, or deeper than is taken
        return None
    return Read(value=value, end=end, unclosed=False)


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is given twice")
    return found


def _integer(digits: str) -> int:
    if _NUMBER.fullmatch(digits) is None:
        raise ValueError("more digits than are taken")
    return int(digits)


def _decimal(digits: str) -> float:
    if _NUMBER.fullmatch(digits) is None:
        raise ValueError("more digits than are taken")
    return float(digits)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_DECODER = JSONDecoder(
    object_pairs_hook=_each_once, parse_int=_integer, parse_float=_decimal, parse_constant=_no_constant
)


class _Reader:
    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at
        self.unclosed = False

    def mapping(self, depth: int) -> dict[str, object]:
        self.at += 1
        found: dict[str, object] = {}
        while not self._closed(_CLOSE_OBJECT, depth):
            name = self._name()
            if name in found:
                raise Unreadable(f"the name {name!r} is given twice")
            if self._peek() not in _COLON:
                raise Unreadable(f"no colon after the name {name!r}")
            self.at += 1
            found[name] = self._value(depth)
            self._separator(_CLOSE_OBJECT)
        return found

    def _list(self, depth: int) -> list[object]:
        self.at += 1
        found: list[object] = []
        while not self._closed(_CLOSE_LIST, depth):
            found.append(self._value(depth))
            self._separator(_CLOSE_LIST)
        return found

    def _value(self, depth: int) -> object:
        if depth >= _MAX_DEPTH:
            raise Unreadable("nested too deeply")
        sign = self._peek()
        if sign == "":
            raise Unreadable("the text ends where a value should stand")
        if sign in _OPEN_OBJECT:
            return self.mapping(depth + 1)
        if sign in _OPEN_LIST:
            return self._list(depth + 1)
        if sign in _QUOTES:
            return self._string()
        if number := _NUMBER.match(self.text, self.at):
            self.at = number.end()
            return float(number[0]) if number[1] or number[2] else int(number[0])
        word = _NAME.match(self.text, self.at)
        if word and word[0] in _WORDS:
            self.at = word.end()
            return _WORDS[word[0]]
        raise Unreadable(f"no value can begin with {sign!r}")

    def _name(self) -> str:
        if self._peek() in _QUOTES:
            return self._string()
        if name := _NAME.match(self.text, self.at):
            self.at = name.end()
            return name[0]
        raise Unreadable(f"no name can begin with {self._peek()!r}")

    def _string(self) -> str:
        closing = _QUOTES[self.text[self.at]]
        self.at += 1
        parts: list[str] = []
        while self.at < len(self.text):
            sign = self.text[self.at]
            self.at += 1
            if sign in closing:
                return _whole("".join(parts))
            parts.append(self._escape() if sign == "\\" else sign)
        raise Unreadable("a string has no end")

    def _escape(self) -> str:
        sign = self.text[self.at : self.at + 1]
        self.at += 1
        if sign == "u":
            digits = self.text[self.at : self.at + 4]
            if not re.fullmatch(r"[0-9a-fA-F]{4}", digits):
                raise Unreadable(f"\\u{digits} is no character")
            self.at += 4
            return chr(int(digits, 16))
        if sign not in _ESCAPES:
            raise Unreadable(f"\\{sign} is no escape; write \\\\ for a backslash")
        return _ESCAPES[sign]

    def _closed(self, closing: str, depth: int) -> bool:
        """True and past the closing bracket, if here the collection ends."""
        sign = self._peek()
        if sign == "":
            self.unclosed = True
            return True
        if sign in closing:
            self.at += 1
            return True
        # `tool[{"query": "x"]`: the brace was forgotten, the bracket of the action is meant
        return depth == 1 and sign in "]］)）】"

    def _separator(self, closing: str) -> None:
        sign = self._peek()
        if sign and sign in _COMMA:
            self.at += 1
        elif sign and sign not in closing and sign not in "]］)）】":
            raise Unreadable(f"expected a comma or a closing bracket before {self.text[self.at : self.at + 12]!r}")

    def _peek(self) -> str:
        blank = _BLANK.match(self.text, self.at)
        if blank:
            self.at = blank.end()
        return self.text[self.at : self.at + 1]


def _whole(text: str) -> str:
    """Join escaped surrogate pairs; half of one is no character."""
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError as error:
        raise Unreadable("half of a surrogate pair is no character") from error
