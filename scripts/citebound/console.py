"""What a person sees: results on stdout, everything else on stderr, colours only on a terminal, Chinese where the locale is."""

import os
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import PurePath
from typing import Any
from unicodedata import category

import msgspec
from rich.cells import cell_len
from rich.console import Console

from shared.types.keys import LATEST_MS

CALLED = "_CITEBOUND_CALLED"  # set by scripts/run: how the person typed it
RUN = "./scripts/run"  # how our texts write it
_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class _Harmless(Console):
    """Prints what documents, file names and models say without letting them speak to the terminal."""

    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*(harmless(one) if isinstance(one, str) else one for one in objects), **options)


def harmless(text: str) -> str:
    """Control characters, halves of characters and changes of direction are shown as escapes; line breaks and tabs stay."""
    return "".join(ascii(one)[1:-1] if _speaks_to_terminal(one) else one for one in text)


def _speaks_to_terminal(character: str) -> bool:
    return character not in "\n\t" and (category(character) in ("Cc", "Cs") or character in _DIRECTIONS)


out = _Harmless(highlight=False, soft_wrap=True)
err = _Harmless(stderr=True, highlight=False, soft_wrap=True)


def words(en: str, zh: str) -> str:
    """The text in the person's language: Chinese under a zh locale, else English."""
    locale = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    return zh if locale.lower().startswith("zh") else en


def as_called(text: str) -> str:
    """The text with its commands as this person types them, ready to be pasted."""
    called = os.environ.get(CALLED, RUN)
    return text.replace(RUN, "citebound" if PurePath(called).name == "citebound" else called)


def count(number: int, noun: str) -> str:
    """1 document, 2 documents"""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def date(at_ms: int) -> str:
    """Local time, to the minute; what is later than any date can be is the last one."""
    return datetime.fromtimestamp(min(at_ms, LATEST_MS) / 1000).astimezone().strftime("%Y-%m-%d %H:%M")


def table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    """Columns under a header, aligned also where a letter is two cells wide; the last one may be as long as it likes."""
    widths = [max(cell_len(line[column]) for line in (header, *lines)) for column in range(len(header) - 1)]
    for number, line in enumerate((header, *lines)):
        cells = [cell + " " * (width - cell_len(cell)) for cell, width in zip(line, widths, strict=False)]
        plain("  ".join((*cells, line[-1])).rstrip(), "bold" if number == 0 else None)


def plain(text: str, style: str | None = None) -> None:
    """One result line, exactly as it is: brackets in it are no markup."""
    out.print(text, style=style, markup=False)


def note(text: str, style: str | None = "dim") -> None:
    """A line about what is going on."""
    err.print(as_called(text), style=style, markup=False)


def complain(message: str, remedy: str = "") -> None:
    err.print(as_called(f"citebound: {message}"), style="bold red", markup=False)
    for number, line in enumerate(remedy.splitlines()):
        err.print(as_called(f"{'    ' if number else '  → '}{line}"), markup=False)


def print_json(value: Any) -> None:
    """One JSON value on stdout, readable, keys in the order of the contract."""
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def size(count: int) -> str:
    """Bytes for people."""
    amount = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} TiB"
