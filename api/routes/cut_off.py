"""A request that the server's end cuts off is told so, in its protocol's words."""

import asyncio

from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from shared.errors import ServerStopping


class CutOff(ASGIMiddleware):
    """uvicorn cancels what outlasts its grace, and would say that of its own, as a 500. Nobody else cancels a request."""

    scopes = (ScopeType.HTTP,)

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await next_app(scope, receive, sending)
        except asyncio.CancelledError as error:
            if begun:
                raise
            raise ServerStopping(
                "The server is being stopped before this was done. Ask again when it is back."
            ) from error
