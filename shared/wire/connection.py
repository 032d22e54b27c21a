"""One HTTP/1.1 connection to a server, read by callbacks: a packet costs a parser in C, a piece of the body one timer and one wake-up."""

import asyncio
import socket
from typing import Literal, cast

import httpx
from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from shared.wire.readable import is_readable

MOST_HEAD = 128 * 1024  # bytes of a response's head
MOST_HELD = 1024 * 1024  # bytes of a body that nobody has taken, before the server has to wait
# Between two pieces of a body that goes on: a model writes faster than anybody needs to see it word by word.
BEAT_S = 0.1


class Connection(asyncio.Protocol):
    """One exchange after the other; whoever began one waits for its head, then takes its pieces to the end. For one event loop."""

    def __init__(self, *, beat_s: float = BEAT_S) -> None:
        self._beat_s = beat_s
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._at: Literal["idle", "head", "body", "over"] = "idle"
        self._waiter: asyncio.Future[None] | None = None
        self._beat: asyncio.TimerHandle | None = None  # until then nobody is woken for what a body that goes on brings
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

    async def answered(self) -> None:
        """`status` and `headers` have come. Raises: httpx.ReadError, httpx.RemoteProtocolError."""
        while self._at == "head":
            await self._news()

    @property
    def status(self) -> int:
        return self._parser.get_status_code()

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """In the server's order."""
        return self._headers

    @property
    def over(self) -> bool:
        """Whether the exchange has ended in good order and the server has not said that it was the last.

        One that the server had to wait in is not, until its body has been taken: nothing behind it is read.
        """
        return self._at == "over" and not (self._spoilt or self._lost or self._paused or self._unsent)

    @property
    def _unsent(self) -> bool:
        """A server may answer before it has taken the whole request."""
        return self._transport is not None and self._transport.get_write_buffer_size() > 0

    @property
    def reusable(self) -> bool:
        """Whether another exchange may begin. A server may have closed what the loop has not read yet: that is looked for."""
        if not self.over or self._transport is None:
            return False
        return not is_readable(cast(socket.socket, self._transport.get_extra_info("socket")))

    async def piece(self) -> bytes:
        """What has come of the body since the last call, waited for; b"" at its end. Raises: as `answered`.

        The first as soon as it is there, those that follow by the beat, the last as soon as the body is over.
        """
        while self._beat is not None or not self._pieces:
            if self._at == "over" and not self._pieces:
                return b""
            await self._news()
        pieces, self._pieces = self._pieces, []
        self._held = 0
        if self._at == "body" and self._fault is None:
            self._beat = self._loop.call_later(self._beat_s, self._on_beat)
        if self._paused and self._transport is not None:
            self._paused = False
            self._transport.resume_reading()
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def idle_s(self) -> float:
        """How long the last exchange has been over."""
        return self._loop.time() - self._over_at

    def close(self) -> None:
        self._spoilt = True
        self._stop_beat()
        if self._transport is not None:
            if self._at in ("head", "body") or self._unsent:  # what either side still sends is of no use
                self._transport.abort()
            else:
                self._transport.close()

    def abort(self) -> None:
        """Close at once; whoever waits for something is told."""
        if self._at in ("head", "body"):
            self._fail(httpx.ReadError("closed while it was in use"))
        elif self._transport is not None:
            self._spoilt = True
            self._transport.abort()

    def _begin(self) -> None:
        self._parser = HttpResponseParser(self)
        self._headers: list[tuple[bytes, bytes]] = []
        self._head_bytes = 0
        self._bounded = False  # the head says where the body ends
        self._pieces: list[bytes] = []
        self._held = 0
        self._paused = False
        self._over_at = self._loop.time()

    async def _news(self) -> None:
        """Until something has happened that a reader may want to know."""
        if self._fault is not None:
            raise self._fault
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _on_beat(self) -> None:
        self._beat = None
        if self._pieces:
            self._wake()

    def _stop_beat(self) -> None:
        if self._beat is not None:
            self._beat.cancel()
            self._beat = None

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
        elif self._beat is None:
            self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = True
        if self._at == "body" and not self._bounded and exc is None and self._fault is None:
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
            name = name.lower()
            self._headers.append((name, value))
            self._bounded = self._bounded or name in (b"content-length", b"transfer-encoding")

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
            self._stop_beat()  # a server that has to wait is not kept waiting by it

    def on_message_complete(self) -> None:
        if self._at == "body":
            self._spoilt = self._spoilt or not self._parser.should_keep_alive()
            self._end()

    def _end(self) -> None:
        self._at = "over"
        self._over_at = self._loop.time()
        self._stop_beat()
