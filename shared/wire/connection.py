"""One HTTP/1.1 connection to a server, read by callbacks: a piece of a body costs one wake-up and a parser in C."""

import asyncio
import socket
import time
from typing import Literal, cast

import httpx
from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from shared.wire.readable import is_readable

MOST_HEAD = 128 * 1024  # bytes of a response's head
MOST_HELD = 1024 * 1024  # bytes of a body that nobody has taken, before the server has to wait
BEAT_S = (
    0.1  # between two pieces of a body that goes on: a model writes faster than anybody needs to see it word by word
)


class Connection(asyncio.Protocol):
    """One exchange after the other; whoever began one takes its head, then its pieces to the end. For one event loop."""

    def __init__(self, *, beat_s: float = BEAT_S) -> None:
        self._beat_s = beat_s
        self._transport: asyncio.Transport | None = None
        self._at: Literal["idle", "head", "body", "over"] = "idle"
        self._waiter: asyncio.Future[None] | None = None
        self._beat: asyncio.TimerHandle | None = None  # wakes whoever waits for a piece that would be early
        self._fault: httpx.TransportError | None = None
        self._lost = False
        self._spoilt = False  # closed by the server after this answer, or told more than was asked
        self._begin()

    def send(self, head: bytes, body: bytes) -> None:
        """Begin an exchange."""
        assert self._transport is not None
        self._begin()
        self._at = "head"
        self._transport.write(head + body)

    async def head(self) -> tuple[int, list[tuple[bytes, bytes]]]:
        """Status and headers, in the server's order. Raises: httpx.ReadError, httpx.RemoteProtocolError."""
        while self._at == "head":
            await self._news()
        return self._parser.get_status_code(), self._headers

    async def piece(self) -> bytes:
        """What has come of the body since the last call, waited for; b"" at its end. Raises: as `head`.

        The first as soon as it is there, those that follow by the beat, the last as soon as the body is over.
        """
        while not self._pieces or self._is_early():
            if self._at == "over":
                return b""
            await self._news()
        self._next_at = asyncio.get_running_loop().time() + self._beat_s
        piece = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        self._held = 0
        if self._paused and self._transport is not None:
            self._paused = False
            self._transport.resume_reading()
        return piece

    @property
    def reusable(self) -> bool:
        """Whether another exchange may begin. A server may have closed what the loop has not read yet: that is looked for."""
        if self._at not in ("idle", "over") or self._spoilt or self._lost or self._fault or self._transport is None:
            return False
        return not is_readable(cast(socket.socket, self._transport.get_extra_info("socket")))

    def idle_s(self) -> float:
        """How long the last exchange has been over."""
        return time.monotonic() - self._over_at

    def close(self) -> None:
        self._spoilt = True
        if self._transport is not None:
            if self._at in ("head", "body"):  # what the server still sends is of no use
                self._transport.abort()
            else:
                self._transport.close()

    def _begin(self) -> None:
        self._parser = HttpResponseParser(self)
        self._headers: list[tuple[bytes, bytes]] = []
        self._head_bytes = 0
        self._bounded = False  # the head says where the body ends
        self._pieces: list[bytes] = []
        self._held = 0
        self._paused = False
        self._next_at = 0.0  # of the loop's time: before it no further piece of a body that goes on
        self._over_at = time.monotonic()

    def _is_early(self) -> bool:
        if self._at != "body" or self._paused or self._fault is not None:
            return False
        return asyncio.get_running_loop().time() < self._next_at

    async def _news(self) -> None:
        if self._fault is not None:
            raise self._fault
        loop = asyncio.get_running_loop()
        self._waiter = loop.create_future()
        if loop.time() < self._next_at:
            self._beat = loop.call_at(self._next_at, self._wake)
        try:
            await self._waiter
        finally:
            self._waiter = None
            if self._beat is not None:
                self._beat.cancel()
                self._beat = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _fail(self, fault: httpx.TransportError) -> None:
        if self._fault is None:
            self._fault = fault
        self.close()
        self._wake()

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self._at == "head":
            self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            self._fail(httpx.RemoteProtocolError(str(error)))
            return
        if self._at == "head" and self._head_bytes > MOST_HEAD:
            self._fail(httpx.RemoteProtocolError("the head of the response is too large"))
        if self._beat is None or self._at != "body" or self._paused:
            self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = True
        if self._at == "body" and not self._bounded and exc is None:
            self._end()
        elif self._at in ("head", "body"):
            self._fail(
                httpx.RemoteProtocolError("the server closed the connection before its response was complete")
                if exc is None
                else httpx.ReadError(str(exc))
            )
        self._wake()

    # httptools

    def on_message_begin(self) -> None:
        if self._at in ("idle", "over"):
            self._spoilt = True

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._at == "head":
            self._headers.append((name, value))
            self._bounded = self._bounded or name.lower() in (b"content-length", b"transfer-encoding")

    def on_headers_complete(self) -> None:
        if self._at != "head":
            return
        if self._parser.get_status_code() < 200:  # "go on": the response itself follows
            self._headers.clear()
            self._bounded = False
        else:
            self._at = "body"

    def on_body(self, body: bytes) -> None:
        if self._at != "body":
            return
        self._pieces.append(body)
        self._held += len(body)
        if self._held > MOST_HELD and not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()

    def on_message_complete(self) -> None:
        if self._at == "body":
            self._spoilt = self._spoilt or not self._parser.should_keep_alive()
            self._end()

    def _end(self) -> None:
        self._at = "over"
        self._over_at = time.monotonic()
