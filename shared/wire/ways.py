"""The two ways to a server: over our own connections, and through httpx's client where a proxy has to be gone through."""

import ssl
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import ExitStack
from typing import Protocol

import httpx

from shared.wire.bodies import inflated
from shared.wire.clients import STREAMS, Clients
from shared.wire.connection import Connection
from shared.wire.pool import CONNECT_S, Pool

_CODING = "content-encoding"


class Answer(Protocol):
    """The head has come. The body is read once, content encodings undone; who leaves before its end closes the connection.

    Reading raises: httpx.TransportError, httpx.DecodingError.
    """

    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]: ...  # by names in small letters

    def piece(self) -> Awaitable[bytes]:
        """What comes next, waited for; b"" at the end."""
        ...

    async def close(self) -> None:
        """Once."""
        ...


class Direct:
    """The request's head is made once; only its length is new."""

    def __init__(self, url: str, headers: Mapping[str, str], certificates: ssl.SSLContext) -> None:
        """Raises: httpx.InvalidURL, httpx.LocalProtocolError, httpx.UnsupportedProtocol."""
        request = httpx.Request("POST", url, headers=headers)
        if request.url.userinfo:  # as httpx's client does it
            next(httpx.BasicAuth(request.url.username, request.url.password).auth_flow(request))
        self._head = _head(request)
        self._pool = Pool(request.url, certificates)

    async def post(self, body: bytes) -> Answer:
        connection = await self._pool.exchange(b"%bcontent-length: %d\r\n\r\n" % (self._head, len(body)), body)
        return _OverOurs(self._pool, connection)

    async def close(self) -> None:
        self._pool.close()


class Proxied:
    """httpx decides which addresses go through which proxy."""

    def __init__(self, url: str, headers: Mapping[str, str], certificates: ssl.SSLContext) -> None:
        """Raises: httpx.InvalidURL."""
        self._url = httpx.URL(url)
        self._headers = httpx.Headers(headers)
        self._clients = Clients(
            lambda: httpx.AsyncClient(
                timeout=httpx.Timeout(None, connect=CONNECT_S),  # a request as a whole is timed by who makes it
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=STREAMS),
                verify=certificates,
            )
        )

    async def post(self, body: bytes) -> Answer:
        with ExitStack() as held:
            client = held.enter_context(self._clients.one())
            request = httpx.Request("POST", self._url, headers=self._headers, content=body)
            response = await client.send(request, stream=True)
            return _ByHttpx(response, after=held.pop_all().close)

    async def close(self) -> None:
        await self._clients.close()


class _OverOurs:
    def __init__(self, pool: Pool, connection: Connection) -> None:
        self.status = connection.status
        self.headers = _readable(connection.headers)
        self.piece = inflated(connection.piece, self.headers.get(_CODING, ""))
        self._pool = pool
        self._connection = connection

    async def close(self) -> None:
        self._pool.give_back(self._connection)


class _ByHttpx:
    def __init__(self, response: httpx.Response, *, after: Callable[[], None]) -> None:
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers
        pieces = response.aiter_raw()
        self.piece = inflated(lambda: anext(pieces, b""), response.headers.get(_CODING, ""))
        self._response = response
        self._after = after

    async def close(self) -> None:
        try:
            await self._response.aclose()
        finally:
            self._after()


def _readable(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """What came more than once is joined, as HTTP has it."""
    readable: dict[str, str] = {}
    for raw_name, raw_value in headers:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        readable[name] = f"{readable[name]}, {value}" if name in readable else value
    return readable


def _head(request: httpx.Request) -> bytes:
    """Without the length of the body, and without the empty line. Raises: httpx.LocalProtocolError for what would be read as several lines."""
    lines = [request.method.encode("ascii") + b" " + request.url.raw_path + b" HTTP/1.1"]
    lines += [name + b": " + value for name, value in request.headers.raw if name.lower() != b"content-length"]
    if any(mark in line for line in lines for mark in (b"\r", b"\n", b"\0")):
        raise httpx.LocalProtocolError("a line break inside a header")
    return b"\r\n".join(lines) + b"\r\n"
