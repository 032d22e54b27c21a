"""Bytes of unknown encoding to text: byte order mark, UTF-8, UTF-16 without a mark, then a guess among few."""

import codecs
import re
from collections import Counter

from charset_normalizer import from_bytes

from shared.errors import DocumentError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16: its mark begins with the same two bytes
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CANDIDATES = ("gb18030", "big5", "shift_jis", "euc_jp", "euc_kr", "cp1252", "cp1251", "cp866", "koi8_r", "cp1256")
_SAMPLE_BYTES = 200_000
_PART_LINES, _PARTS = 4, 12
_ORDINARY = re.compile(r"[\s\x21-\x7e\u3001-\u3011\uff01-\uff1f]")
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_BROKEN = "\ufffd"


def decode(data: bytes, *, declared: str | None = None) -> tuple[str, str]:
    """The text and the name of the encoding. `declared`: what the file says of itself; believed when it decodes cleanly.

    Raises: unreadable.
    """
    text, encoding = _decode(data, declared)
    if len(_CONTROLS.findall(text, 0, 100_000)) * 20 > len(text[:100_000]):
        raise DocumentError("unreadable", "This is no text: it may be a binary file of an unknown kind.")
    return text, encoding


def _decode(data: bytes, declared: str | None) -> tuple[str, str]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace"), encoding
    if (wide := _as_utf16(data)) is not None:
        return wide
    for encoding in ("utf-8", declared):
        if encoding and (text := _strictly(data, encoding)) is not None:
            return text, encoding
    damaged = data.decode("utf-8", "replace")
    if _is_utf8_with_damage(damaged):
        return damaged, "utf-8"
    return _guess(data)


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _as_utf16(data: bytes) -> tuple[str, str] | None:
    """Only UTF-16 has zero bytes in ordinary text (blanks, line ends, digits), and on one side of each pair."""
    zeros = data.count(0)
    data = data[: len(data) // 2 * 2]
    if zeros == 0 or not data or (zeros / len(data) < 0.05 and _strictly(data, "utf-8") is not None):
        return None
    readings = [(text, code) for code in ("utf-16-le", "utf-16-be") if (text := _strictly(data, code)) is not None]
    if not readings:
        return None
    text, code = max(readings, key=lambda reading: len(_ORDINARY.findall(reading[0][:10_000])))
    return (text, code) if "\0" not in text else None


def _is_utf8_with_damage(text: str) -> bool:
    beyond_ascii = sum(1 for char in text if char > "\x7f")
    return text.count(_BROKEN) * 50 <= beyond_ascii


def _guess(data: bytes) -> tuple[str, str]:
    encoding = _recognised(data[:_SAMPLE_BYTES]) or _recognised_in_parts(data[:_SAMPLE_BYTES])
    text = data.decode(encoding, "replace") if encoding else _BROKEN
    if encoding is None or text.count(_BROKEN) * 50 > len(text):
        raise DocumentError("unreadable", "The text's encoding is not recognised. Save the file as UTF-8.")
    return text, encoding


def _recognised(data: bytes) -> str | None:
    best = from_bytes(data, cp_isolation=list(_CANDIDATES)).best()
    return best.encoding if best is not None else None


def _recognised_in_parts(data: bytes) -> str | None:
    """One damaged byte spoils the whole for the detector; most lines are whole."""
    lines = data.split(b"\n")
    parts = [b"\n".join(lines[at : at + _PART_LINES]) for at in range(0, len(lines), _PART_LINES)]
    votes = Counter(found for part in parts[:_PARTS] if (found := _recognised(part)) not in (None, "ascii"))
    return votes.most_common(1)[0][0] if votes else None
