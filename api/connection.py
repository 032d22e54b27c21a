"""An HTTP connection that answers where uvicorn's doesn't: a client that has closed its own side, and one that speaks HTTP/1.0.

A client that sends no more may wait for its reply still (`nc -N`), or be gone: both look the same, until something is sent to it (decision
0149). So something is sent: `100 Continue`, which a client of HTTP/1.1 passes over, and a comment once events are being sent. The connection of
one that is gone breaks at that. HTTP/1.0 knows no `100 Continue`: a reply that begins soon is given, and who waits longer is taken for gone.
"""

import asyncio
from typing import Any

from uvicorn._types import ASGI3Application, ASGIReceiveCallable, ASGISendCallable, ASGISendEvent, Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from api.live import EVENTS

_PROBE = b"HTTP/1.1 100 Continue\r\n\r\n"
_COMMENT = b":\n\n"


class AnsweringProtocol(HttpToolsProtocol):
    probes_s = (
        0.05,
        0.05,
        0.5,
        2.0,
    )  # before each; the last again and again. That a client is gone shows at the second
    old_s = 1.0  # for a reply in HTTP/1.0 to begin, once its client has closed its side
    _probing: asyncio.TimerHandle | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        if self._probing is not None:
            self._probing.cancel()
        super().connection_lost(exc)

    def eof_received(self) -> bool:  # type: ignore[override]  # asyncio's; uvicorn's never keeps the connection
        """The client sends no more. True: the connection stays until what was asked is answered."""
        cycle: Any = self.cycle  # of the request that came last; None before the first
        if cycle is None or cycle.response_complete or cycle.more_body:
            return False
        cycle.keep_alive = False
        if cycle.scope["http_version"] == "1.0":
            self._probing = self.loop.call_later(self.old_s, self._give_up, cycle)
        else:
            self._probing = self.loop.call_later(self.probes_s[0], self._probe, cycle, 1)
        return True

    def _probe(self, cycle: RequestResponseCycle, number: int) -> None:
        if self.transport.is_closing() or cycle.response_complete:
            return
        if cycle.response_started:
            if EVENTS not in cycle.scope:
                return  # what is left of the reply finds out
            size = b"%x\r\n" % len(_COMMENT)
            self.transport.write(b"%b%b\r\n" % (size, _COMMENT) if cycle.chunked_encoding else _COMMENT)
        elif not self.pipeline:  # else a reply before it is being sent
            self.transport.write(_PROBE)
        wait_s = self.probes_s[min(number, len(self.probes_s) - 1)]
        self._probing = self.loop.call_later(wait_s, self._probe, cycle, number + 1)

    def _give_up(self, cycle: RequestResponseCycle) -> None:
        if cycle.response_started:
            self._probe(cycle, 1)
        else:
            self.transport.close()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        super()._start_asgi_task(cycle, _ended_by_closing(app, cycle) if cycle.scope["http_version"] == "1.0" else app)


def _ended_by_closing(app: ASGI3Application, cycle: RequestResponseCycle) -> ASGI3Application:
    """HTTP/1.0 knows no chunks: a body of unknown length goes on until the connection is closed."""

    async def answer(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        endless = False

        async def send_unchunked(message: ASGISendEvent) -> None:
            nonlocal endless
            if message["type"] == "http.response.start":
                endless = all(name.lower() != b"content-length" for name, _ in message.get("headers", ()))
                if endless:
                    cycle.chunked_encoding = False
            elif endless and message["type"] == "http.response.body":
                cycle.expected_content_length = len(message.get("body", b""))
            await send(message)

        await app(scope, receive, send_unchunked)

    return answer
