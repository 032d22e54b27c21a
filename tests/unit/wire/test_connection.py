"""What is read from a connection doesn't depend on how the network cut it."""

import asyncio
from collections.abc import Sequence
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.wire.connection import MOST_HEAD, MOST_HELD, Connection
from tests.patience import PATIENCE_S

BODY = "data: 你好\n\ndata: bearing\n\n".encode()


class Wire(asyncio.Transport):
    """Takes what is written; notes whether reading is paused and how it was closed."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = b""
        self.reading = True
        self.closed = ""
        self.unsent = 0  # bytes

    def get_write_buffer_size(self) -> int:
        return self.unsent

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.sent += bytes(data)

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def close(self) -> None:
        self.closed = self.closed or "gently"

    def abort(self) -> None:
        self.closed = self.closed or "at once"


def chunked(pieces: Sequence[bytes]) -> bytes:
    coded = b"".join(f"{len(one):x}\r\n".encode() + one + b"\r\n" for one in pieces if one)
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + coded + b"0\r\n\r\n"


def asked(*, beat_s: float = 0.0) -> tuple[Connection, Wire]:
    connection, wire = Connection(beat_s=beat_s), Wire()
    connection.connection_made(wire)
    connection.send(b"POST / HTTP/1.1\r\n\r\n", b"{}")
    return connection, wire


def read(told: Sequence[bytes], *, end: Any = ...) -> tuple[int, dict[bytes, bytes], bytes]:
    """`end`: how the connection ends after that; ... = it stays."""

    async def reading() -> tuple[int, dict[bytes, bytes], bytes]:
        connection, _ = asked()
        for data in told:
            connection.data_received(data)
        if end is not ...:
            connection.connection_lost(end)
        await connection.answered()
        body = b""
        while piece := await connection.piece():
            body += piece
        return connection.status, dict(connection.headers), body

    return asyncio.run(reading())


@st.composite
def cut(draw: st.DrawFn, whole: bytes) -> list[bytes]:
    places = sorted(draw(st.sets(st.integers(1, len(whole) - 1), max_size=8)))
    return [whole[start:end] for start, end in zip([0, *places], [*places, len(whole)], strict=True)]


@given(cut(BODY).flatmap(lambda pieces: cut(chunked(pieces))))
def test_a_body_in_chunks_is_read_however_it_is_cut(told: list[bytes]) -> None:
    assert read(told)[::2] == (200, BODY)


@given(cut(b"HTTP/1.1 404 Not Found\r\nX-Why: \xe6\x97\xa0\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY))
def test_a_body_of_known_length_is_read_however_it_is_cut(told: list[bytes]) -> None:
    assert read(told) == (404, {b"x-why": "无".encode(), b"content-length": b"%d" % len(BODY)}, BODY)


@given(cut(b"HTTP/1.1 200 OK\r\n\r\n" + BODY))
def test_a_body_without_a_length_lasts_until_the_connection_ends(told: list[bytes]) -> None:
    assert read(told, end=None)[2] == BODY


@given(cut(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + chunked([BODY])))
def test_what_comes_ahead_of_the_response_is_passed_over(told: list[bytes]) -> None:
    assert read(told) == (200, {b"transfer-encoding": b"chunked"}, BODY)


@pytest.mark.parametrize(
    ("told", "end", "fault"),
    [
        (b"", None, httpx.RemoteProtocolError),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", None, httpx.RemoteProtocolError),
        (chunked([BODY])[:-5], None, httpx.RemoteProtocolError),
        (chunked([BODY])[:-5], ConnectionResetError(104, "reset"), httpx.ReadError),
        (b"HTTP/1.1 200 OK\r\n\r\nhalf", ConnectionResetError(104, "reset"), httpx.ReadError),
        (b"SSH-2.0-OpenSSH_9\r\n", ..., httpx.RemoteProtocolError),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", ..., httpx.RemoteProtocolError),
        (b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * MOST_HEAD, ..., httpx.RemoteProtocolError),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", None, httpx.RemoteProtocolError),
    ],
)  # fmt: skip
def test_what_is_no_whole_response_is_a_fault_of_its_kind(told: bytes, end: Any, fault: type[Exception]) -> None:
    with pytest.raises(fault):
        read([told] if told else [], end=end)


def test_a_server_waits_while_nobody_takes_what_it_sent() -> None:
    async def reading() -> None:
        connection, wire = asked()
        connection.data_received(b"HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n")
        connection.data_received(b"x" * (MOST_HELD + 1))
        assert not wire.reading
        assert len(await connection.piece()) == MOST_HELD + 1
        assert wire.reading

    asyncio.run(reading())


def test_a_connection_whose_server_had_to_wait_is_free_once_its_body_has_been_taken() -> None:
    large = b"x" * (MOST_HELD + 1)

    async def reading() -> None:
        connection, wire = asked()
        connection.data_received(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(large) + large)
        assert (connection.over, wire.reading) == (False, False)
        assert await connection.piece() == large
        assert (connection.over, wire.reading) == (True, True)

    asyncio.run(reading())


def test_whoever_breaks_off_a_body_takes_the_connection_with_him() -> None:
    async def reading() -> str:
        connection, wire = asked()
        connection.data_received(chunked([BODY])[:-5])
        connection.close()
        assert not connection.reusable
        return wire.closed

    assert asyncio.run(reading()) == "at once"


def test_a_server_that_answers_before_it_has_taken_the_request_is_asked_nothing_more() -> None:
    async def reading() -> tuple[bool, str]:
        connection, wire = asked()
        wire.unsent = 1
        connection.data_received(chunked([BODY]))
        assert await connection.piece() == BODY
        over = connection.over
        connection.close()
        return over, wire.closed

    assert asyncio.run(reading()) == (False, "at once")


def test_a_body_that_ends_with_the_connection_is_not_whole_when_we_end_it() -> None:
    async def reading() -> None:
        connection, _ = asked()
        connection.data_received(b"HTTP/1.1 200 OK\r\n\r\nhalf")
        assert await connection.piece() == b"half"
        connection.abort()
        connection.connection_lost(None)
        await connection.piece()

    with pytest.raises(httpx.ReadError):
        asyncio.run(reading())


OPENED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
TURNS = 5  # of the event loop


async def in_pieces(first: bytes, second: bytes, end: bytes | None) -> tuple[bytes, list[bytes]]:
    """What is taken of a body that comes in these parts, a turn of the loop between them; `end` None: the server hangs up."""
    connection, _ = asked(beat_s=3600)
    taken: list[bytes] = []

    async def take() -> None:
        await connection.answered()
        while piece := await connection.piece():
            taken.append(piece)

    taking = asyncio.create_task(take())
    connection.data_received(OPENED + first)
    await _turns()
    at_once = b"".join(taken)
    connection.data_received(second)
    await _turns()
    assert b"".join(taken) == at_once
    if end is None:
        connection.connection_lost(None)
    else:
        connection.data_received(end)
    try:
        async with asyncio.timeout(PATIENCE_S):
            await taking
    except httpx.RemoteProtocolError:
        assert end is None
    return at_once, taken


async def _turns() -> None:
    for _ in range(TURNS):
        await asyncio.sleep(0)


def test_a_body_comes_at_once_then_by_the_beat_and_its_end_at_once() -> None:
    first, second, third = b"3\r\none\r\n", b"3\r\ntwo\r\n", b"5\r\nthree\r\n0\r\n\r\n"
    at_once, taken = asyncio.run(in_pieces(first, second, third))
    assert at_once == b"one"
    assert taken == [b"one", b"twothree"]


def test_what_came_before_a_server_hung_up_is_not_kept_back() -> None:
    at_once, taken = asyncio.run(in_pieces(b"3\r\none\r\n", b"3\r\ntwo\r\n", None))
    assert (at_once, taken) == (b"one", [b"one", b"two"])


def test_a_server_that_has_to_wait_is_not_kept_waiting_by_the_beat() -> None:
    large = b"x" * (MOST_HELD + 1)

    async def reading() -> int:
        connection, wire = asked(beat_s=3600)
        connection.data_received(OPENED + b"1\r\nx\r\n")
        await connection.answered()
        got = len(await connection.piece())
        connection.data_received(f"{len(large):x}\r\n".encode() + large)
        async with asyncio.timeout(PATIENCE_S):
            got += len(await connection.piece())
        assert wire.reading
        return got

    assert asyncio.run(reading()) == 1 + len(large)
