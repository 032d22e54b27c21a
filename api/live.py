"""Replies that go on while something happens: server-sent events, with little between who tells them and the server.

The framework's streaming response costs every reply a group of tasks, and a piece of nothing at its end.
"""

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, cast

from litestar.response.base import ASGIResponse, Response
from litestar.types import Receive, Scope, Send

from api.running import AskerGone, unless_gone

Tell: TypeAlias = Callable[[bytes], Awaitable[None]]
Produce: TypeAlias = Callable[[Tell], Awaitable[bytes]]

EVENTS = "citebound.events"  # in the scope of a request that is answered with events, each piece of which ends between two of them

_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # nginx must not hold events back


class Live(Response[None]):
    """Server-sent events. `produce` tells them in pieces and returns the last one; it is cancelled when its asker goes away."""

    def __init__(self, produce: Produce) -> None:
        super().__init__(None)
        self._produce = produce

    def to_asgi_response(self, app: Any, request: Any, **_options: Any) -> ASGIResponse:
        return _Reply(self._produce)


class _Reply(ASGIResponse):
    _should_set_content_length = False

    def __init__(self, produce: Produce) -> None:
        super().__init__(headers=_HEADERS, media_type="text/event-stream")
        self._produce = produce

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        cast(dict[str, Any], scope)[EVENTS] = True
        await super().__call__(scope, receive, send)

    async def send_body(self, send: Send, receive: Receive) -> None:
        async def tell(piece: bytes) -> None:
            await send({"type": "http.response.body", "body": piece, "more_body": True})

        try:
            last = await unless_gone(receive, self._produce(tell))
        except AskerGone:
            return
        await send({"type": "http.response.body", "body": last, "more_body": False})
