"""What a person sees: results on stdout, everything else on stderr, colours only on a terminal, Chinese where the locale is."""

import os
import sys
from typing import Any

import msgspec
from rich.console import Console

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def words(en: str, zh: str) -> str:
    """The text in the person's language: Chinese under a zh locale, else English."""
    locale = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    return zh if locale.lower().startswith("zh") else en


def plain(text: str, style: str | None = None) -> None:
    """One result line, exactly as it is: brackets in it are no markup."""
    out.print(text, style=style, markup=False)


def note(text: str, style: str | None = "dim") -> None:
    """A line about what is going on."""
    err.print(text, style=style, markup=False)


def complain(message: str, remedy: str = "") -> None:
    err.print(f"citebound: {message}", style="bold red", markup=False)
    if remedy:
        err.print(f"  → {remedy}", markup=False)


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
