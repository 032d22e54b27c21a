"""HTTP clients for many streams at once.

httpx's pool looks at all of its connections whenever a request begins or ends, at idle ones through a system call: with 200
streams that costs more than the streams. So there are several pools of a few connections each.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager

import httpx

STREAMS = 8  # of one client, before the next is opened


class Clients:
    """The first client that has room, so that few streams share few connections. For one event loop."""

    def __init__(self, make: Callable[[], httpx.AsyncClient]) -> None:
        self._make = make
        self._clients = [make()]
        self._busy = [0]

    @contextmanager
    def one(self) -> Generator[httpx.AsyncClient]:
        place = next((place for place, busy in enumerate(self._busy) if busy < STREAMS), len(self._busy))
        if place == len(self._busy):
            self._clients.append(self._make())
            self._busy.append(0)
        self._busy[place] += 1
        try:
            yield self._clients[place]
        finally:
            self._busy[place] -= 1

    async def close(self) -> None:
        for client in self._clients:
            await client.aclose()
