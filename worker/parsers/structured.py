"""JSON, source code and configuration: text that is read as it is written."""

import json
import re
from typing import cast

from worker.parsers.source import File
from worker.parsers.types import Element, Parsed

_ESCAPES = re.compile(r"(?<!\\)((?:\\\\)*)((?:\\u[0-9a-fA-F]{4})+)")
_LONGEST_LINE = 2000  # characters; longer ones are laid out anew


def read(file: File) -> Parsed:
    """Source code: one element; blocks are cut at empty lines."""
    text, encoding = file.text()
    return Parsed(
        title=file.name, media_type="text/plain", elements=(Element(kind="code", text=text),), encoding=encoding
    )


def read_json(file: File) -> Parsed:
    """As written, but with \\u escapes resolved; on lines of its own where everything stands on one."""
    text, encoding = file.text()
    if max(map(len, text.split("\n"))) > _LONGEST_LINE:
        text = _laid_out(text)
    shown = _ESCAPES.sub(lambda found: found[1] + _resolved(found[2]), text)
    return Parsed(
        title="", media_type="application/json", elements=(Element(kind="code", text=shown),), encoding=encoding
    )


def _laid_out(text: str) -> str:
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return "\n".join(_laid_out_line(line) for line in text.split("\n"))  # one value a line, or broken


def _laid_out_line(line: str) -> str:
    try:
        return json.dumps(json.loads(line), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return line


def _resolved(escapes: str) -> str:
    """Control characters, quotes and backslashes stay escaped, so that the text stays JSON."""
    try:
        value = cast("str", json.loads(f'"{escapes}"'))
    except ValueError:
        return escapes
    return escapes if any(char < " " or char in '"\\' for char in value) else value
