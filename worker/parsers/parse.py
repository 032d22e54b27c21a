"""One file to Parsed: what the child runs. Looks at the content, hands it to the format's module, cleans what comes back."""

import importlib
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import cast
from zipfile import BadZipFile

from msgspec.structs import replace

from shared.errors import DocumentError
from shared.types.documents import BlockFlag
from worker.parsers.clean import clean, trimmed
from worker.parsers.markup import MarkupError
from worker.parsers.sniff import Format, sniff
from worker.parsers.source import File
from worker.parsers.suspect import hides_text, talks_to_a_model
from worker.parsers.types import Element, Parsed

# What libraries raise when a file breaks its format's rules. Anything else is a bug of ours or theirs: parse_crashed.
_DAMAGE = (
    ValueError,
    LookupError,
    EOFError,
    NotImplementedError,
    RecursionError,
    BadZipFile,
    zlib.error,
    struct.error,
    MarkupError,
)
MAX_TEXT_CHARS = 64_000_000  # of one document
TITLE_CHARS = 200

# "module:function", imported when first needed: some bring libraries that take seconds and hundreds of megabytes.
_READERS: dict[Format, str] = {
    "text": "plain:read",
    "markdown": "markdown:read",
    "html": "html:read",
    "pdf": "pdf:read",
    "docx": "docx:read",
    "pptx": "pptx:read",
    "xlsx": "xlsx:read",
    "csv": "delimited:read",
    "epub": "epub:read",
    "eml": "mail:read_with",
    "odt": "odt:read",
    "rtf": "rtf:read",
    "json": "structured:read_json",
    "code": "structured:read",
    "xml": "xml:read",
}


def parse_file(path: Path, *, name: str) -> Parsed:
    """Raises: DocumentError."""
    file = File(data=path.read_bytes(), name=name)
    parsed = _read(file)
    elements = _polished(parsed.elements)
    if not elements:
        raise DocumentError("empty", "The file has no text.")
    if sum(len(element.text) for element in elements) > MAX_TEXT_CHARS:
        raise DocumentError("too_large", "The document has more text than one document may have.")
    return replace(parsed, elements=elements, title=_title(parsed, elements, file))


def _read(file: File) -> Parsed:
    kind = sniff(file)
    module, _, function = _READERS[kind].partition(":")
    read = getattr(importlib.import_module(f"worker.parsers.{module}"), function)
    try:
        return cast("Parsed", read(file, _read_attachment) if kind == "eml" else read(file))
    except _DAMAGE as error:
        reason = f"The file is damaged: its content is no {kind} ({type(error).__name__})."
        raise DocumentError("corrupt", reason) from error


def _read_attachment(file: File) -> Parsed:
    if sniff(file) == "eml":
        raise DocumentError("unsupported", "A message inside a message is not followed.")
    return _read(file)


def _polished(elements: Sequence[Element]) -> tuple[Element, ...]:
    """Clean texts, no empty ones, suspicious ones flagged."""
    kept: list[Element] = []
    for element in elements:
        text = trimmed(clean(element.text))
        if not text:
            continue
        flags: set[BlockFlag] = set(element.flags)
        if hides_text(element.text):
            flags.update(("hidden_text_removed", "injection_suspected"))
        if talks_to_a_model(text):
            flags.add("injection_suspected")
        title = " ".join(clean(element.title).split())
        kept.append(replace(element, text=text, title=title, flags=tuple(sorted(flags))))
    return tuple(kept)


def _title(parsed: Parsed, elements: Sequence[Element], file: File) -> str:
    """What the file says of itself, its first heading if that is of the top level, or its name without extension."""
    first = next((element for element in elements if element.kind == "heading"), None)
    top = (first.title or first.text) if first is not None and first.level == 1 else ""
    for title in (parsed.title, top, file.stem, file.name):
        if shown := " ".join(clean(title).split()):
            return shown[:TITLE_CHARS]
    return "?"
