"""How long a request may take to arrive. uvicorn waits for ever: a client that sends half a request holds its connection and its memory.

A head has a deadline; a body has to bring something in every window of time, unless it is the server that does not read on.
"""

import asyncio
from typing import Any, Literal

import msgspec
from msgspec import Struct

from api.connection import AnsweringProtocol
from api.problem import Problem, problem

# Longer than the 5 s after which httpx and others give up a connection they don't use, and the 60 s of proxies: a server that gives it up
# in the same moment resets a request that is just being sent.
KEEP_ALIVE_S = 75

_LINES = {408: b"HTTP/1.1 408 Request Timeout\r\n", 431: b"HTTP/1.1 431 Request Header Fields Too Large\r\n"}


class Patience(Struct, frozen=True, kw_only=True):
    head_s: float = 20.0  # from the connection, or a later request's first byte, to the end of its head
    window_s: float = 30.0  # of a body; in each one …
    window_bytes: int = 4 * 1024  # … so much must arrive, or the rest
    head_bytes: int = 64 * 1024


class PatientProtocol(AnsweringProtocol):
    """An HTTP connection that is closed when its request does not arrive, with 408 unless a reply has begun."""

    patience = Patience()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn declares it
        super().connection_made(transport)
        self._awaits: Literal["head", "body", "nothing"] = "nothing"
        self._timer: asyncio.TimerHandle | None = None
        self._bytes = 0  # of the head, or of this window
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._bytes += len(data)
        super().data_received(data)
        if self._awaits == "head" and self._bytes > self.patience.head_bytes:
            self._refuse(problem("too_large", "The head of the request is too large.", status=431))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._awaits == "nothing":
            self._await_head()

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self._awaits = "body"
        self._open_window()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._stop()

    def _await_head(self) -> None:
        self._stop()
        self._awaits = "head"
        self._bytes = 0
        self._timer = self.loop.call_later(self.patience.head_s, self._refuse, _LATE)

    def _open_window(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._bytes = 0
        self._timer = self.loop.call_later(self.patience.window_s, self._look)

    def _look(self) -> None:
        if self.flow.read_paused or self._bytes >= self.patience.window_bytes:
            self._open_window()
        else:
            self._refuse(_LATE)

    def _stop(self) -> None:
        self._awaits = "nothing"
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, told: Problem) -> None:
        self._stop()
        if self.transport.is_closing():
            return
        # After the head of a request the cycle is this request's; before it, the cycle is the one before, or none.
        cycle: Any = self.cycle
        if cycle is None or cycle.response_complete or not cycle.response_started:
            body = msgspec.json.encode(told)
            self.transport.write(
                _LINES[told.status]
                + b"content-type: application/problem+json\r\nx-content-type-options: nosniff\r\nconnection: close\r\n"
                + b"content-length: %d\r\n\r\n" % len(body)
                + body
            )
        self.transport.close()


_LATE = problem("request_timeout", "The request did not arrive in time.", status=408)
