"""Bodies of answers, within bounds: read whole, and content codings undone slice by slice.

A few bytes that stand for millions hold nobody up and fill no memory; httpx's decoders inflate whatever came as one piece.
"""

import asyncio
import zlib
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import httpx

SLICE = 64 * 1024  # bytes; some 0.1 ms
MOST_PACKED = 128 * 1024 * 1024  # bytes in one body; the longest stream of a model has some 40 MB

Piece: TypeAlias = Callable[[], Awaitable[bytes]]  # what comes next; b"" at the end, and from then on

_CODINGS = ("gzip", "x-gzip", "deflate")
_MOST_CODINGS = 3  # one upon another
_GZIP_BITS = zlib.MAX_WBITS | 16


class Oversized(httpx.DecodingError):
    """More came than can be an answer to what was asked."""

    def __init__(self, most_bytes: int) -> None:
        super().__init__(f"more than {most_bytes / 1_000_000:.1f} MB came, which can't be an answer")


async def whole(piece: Piece, *, most_bytes: int) -> bytes:
    """All that is left of a body. Raises: as `piece`; Oversized."""
    found = await start(piece, most_bytes=most_bytes + 1)
    if len(found) > most_bytes:
        raise Oversized(most_bytes)
    return found


async def start(piece: Piece, *, most_bytes: int) -> bytes:
    """What is left of a body, no more than that of it. Raises: as `piece`."""
    pieces: list[bytes] = []
    room = most_bytes
    while room > 0 and (one := await piece()):
        pieces.append(one[:room])
        room -= len(one)
    return b"".join(pieces)


def inflated(raw: Piece, coding: str) -> Piece:
    """The pieces of a body as they were before they were packed.

    `coding`: the value of content-encoding; what we never ask for is left as it is.
    Raises when read: as `raw`, httpx.DecodingError.
    """
    names = coding.lower().split(",")
    if len(names) > _MOST_CODINGS:
        return _too_many
    for name in reversed(names):
        if name.strip() in _CODINGS:
            raw = _Undone(raw, name.strip()).piece
    return raw


async def _too_many() -> bytes:
    raise httpx.DecodingError(f"more than {_MOST_CODINGS} content codings, one upon another")


class _Undone:
    def __init__(self, raw: Piece, name: str) -> None:
        self._raw = raw
        self._inflater = None if name == "deflate" else zlib.decompressobj(_GZIP_BITS)  # None: not known yet
        self._packed = b""
        self._goes_on = False  # there is more in what has come
        self._total = 0

    async def piece(self) -> bytes:
        while True:
            if self._inflater is not None and self._inflater.eof:
                await start(self._raw, most_bytes=SLICE)  # the end of the answer, and what belongs to nothing
                return b""
            if self._goes_on:
                await asyncio.sleep(0)  # others have their turn
            elif not (come := await self._raw()):
                return b""
            else:
                self._packed += come
            if found := self._slice():
                return found

    def _slice(self) -> bytes:
        if self._inflater is None:
            if len(self._packed) < 2:
                return b""
            self._inflater = zlib.decompressobj(_bits_of(self._packed))
        try:
            found = self._inflater.decompress(self._packed, SLICE)
        except zlib.error as error:
            raise httpx.DecodingError(str(error)) from error
        self._packed = self._inflater.unconsumed_tail
        self._goes_on = len(found) == SLICE
        self._total += len(found)
        if self._total > MOST_PACKED:
            raise Oversized(MOST_PACKED)
        return found


def _bits_of(packed: bytes) -> int:
    """Some servers leave out the head of "deflate". It is RFC 1950's: method 8, and both bytes together a multiple of 31."""
    has_head = packed[0] & 0x0F == 8 and int.from_bytes(packed[:2], "big") % 31 == 0
    return zlib.MAX_WBITS if has_head else -zlib.MAX_WBITS
