"""Many streams, spread over pools of a few connections."""

import asyncio
from contextlib import ExitStack

import httpx

from shared.wire.clients import STREAMS, Clients


def test_streams_share_a_client_until_it_is_full_and_one_that_has_room_again_comes_first() -> None:
    made: list[httpx.AsyncClient] = []

    def make() -> httpx.AsyncClient:
        made.append(httpx.AsyncClient())
        return made[-1]

    clients = Clients(make)
    with clients.one() as first:
        assert first is made[0]
    with ExitStack() as held:
        taken = [held.enter_context(clients.one()) for _ in range(STREAMS + 1)]
        assert taken == [made[0]] * STREAMS + [made[1]]
    with clients.one() as again:
        assert again is made[0]
    asyncio.run(clients.close())
    assert all(client.is_closed for client in made)
