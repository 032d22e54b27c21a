"""The envelope in which the harness answers an action: the very text that is counted, sent and stored."""

from typing import Literal

import msgspec
from msgspec import Struct

HarnessStatus = Literal[
    "ok",  # dispatched, not successful: the payload must be read
    "protocol_error",
    "tool_unavailable",
    "context_budget_exceeded",
    "request_budget_exceeded",
    "harness_internal_error",
]


class Envelope(Struct, frozen=True, kw_only=True):
    """`payload`: the tool's own bytes, never re-encoded. `message`: what the harness adds, in the run's language."""

    harness_status: HarnessStatus
    tool: str | None
    payload: msgspec.Raw
    message: str


_LINE_ENDS = tuple((sign, f"\\u{ord(sign):04x}") for sign in "\x85\u2028\u2029")
NOTHING = b"null"


def envelope(status: HarnessStatus, *, tool: str | None = None, payload: bytes = NOTHING, message: str = "") -> str:
    """Canonical JSON: fields in this order, UTF-8, no blanks, one line.

    payload: canonical JSON from a tool. message: free of lone surrogates.
    """
    made = Envelope(harness_status=status, tool=tool, payload=msgspec.Raw(payload), message=message)
    return _on_one_line(msgspec.json.encode(made).decode())


def quoted(text: str) -> str:
    """A text that is data among our own words: one JSON string, on one line whatever a reader takes for a line's end."""
    return _on_one_line(msgspec.json.encode(text).decode())


def _on_one_line(json: str) -> str:
    """JSON escapes what ends a line in ASCII, and leaves what ends one in Unicode; that only occurs inside its strings."""
    for sign, escaped in _LINE_ENDS:  # three searches in C: a table of characters takes 50 times as long
        json = json.replace(sign, escaped)
    return json


def opened(text: str) -> Envelope | None:
    """The envelope that a message holds, None if it holds something else."""
    try:
        return msgspec.json.decode(text, type=Envelope)
    except msgspec.DecodeError:
        return None
