"""One address of a provider, to which JSON is posted: what chat, embeddings and rerank have in common. Source: decision 0135."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from typing import Any
from urllib.request import getproxies

import httpx
import msgspec

from shared.errors import SettingsError
from shared.loopback import leads_to_loopback
from shared.wire.ways import Answer, Direct, Proxied

_ALWAYS = {
    "accept": "*/*",
    "accept-encoding": "gzip, deflate",
    "connection": "keep-alive",
    "user-agent": f"python-httpx/{httpx.__version__}",
}


class Endpoint:
    """For any event loop: each has connections of its own, which are closed when it ends.

    Nothing is sent twice, no redirect is followed, no cookie is kept. Where the environment or the system names a proxy,
    httpx's own client does the work.
    """

    def __init__(self, url: str, *, headers: Mapping[str, str]) -> None:
        """Raises: SettingsError: a proxy is named that can't be gone through."""
        self._url = url
        self._headers = {**_ALWAYS, **headers, "content-type": "application/json"}
        self._trust_env = not leads_to_loopback(url)  # no proxy between two processes of one machine
        self._certificates = httpx.create_ssl_context(trust_env=self._trust_env)
        self._proxied = self._trust_env and has_proxy(url)
        if self._proxied:
            check_proxies()
        self._ways: dict[asyncio.AbstractEventLoop, Direct | Proxied] = {}
        self._lasting: dict[asyncio.AbstractEventLoop, AsyncGenerator[Direct | Proxied]] = {}
        self._closed = False

    async def post(self, body: Any) -> Answer:
        """One attempt, whose answer is to be closed. body: what msgspec makes JSON of.

        Raises: httpx.TransportError, httpx.InvalidURL; RuntimeError after `close`.
        """
        loop = asyncio.get_running_loop()
        way = self._ways.get(loop) or await self._opened(loop)
        if self._closed:  # looked at last: a `close` in another thread may not have seen this way yet
            await self._end(loop)
            raise RuntimeError(f"{self._url} is closed")
        return await way.post(msgspec.json.encode(body))

    def close(self) -> None:
        """From any thread: each loop closes its own connections as soon as it gets to it. What is under way ends as interrupted."""
        self._closed = True
        for loop in list(self._lasting):
            ending = self._end(loop)
            try:
                asyncio.run_coroutine_threadsafe(ending, loop)
            except RuntimeError:  # that loop is closed
                ending.close()

    async def _opened(self, loop: asyncio.AbstractEventLoop) -> Direct | Proxied:
        for other in list(self._lasting):
            if other.is_closed():  # without `shutdown_asyncgens`; its sockets go with their last reference
                self._ways.pop(other, None)
                self._lasting.pop(other, None)
        lasting = self._open(loop)
        way = await anext(lasting)
        self._ways[loop], self._lasting[loop] = way, lasting
        return way

    async def _open(self, loop: asyncio.AbstractEventLoop) -> AsyncGenerator[Direct | Proxied]:
        """A generator because a loop ends those before it is closed itself (`shutdown_asyncgens`)."""
        if self._proxied:
            way = Proxied(self._url, self._headers, self._certificates)
        else:
            way = Direct(self._url, self._headers, self._certificates)
        try:
            yield way
        finally:
            self._ways.pop(loop, None)
            self._lasting.pop(loop, None)
            await way.close()

    async def _end(self, loop: asyncio.AbstractEventLoop) -> None:
        """Inside that loop."""
        if lasting := self._lasting.pop(loop, None):
            await lasting.aclose()


def has_proxy(url: str) -> bool:
    """Whether the environment or the system names one for such addresses. `no_proxy` alone names none."""
    proxies = getproxies()
    return any(proxies.get(scheme) for scheme in (url.partition(":")[0].lower(), "all"))


def check_proxies() -> None:
    """Whether those of the environment or the system are of a kind that httpx knows. Raises: SettingsError."""
    try:
        httpx.Client(verify=False).close()
    except ValueError as error:
        raise SettingsError(
            f"A proxy that this machine names can't be used: {error}. Set HTTP_PROXY, HTTPS_PROXY or ALL_PROXY to http://host:port or"
            " socks5://host:port, or unset them."
        ) from error
