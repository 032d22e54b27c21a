"""Payloads as bytes: made where their contents are read, in a thread, and never larger than a tool may return."""

import msgspec
from msgspec import Struct

from shared.errors import TooLarge

SETTING = "[api] max_result_bytes"
_encoder = msgspec.json.Encoder(order="deterministic")


def encoded(payload: Struct) -> bytes:
    """Canonical JSON."""
    return _encoder.encode(payload)


class Rows:
    """A JSON array that grows row by row: no call into the encoder takes long, so that other threads get their turn.

    `size_bytes`: of all rows that were added, those beyond the ceiling included, which are counted but not kept.
    """

    def __init__(self, most_bytes: int) -> None:
        self.size_bytes = 1
        self._most_bytes = most_bytes
        self._json = bytearray(b"[")

    @property
    def is_full(self) -> bool:
        return self.size_bytes > self._most_bytes

    def add(self, row: Struct) -> None:
        before = len(self._json)
        _encoder.encode_into(row, self._json, -1)
        self._json += b","
        self.size_bytes += len(self._json) - before
        if self.is_full:
            del self._json[before:]

    def joined(self) -> msgspec.Raw:
        """The array; of rows that fit."""
        if self._json.endswith(b","):
            del self._json[-1:]
        return msgspec.Raw(bytes(self._json + b"]"))


def sized(count: int, thing: str, size_bytes: int) -> str:
    """`thing`: its name, in the singular."""
    return f"{count:,} {thing}{'' if count == 1 else 's'} with {size_bytes:,} bytes"


def too_large(what: str, most_bytes: int, *, remedy: str, field: str | None = None) -> TooLarge:
    """`what`: how much it is; `remedy`: a sentence. Nothing of it is returned: a cut result would look like a complete one."""
    return TooLarge(
        f"The result is too large to be returned: {what}, {most_bytes:,} bytes are allowed ({SETTING}). {remedy}",
        field=field,
    )
