"""Connections to one server that is reached directly, without httpx's pool and parser. Source: decisions 0035, 0135."""

import asyncio
import socket
import ssl
from collections import deque
from collections.abc import Sequence
from itertools import chain, zip_longest
from typing import Any, TypeAlias

import httpx

from shared.wire.connection import Connection

CONNECT_S = 10.0
KEPT = 64  # idle connections: of two hundred runs in turns some eighty begin and end a reply within a second
KEPT_S = 5.0  # a server closes idle connections too; httpx's own figure
ADDRESS_S = 2.0  # for one of several addresses of a host: an IPv6 that leads nowhere mustn't eat the whole time

_Address: TypeAlias = tuple[Any, Any, int, str, tuple[Any, ...]]  # of getaddrinfo


class Pool:
    """HTTP/1.1 over as many connections as there are exchanges at once. For one event loop.

    Raises httpx's exceptions: ConnectError, ConnectTimeout, ReadError, RemoteProtocolError.
    """

    def __init__(self, url: httpx.URL, certificates: ssl.SSLContext) -> None:
        """Raises: httpx.UnsupportedProtocol."""
        if url.scheme not in ("http", "https"):
            raise httpx.UnsupportedProtocol(f"no way to reach {url.scheme}://")
        self._host = url.raw_host.decode("ascii")
        self._port = url.port or (443 if url.scheme == "https" else 80)
        self._secure: dict[str, Any] = {}
        if url.scheme == "https":
            certificates.set_alpn_protocols(["http/1.1"])
            self._secure = {"ssl": certificates, "server_hostname": self._host}
        self._idle: deque[Connection] = deque()
        self._busy: set[Connection] = set()
        self._connecting: set[asyncio.Timeout] = set()
        self._closed = False

    async def exchange(self, head: bytes, body: bytes) -> Connection:
        """The head of the answer has come; who reads the rest gives the connection back."""
        connection = self._kept() or await self._connect()
        if self._closed:
            connection.abort()
            raise httpx.ReadError("closed while it was connecting")
        self._busy.add(connection)
        try:
            connection.send(head, body)
            await connection.answered()
        except BaseException:
            self._busy.discard(connection)
            connection.close()
            raise
        return connection

    def give_back(self, connection: Connection) -> None:
        """Its exchange is over, or broken off."""
        self._busy.discard(connection)
        kept = self._idle
        if connection.over and not self._closed:
            kept.append(connection)
        else:
            connection.close()
        while len(kept) > KEPT or (kept and kept[0].idle_s() > KEPT_S):
            kept.popleft().close()

    def close(self) -> None:
        """What is under way ends as interrupted."""
        self._closed = True
        for connecting in self._connecting:
            if not connecting.expired():
                connecting.reschedule(0.0)
        for connection in [*self._idle, *self._busy]:
            connection.abort()
        self._idle.clear()

    def _kept(self) -> Connection | None:
        kept = self._idle
        while kept:
            connection = kept.pop()  # the one used last is the least likely to be closed
            if connection.idle_s() <= KEPT_S and connection.reusable:
                return connection
            connection.close()
        return None

    async def _connect(self) -> Connection:
        try:
            async with asyncio.timeout(CONNECT_S) as connecting:
                self._connecting.add(connecting)
                try:
                    return await self._connection()
                finally:
                    self._connecting.discard(connecting)
        except TimeoutError as error:
            if self._closed:
                raise httpx.ReadError("closed while it was connecting") from error
            raise httpx.ConnectTimeout("no connection in time") from error
        except (OSError, UnicodeError) as error:  # a name that no resolver takes is a UnicodeError
            raise httpx.ConnectError(str(error)) from error

    async def _connection(self) -> Connection:
        one = await _connected(self._host, self._port)
        try:
            _, connection = await asyncio.get_running_loop().create_connection(Connection, sock=one, **self._secure)
        except BaseException:
            one.close()
            raise
        return connection


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
