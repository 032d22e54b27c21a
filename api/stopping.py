"""The end of the server: runs under way are stopped while those who wait for them can still be told."""

import asyncio
import socket
from collections.abc import Callable

import uvicorn

FINISH_S = 2.0  # for runs that are nearly done
STOP_S = 4  # after which connections are cut; what lies between is for runs to be recorded and told of


class Server(uvicorn.Server):
    """uvicorn cuts what is under way after its grace, in the middle of a stream and in no protocol's words."""

    def __init__(self, config: uvicorn.Config, *, stop_runs: Callable[[], None]) -> None:
        """`config`: with a grace that is longer than `FINISH_S`."""
        super().__init__(config)
        self._stop_runs = stop_runs

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        timer = asyncio.get_running_loop().call_later(FINISH_S, self._stop_runs)
        try:
            await super().shutdown(sockets)
        finally:
            timer.cancel()
