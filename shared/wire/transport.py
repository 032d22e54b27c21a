"""httpx without its pool and its parser, for servers that are reached directly. Source: decision 0035.

httpx's own transport stays for whoever goes through a proxy.
"""

import asyncio
import socket
import ssl
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import chain, zip_longest
from typing import Any, TypeAlias
from urllib.request import getproxies

import httpx

from shared.wire.connection import Connection

KEPT = 8  # idle connections to one server
KEPT_S = 5.0  # a server closes idle connections too; httpx's own figure
ADDRESS_S = 2.0  # for one of several addresses of a host: an IPv6 that leads nowhere mustn't eat the whole time

_Origin: TypeAlias = tuple[str, str, int]  # scheme, host, port
_Address: TypeAlias = tuple[Any, Any, int, str, tuple[Any, ...]]  # of getaddrinfo


def direct_transport(certificates: ssl.SSLContext, *, trust_env: bool) -> httpx.AsyncBaseTransport | None:
    """None: the environment or the system names a proxy, so httpx's own transport has to decide."""
    return None if trust_env and getproxies() else DirectTransport(certificates)


class DirectTransport(httpx.AsyncBaseTransport):
    """HTTP/1.1 over as many connections as there are requests at once. For one event loop.

    Raises httpx's exceptions: ConnectError, ConnectTimeout, ReadError, ReadTimeout, RemoteProtocolError, LocalProtocolError,
    UnsupportedProtocol.
    """

    def __init__(self, certificates: ssl.SSLContext) -> None:
        certificates.set_alpn_protocols(["http/1.1"])
        self._certificates = certificates
        self._idle: dict[_Origin, deque[Connection]] = defaultdict(deque)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        if url.scheme not in ("http", "https"):
            raise httpx.UnsupportedProtocol(f"no way to reach {url.scheme}://")
        body = await request.aread()
        head = _head(request)
        origin = (url.scheme, url.raw_host.decode("ascii"), url.port or (443 if url.scheme == "https" else 80))
        limits = request.extensions.get("timeout", {})
        connection = self._kept(origin) or await self._connect(origin, limits.get("connect"))
        read_s: float | None = limits.get("read")
        try:
            connection.send(head, body)
            async with _limit(read_s):
                status, headers = await connection.head()
        except BaseException:
            connection.close()
            raise
        return httpx.Response(status, headers=headers, stream=_Body(self, origin, connection, read_s))

    async def aclose(self) -> None:
        for connections in self._idle.values():
            while connections:
                connections.pop().close()

    def give_back(self, origin: _Origin, connection: Connection) -> None:
        """Its exchange is over, or broken off."""
        kept = self._idle[origin]
        if connection.reusable:
            kept.append(connection)
        else:
            connection.close()
        while len(kept) > KEPT or (kept and kept[0].idle_s() > KEPT_S):
            kept.popleft().close()

    def _kept(self, origin: _Origin) -> Connection | None:
        kept = self._idle[origin]
        while kept:
            connection = kept.pop()  # the one used last is the least likely to be closed
            if connection.idle_s() <= KEPT_S and connection.reusable:
                return connection
            connection.close()
        return None

    async def _connect(self, origin: _Origin, seconds: float | None) -> Connection:
        scheme, host, port = origin
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(seconds):
                one = await _connected(host, port)
                secure: dict[str, Any] = {}
                if scheme == "https":
                    secure = {"ssl": self._certificates, "server_hostname": host}
                try:
                    _, connection = await loop.create_connection(Connection, sock=one, **secure)
                except BaseException:
                    one.close()
                    raise
                return connection
        except TimeoutError as error:
            raise httpx.ConnectTimeout("no connection in time") from error
        except (OSError, UnicodeError) as error:  # a name that no resolver takes is a UnicodeError
            raise httpx.ConnectError(str(error)) from error


class _Body(httpx.AsyncByteStream):
    def __init__(self, owner: DirectTransport, origin: _Origin, connection: Connection, read_s: float | None) -> None:
        self._owner = owner
        self._origin = origin
        self._connection: Connection | None = connection
        self._read_s = read_s

    async def __aiter__(self) -> AsyncIterator[bytes]:
        connection, read_s = self._connection, self._read_s
        assert connection is not None
        while True:
            if read_s is None:
                piece = await connection.piece()
            else:
                async with _limit(read_s):
                    piece = await connection.piece()
            if not piece:
                return
            yield piece

    async def aclose(self) -> None:
        if self._connection is not None:
            self._owner.give_back(self._origin, self._connection)
            self._connection = None


@asynccontextmanager
async def _limit(seconds: float | None) -> AsyncGenerator[None]:
    """asyncio.timeout as httpx tells it; None = no limit."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise httpx.ReadTimeout("no answer in time") from error


def _head(request: httpx.Request) -> bytes:
    """Raises: httpx.LocalProtocolError for what would be read as several lines."""
    lines = [request.method.encode("ascii") + b" " + request.url.raw_path + b" HTTP/1.1"]
    lines += [name + b": " + value for name, value in request.headers.raw]
    if any(mark in line for line in lines for mark in (b"\r", b"\n", b"\0")):
        raise httpx.LocalProtocolError("a line break inside a header")
    return b"\r\n".join(lines) + b"\r\n\r\n"


async def _connected(host: str, port: int) -> socket.socket:
    """The first of the host's addresses that answers, both families in turn. Raises: OSError, TimeoutError."""
    loop = asyncio.get_running_loop()
    addresses = in_turn(await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM))
    for place, (family, kind, protocol, _, address) in enumerate(addresses):
        last = place == len(addresses) - 1
        one = socket.socket(family, kind, protocol)
        try:
            one.setblocking(False)
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            async with asyncio.timeout(None if last else ADDRESS_S):
                await loop.sock_connect(one, address)
            return one
        except OSError:  # TimeoutError is one
            one.close()
            if last:
                raise
        except BaseException:
            one.close()
            raise
    raise OSError(f"{host} has no address")


def in_turn(addresses: Sequence[_Address]) -> list[_Address]:
    """The resolver's order within each family, the family it put first ahead."""
    first = [one for one in addresses if one[0] == addresses[0][0]]
    others = [one for one in addresses if one[0] != addresses[0][0]]
    return [one for one in chain.from_iterable(zip_longest(first, others)) if one is not None]
