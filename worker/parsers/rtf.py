"""Rich text, read by its own grammar: unstructured needs pandoc for it, which we may not ship (GPL).

Source: Rich Text Format Specification 1.9.1. Text, paragraphs, tables, outline levels and hidden text; no layout.
"""

import copy
import re
from collections.abc import Iterator

from msgspec import Struct

from shared.types.documents import BlockFlag
from worker.parsers.headings import numbered_headings
from worker.parsers.source import File
from worker.parsers.tables import table
from worker.parsers.types import Element, Parsed

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|[\r\n]+|([^\\{}\r\n]+)", re.DOTALL
)
_SILENT = frozenset(
    (
        *(
            "fonttbl",
            "colortbl",
            "stylesheet",
            "info",
            "listtable",
            "listoverridetable",
            "revtbl",
            "rsidtbl",
            "generator",
            "xmlnstbl",
        ),
        *("filetbl", "datastore", "themedata", "colorschememapping", "latentstyles", "mmathPr", "operator", "private"),
        *("header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf"),
        *(
            "pict",
            "object",
            "nonshppict",
            "shpinst",
            "sp",
            "fldinst",
            "bkmkstart",
            "bkmkend",
            "annotation",
            "atnid",
            "atnauthor",
        ),
    )
)
_SAID = {
    "par": "\n", "sect": "\n", "page": "\n", "line": "\v", "tab": "\t", "emdash": "—", "endash": "–", "bullet": "•", "lquote": "‘",
    "rquote": "’", "ldblquote": "“", "rdblquote": "”", "emspace": " ", "enspace": " ", "qmspace": " ",
}  # fmt: skip
_CHARSETS = {0: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 134: "gb18030", 136: "cp950", 161: "cp1253", 162: "cp1254",
             163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250"}  # fmt: skip
_HIDDEN_FLAG: tuple[BlockFlag, ...] = ("hidden_text_removed",)


class _State(Struct):
    silent: bool = False
    hidden: bool = False
    capitals: bool = False
    skip: int = 1  # bytes that follow a \u and say the same for old readers
    font: int = 0
    destination: str = ""


def read(file: File) -> Parsed:
    reader = _Reader(file.data)
    elements = numbered_headings(tuple(reader.elements()))
    return Parsed(title=" ".join(reader.title.split()), media_type="application/rtf", elements=elements)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._state = _State()
        self._stack: list[_State] = []
        self._codepage = "cp1252"
        self._fonts: dict[int, str] = {}
        self._bytes = bytearray()
        self._text: list[str] = []
        self._left_to_skip = 0
        self._high_half = 0
        self._level = 0
        self._in_table = False
        self._cells: list[str] = []
        self._rows: list[list[str]] = []
        self._hidden = False
        self.title = ""

    def elements(self) -> Iterator[Element]:
        for token in _TOKEN.finditer(self._data):
            word, number, byte, symbol, brace, run = token.groups()
            if word is not None:
                yield from self._word(word.decode("ascii"), None if number is None else int(number))
            elif byte is not None:
                self._take(bytes([int(byte, 16)]))
            elif symbol is not None:
                self._symbol(symbol)
            elif brace == b"{":
                self._flush()
                self._stack.append(copy.copy(self._state))
            elif brace == b"}":
                self._flush()
                self._state = self._stack.pop() if self._stack else _State()
            elif run is not None:
                self._take(run)
        self._flush()
        yield from self._paragraph()
        yield from self._table()

    def _word(self, word: str, number: int | None) -> Iterator[Element]:
        if word == "u" and number is not None:
            self._flush()
            self._unicode(number & 0xFFFF)
            self._left_to_skip = self._state.skip
            return
        self._flush()
        match word:
            case "par" | "sect" | "page" if not self._state.silent:
                yield from self._paragraph()
            case "cell" | "nestcell" if not self._state.silent:
                self._cells.append("".join(self._text))
                self._text.clear()
            case "row" | "nestrow" if not self._state.silent:
                self._rows.append(self._cells)
                self._cells = []
            case "pard":
                self._level, self._in_table = 0, False
            case "intbl":
                self._in_table = True
            case "outlinelevel" if number is not None:
                self._level = number + 2 if number < 9 else 0
            case "plain":
                self._state.hidden = self._state.capitals = False
            case "caps":
                self._state.capitals = number != 0
            case "v":
                self._state.hidden = number != 0
            case "uc":
                self._state.skip = number or 0
            case "ansicpg" if number is not None:
                self._codepage = {936: "gb18030", 950: "cp950", 932: "cp932"}.get(number, f"cp{number}")
            case "f":
                self._state.font = number or 0
            case "fcharset" if self._state.destination == "fonttbl":
                self._fonts[self._state.font] = _CHARSETS.get(number or 0, self._codepage)
            case "title" if self._state.destination == "info":
                self._state.destination = "title"
            case _ if word in _SILENT:
                self._state.silent, self._state.destination = True, word
            case _:
                self._say(_SAID.get(word, ""))

    def _symbol(self, symbol: bytes) -> None:
        match symbol:
            case b"*":
                self._state.silent = True
            case b"~":
                self._take(b" ")
            case b"_":
                self._take(b"-")
            case b"\\" | b"{" | b"}":
                self._take(symbol)
            case _:
                return

    def _take(self, run: bytes) -> None:
        skipped = min(self._left_to_skip, len(run))
        self._left_to_skip -= skipped
        self._bytes += run[skipped:]

    def _unicode(self, code: int) -> None:
        if 0xD800 <= code < 0xDC00:
            self._high_half = code
        elif 0xDC00 <= code < 0xE000:
            if self._high_half:
                self._say(chr(0x10000 + ((self._high_half - 0xD800) << 10) + code - 0xDC00))
            self._high_half = 0
        else:
            self._say(chr(code))

    def _flush(self) -> None:
        if self._bytes:
            codepage = self._fonts.get(self._state.font, self._codepage)
            data, self._bytes = bytes(self._bytes), bytearray()
            self._say(_decoded(data, codepage))

    def _say(self, text: str) -> None:
        if self._state.destination == "title":
            self.title += text
        elif self._state.silent or not text:
            return
        elif self._state.hidden:
            self._hidden = self._hidden or bool(text.strip())
        else:
            self._text.append(text.upper() if self._state.capitals else text)

    def _paragraph(self) -> Iterator[Element]:
        text = "".join(self._text).replace("\v", "\n").strip()
        self._text.clear()
        if self._in_table:
            if text:
                self._text.append(text + " ")  # one of several paragraphs in a cell
            return
        yield from self._table()
        if not text:
            return
        flags, self._hidden = _HIDDEN_FLAG if self._hidden else (), False
        if self._level:
            yield Element(kind="heading", text=" ".join(text.split()), level=self._level, flags=flags)
        else:
            yield Element(kind="paragraph", text=text, flags=flags)

    def _table(self) -> Iterator[Element]:
        rows, self._rows = self._rows, []
        named = len(rows) > 2 and len(rows[0]) > 1 and all(cell.strip() for cell in rows[0])
        element = table(rows, header_rows=1 if named else 0) if rows else None
        if element is not None:
            yield element


def _decoded(data: bytes, codepage: str) -> str:
    try:
        return data.decode(codepage, "replace")
    except LookupError:  # a code page that Python does not know
        return data.decode("cp1252", "replace")
