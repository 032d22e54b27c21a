"""What a person sees: results on stdout, everything else on stderr, colours only on a terminal, Chinese where the locale is."""

import os
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import PurePath
from typing import Any

import msgspec
from rich.cells import cell_len
from rich.console import Console

CALLED = "_CITEBOUND_CALLED"  # set by scripts/run: how the person typed it
RUN = "./scripts/run"  # how our texts write it

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


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
    """Local time, to the minute."""
    return datetime.fromtimestamp(at_ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M")


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
