"""Find what a model could take for an instruction among what it is told: text of a document that is not marked as data."""

import json
from collections.abc import Iterable
from typing import Any

from shared.llm.port import Message

PLANT = "OBEY-ME"
_BETWEEN = " ：:、，,。"  # what may stand between two values, and behind the last


def instructions(messages: Iterable[Message]) -> list[str]:
    """Lines of the system's or the user's with a plant outside of JSON values."""
    lines = (line for one in messages if one.role in ("system", "user") for line in one.content.splitlines())
    return [line for line in lines if PLANT in line and not _is_data(line)]


def _is_data(line: str) -> bool:
    """JSON values, perhaps behind a label or a number of ours."""
    at = min((place for sign in '{"' if (place := line.find(sign)) >= 0), default=len(line))
    if PLANT in line[:at]:
        return False
    rest = line[at:]
    while rest:
        try:
            value, end = _read(rest)
        except ValueError:
            return False
        if isinstance(value, dict) and PLANT in str(value.get("message", "")):  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
            return False
        rest = rest[end:].lstrip(_BETWEEN)
    return True


def _read(text: str) -> tuple[Any, int]:
    return json.JSONDecoder().raw_decode(text)
