"""Requests that arrive by drops, or never."""

import socket
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from urllib.parse import urlsplit

import pytest

from api.patience import Patience, PatientProtocol
from tests.contract.http.site import Site
from tests.patience import PATIENCE_S


class Hasty(PatientProtocol):
    patience = Patience(head_s=0.2, window_s=0.2, window_bytes=1_000, head_bytes=2_000)


@contextmanager
def connection(address: str) -> Generator[socket.socket]:
    parts = urlsplit(address)
    with closing(socket.create_connection((parts.hostname or "", parts.port or 0), timeout=PATIENCE_S)) as one:
        yield one


def rest(one: socket.socket) -> bytes:
    """Everything until the server closes; it cuts a connection on which something came after that."""
    told = b""
    with suppress(ConnectionResetError):
        while piece := one.recv(65_536):
            told += piece
    return told


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET /healthz HT",
        b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",
        b"POST /api/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{",
        b"POST /api/imports HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n5\r\n{",
    ],
    ids=["nothing", "half a line", "half a header", "half a body", "half a chunk"],
)
def test_half_a_request_is_ended_with_408(site: Site, sent: bytes) -> None:
    with site.live(http=Hasty) as address, connection(address) as one:
        one.sendall(sent)
        told = rest(one)
    assert told.startswith(b"HTTP/1.1 408 ")
    assert b'"code":"request_timeout"' in told
    assert b"remedy" in told


def test_a_head_without_end_is_refused_as_soon_as_it_is_too_large(site: Site) -> None:
    class Unhurried(PatientProtocol):
        patience = Patience(head_bytes=2_000)

    with site.live(http=Unhurried) as address, connection(address) as one:
        one.sendall(b"GET /healthz HTTP/1.1\r\nX-Long: " + b"a" * 3_000)
        assert rest(one).startswith(b"HTTP/1.1 431 ")


def test_the_second_request_of_a_connection_has_its_own_time(site: Site) -> None:
    class Tiring(PatientProtocol):
        patience = Patience()

    with site.live(http=Tiring) as address, connection(address) as one:
        one.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert one.recv(65_536).startswith(b"HTTP/1.1 200 ")
        Tiring.patience = Hasty.patience
        one.sendall(b"GET /heal")
        assert rest(one).startswith(b"HTTP/1.1 408 ")


def test_a_reply_that_takes_long_is_waited_for(site: Site) -> None:
    """The request arrived; how long the answer takes is nobody's fault."""
    site.publish()
    body = '{"question":"年假？"}'.encode()
    head = f"POST /api/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\nContent-Length: {len(body)}\r\n"

    class NoTimeAtAll(PatientProtocol):
        patience = Patience(window_s=0.0)

    with site.live(http=NoTimeAtAll) as address, connection(address) as one:
        one.sendall(head.encode() + b"Content-Type: application/json\r\nConnection: close\r\n\r\n" + body)
        told = rest(one)
    assert told.startswith(b"HTTP/1.1 200 ")
    assert b"run.completed" in told
