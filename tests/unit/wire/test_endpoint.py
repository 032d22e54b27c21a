"""One address of a provider against servers that say what they were told to, on real sockets, over both ways."""

import asyncio
import gc
import gzip
import shutil
import socket
import ssl
import subprocess
import weakref
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from shared.errors import SettingsError
from shared.wire.bodies import whole
from shared.wire.endpoint import Endpoint, has_proxy
from shared.wire.pool import KEPT, KEPT_S, Pool, in_turn
from tests.patience import PATIENCE_S

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n\xe4\xbd\xa0\xe5\xa5\xbd"
CLOSES = OK.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)
BOTH = pytest.mark.parametrize("proxied", [False, True], ids=["direct", "proxied"])


class Loop(asyncio.SelectorEventLoop):
    """Its clock can be turned on; `on_connected` is called when a connection has come about, before who asked for it learns of that."""

    ahead_s = 0.0
    on_connected: Callable[[], None] | None = None

    def time(self) -> float:
        return super().time() + self.ahead_s

    async def create_connection(self, *args: Any, **kwargs: Any) -> Any:
        made = await super().create_connection(*args, **kwargs)
        if self.on_connected is not None:
            self.on_connected()
        return made


class Server:
    """Answers every request with `answer`; `connections` were opened. `after`: what becomes of one that was answered."""

    def __init__(self, answer: bytes, *, after: str = "stays") -> None:
        self.answer = answer
        self.after = after
        self.connections = 0
        self.heads: list[bytes] = []
        self.bodies: list[bytes] = []
        self.opened = asyncio.Event()
        self.asked = asyncio.Event()
        self.gone = asyncio.Event()  # a client went away

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.opened.set()
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.heads.append(head)
                length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
                self.bodies.append(await reader.readexactly(length))
                self.asked.set()
                writer.write(self.answer)
                if self.after == "closes":
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            self.gone.set()
        finally:
            writer.close()


async def told(endpoint: Endpoint, body: Any = None) -> tuple[int, str]:
    answer = await endpoint.post(body)
    try:
        return answer.status, (await whole(answer.piece, most_bytes=10_000_000)).decode()
    finally:
        await answer.close()


def in_a_loop(work: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=Loop) as runner:
        runner.run(work)


def against(
    server: Callable[[], Server],
    work: Callable[[Endpoint, Server], Awaitable[None]],
    *,
    proxied: bool = False,
    address: str = "http://{server}/v1/问?q=1",
    **headers: str,
) -> None:
    """`proxied`: the server is the proxy of an address that nothing else leads to."""

    async def running() -> None:
        one = server()
        listening = await asyncio.start_server(one.serve, "127.0.0.1", 0)
        there = f"127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        async with listening:
            with pytest.MonkeyPatch.context() as environment:
                if proxied:
                    environment.setenv("http_proxy", f"http://{there}")
                    there = "provider.example.test"
                endpoint = Endpoint(address.format(server=there), headers=headers)
                try:
                    await work(endpoint, one)
                finally:
                    endpoint.close()
                    await asyncio.sleep(0)

    in_a_loop(running())


@BOTH
def test_requests_in_a_row_share_a_connection_and_arrive_as_they_were_sent(proxied: bool) -> None:
    async def work(endpoint: Endpoint, server: Server) -> None:
        for question in ("润滑", "bearing"):
            assert await told(endpoint, {"q": question}) == (200, "你好")
        assert server.connections == 1
        target = "http://provider.example.test/v1/%E9%97%AE?q=1" if proxied else "/v1/%E9%97%AE?q=1"
        first, _, lines = server.heads[0].decode().partition("\r\n")
        assert first == f"POST {target} HTTP/1.1"
        headers = dict(line.lower().split(": ", 1) for line in lines.strip().split("\r\n"))
        assert headers.pop("host").startswith("provider.example.test" if proxied else "127.0.0.1:")
        assert headers.pop("user-agent").startswith("python-httpx/")
        assert headers == {
            "accept": "*/*",
            "accept-encoding": "gzip, deflate",
            "connection": "keep-alive",
            "x-key": "k",
            "content-type": "application/json",
            "content-length": str(len(server.bodies[0])),
        }
        assert server.bodies == ['{"q":"润滑"}'.encode(), b'{"q":"bearing"}']

    against(lambda: Server(OK), work, proxied=proxied, **{"x-key": "k"})


@BOTH
def test_what_a_user_and_password_in_the_address_say_takes_the_place_of_a_key(proxied: bool) -> None:
    async def work(endpoint: Endpoint, server: Server) -> None:
        await told(endpoint)
        assert b"authorization: basic dTpw\r\n".lower() in server.heads[0].lower()
        assert b"dTpw" in server.heads[0]
        assert b"u:p@" not in server.heads[0]

    against(lambda: Server(OK), work, proxied=proxied, address="http://u:p@{server}/v1", authorization="Bearer k")


@BOTH
def test_a_redirect_is_handed_on_and_not_followed(proxied: bool) -> None:
    async def work(endpoint: Endpoint, server: Server) -> None:
        assert await told(endpoint) == (302, "")
        assert len(server.heads) == 1

    moved = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/login\r\nContent-Length: 0\r\n\r\n"
    against(lambda: Server(moved), work, proxied=proxied)


@BOTH
def test_a_cookie_is_not_sent_back(proxied: bool) -> None:
    async def work(endpoint: Endpoint, server: Server) -> None:
        for _ in range(2):
            await told(endpoint)
        assert not any(b"cookie" in head.lower() for head in server.heads)

    against(lambda: Server(OK.replace(b"\r\n", b"\r\nSet-Cookie: a=b; Path=/\r\n", 1)), work, proxied=proxied)


def zipped(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body) + body


@BOTH
def test_a_body_in_gzip_is_read_and_its_connection_used_again(proxied: bool) -> None:
    async def work(endpoint: Endpoint, server: Server) -> None:
        for _ in range(2):
            assert await told(endpoint) == (200, "你好 hello")
        assert server.connections == 1

    against(lambda: Server(zipped(gzip.compress("你好 hello".encode()))), work, proxied=proxied)


@BOTH
@pytest.mark.parametrize("answer", [OK, zipped(gzip.compress("你好".encode()))], ids=["plain", "gzip"])
def test_a_header_that_is_not_ascii_is_no_hindrance(proxied: bool, answer: bytes) -> None:
    async def work(endpoint: Endpoint, server: Server) -> None:
        for _ in range(2):
            assert await told(endpoint) == (200, "你好")
        assert server.connections == 1

    named = "\r\nX-Region: 北京\r\nX-Odd: \xff\r\n".encode()
    against(lambda: Server(answer.replace(b"\r\n", named, 1)), work, proxied=proxied)


@BOTH
def test_a_body_that_is_not_in_the_encoding_it_names_is_told_as_that(proxied: bool) -> None:
    async def work(endpoint: Endpoint, server: Server) -> None:
        with pytest.raises(httpx.DecodingError):
            await told(endpoint)

    against(lambda: Server(zipped(b"no gzip")), work, proxied=proxied)


def test_headers_are_found_in_small_letters_and_joined_where_there_are_several() -> None:
    async def work(endpoint: Endpoint, server: Server) -> None:
        answer = await endpoint.post(None)
        assert answer.headers == {"content-length": "6", "retry-after": "3", "x-two": "a, b"}
        await answer.close()

    more = b"\r\nRetry-After: 3\r\nX-Two: a\r\nX-Two: b\r\n"
    against(lambda: Server(OK.replace(b"\r\n", more, 1)), work)


def test_requests_at_once_have_a_connection_each() -> None:
    async def work(endpoint: Endpoint, server: Server) -> None:
        assert set(await asyncio.gather(*(told(endpoint) for _ in range(20)))) == {(200, "你好")}
        assert server.connections == 20

    against(lambda: Server(OK), work)


def test_of_connections_that_were_needed_at_once_no_more_than_a_number_are_kept() -> None:
    async def work(endpoint: Endpoint, server: Server) -> None:
        for _ in range(2):
            answers = [await endpoint.post(None) for _ in range(KEPT + 2)]
            for answer in answers:
                await whole(answer.piece, most_bytes=10_000_000)
                await answer.close()
        assert server.connections == KEPT + 4

    against(lambda: Server(OK), work)


def test_a_connection_that_was_idle_for_long_is_not_used_again() -> None:
    async def work(endpoint: Endpoint, server: Server) -> None:
        loop = cast(Loop, asyncio.get_running_loop())
        for later_s, connections in ((0, 1), (KEPT_S - 1, 1), (KEPT_S + 1, 2)):
            loop.ahead_s += later_s
            assert await told(endpoint) == (200, "你好")
            assert server.connections == connections

    against(lambda: Server(OK), work)


def test_a_connection_that_was_idle_for_long_is_closed_when_another_becomes_idle() -> None:
    async def work(endpoint: Endpoint, server: Server) -> None:
        answers = [await endpoint.post(None) for _ in range(2)]
        for answer in answers:
            await whole(answer.piece, most_bytes=10_000_000)
            await answer.close()
            cast(Loop, asyncio.get_running_loop()).ahead_s += KEPT_S + 1
        async with asyncio.timeout(PATIENCE_S):
            await server.gone.wait()

    against(lambda: Server(OK), work)


@pytest.mark.parametrize(
    ("answer", "after"),
    [(CLOSES, "stays"), (CLOSES, "closes"), (OK, "closes"), (OK + b"HTTP/1.1 200 OK\r\n", "stays")],
)
def test_a_connection_that_can_not_be_used_again_is_not(answer: bytes, after: str) -> None:
    async def work(endpoint: Endpoint, server: Server) -> None:
        for _ in range(3):
            assert await told(endpoint) == (200, "你好")
        assert server.connections == 3

    against(lambda: Server(answer, after=after), work)


@BOTH
def test_an_asker_that_goes_away_closes_his_connection(proxied: bool) -> None:
    async def work(endpoint: Endpoint, server: Server) -> None:
        answer = await endpoint.post(None)
        assert await answer.piece() == "你好".encode()
        await answer.close()
        async with asyncio.timeout(PATIENCE_S):
            await server.gone.wait()

    against(lambda: Server(OK.replace(b"6", b"600")), work, proxied=proxied)


@BOTH
@pytest.mark.parametrize("answer", [b"", OK.replace(b"6", b"600")], ids=["before the head", "inside the body"])
def test_a_cancelled_asker_closes_his_connection(proxied: bool, answer: bytes) -> None:
    async def work(endpoint: Endpoint, server: Server) -> None:
        asking = asyncio.create_task(told(endpoint))
        async with asyncio.timeout(PATIENCE_S):
            await server.asked.wait()
            asking.cancel()
            await server.gone.wait()

    against(lambda: Server(answer), work, proxied=proxied)


def test_closing_from_another_thread_ends_what_is_under_way_and_refuses_what_comes() -> None:
    async def work(endpoint: Endpoint, server: Server) -> None:
        asking = asyncio.create_task(told(endpoint))
        async with asyncio.timeout(PATIENCE_S):
            await server.asked.wait()
            await asyncio.to_thread(endpoint.close)
            with pytest.raises(httpx.ReadError):
                await asking
            await server.gone.wait()
        with pytest.raises(RuntimeError, match="closed"):
            await endpoint.post(None)

    against(lambda: Server(b""), work)


def test_closing_ends_what_is_still_connecting() -> None:
    async def work(endpoint: Endpoint, server: Server) -> None:
        asking = asyncio.create_task(told(endpoint))
        async with asyncio.timeout(PATIENCE_S):
            await server.opened.wait()  # and says nothing to the client's greeting
            await asyncio.to_thread(endpoint.close)
            with pytest.raises(httpx.ReadError):
                await asking
            await server.gone.wait()

    against(lambda: Server(b""), work, address="https://{server}/v1")


def test_a_connection_that_comes_about_as_its_pool_is_closed_is_closed_too() -> None:
    async def running() -> None:
        server = Server(b"")
        async with await asyncio.start_server(server.serve, "127.0.0.1", 0) as listening, asyncio.timeout(PATIENCE_S):
            port = listening.sockets[0].getsockname()[1]
            pool = Pool(httpx.URL(f"http://127.0.0.1:{port}"), ssl.create_default_context())
            cast(Loop, asyncio.get_running_loop()).on_connected = pool.close
            with pytest.raises(httpx.ReadError):
                await pool.exchange(b"POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n", b"")
            await server.gone.wait()

    in_a_loop(running())


@BOTH
def test_closing_closes_what_is_idle(proxied: bool) -> None:
    async def work(endpoint: Endpoint, server: Server) -> None:
        await told(endpoint)
        endpoint.close()
        async with asyncio.timeout(PATIENCE_S):
            await server.gone.wait()

    against(lambda: Server(OK), work, proxied=proxied)


@BOTH
def test_every_event_loop_has_connections_of_its_own_that_end_with_it(proxied: bool) -> None:
    async def work(endpoint: Endpoint, server: Server) -> None:
        for number in (1, 2):
            server.gone.clear()
            assert await asyncio.to_thread(lambda: asyncio.run(told(endpoint))) == (200, "你好")
            async with asyncio.timeout(PATIENCE_S):
                await server.gone.wait()
            assert server.connections == number

    against(lambda: Server(OK), work, proxied=proxied)


def asked_in_a_loop_that_ends_without_a_word(endpoint: Endpoint) -> weakref.ref[asyncio.AbstractEventLoop]:
    """Its asynchronous generators are not shut down."""
    loop = asyncio.new_event_loop()
    assert loop.run_until_complete(told(endpoint)) == (200, "你好")
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    return weakref.ref(loop)


def test_an_event_loop_that_ended_without_a_word_is_forgotten_at_the_next_ones_first_question() -> None:
    async def work(endpoint: Endpoint, server: Server) -> None:
        ended = await asyncio.to_thread(asked_in_a_loop_that_ends_without_a_word, endpoint)
        gc.collect()
        assert ended() is not None
        await told(endpoint)
        gc.collect()
        assert ended() is None

    against(lambda: Server(CLOSES), work)


def test_closing_passes_over_an_event_loop_that_ended_without_a_word() -> None:
    async def work(endpoint: Endpoint, server: Server) -> None:
        await asyncio.to_thread(asked_in_a_loop_that_ends_without_a_word, endpoint)
        endpoint.close()

    against(lambda: Server(CLOSES), work)


@pytest.mark.parametrize(
    ("names", "proxied"),
    [
        ({}, False),
        ({"no_proxy": "localhost,127.0.0.1"}, False),
        ({"http_proxy": "http://127.0.0.1:3128", "no_proxy": "localhost"}, True),
        ({"all_proxy": "http://127.0.0.1:3128"}, True),
        ({"https_proxy": "http://127.0.0.1:3128"}, False),
        ({"ftp_proxy": "http://127.0.0.1:3128"}, False),
        ({"http_proxy": ""}, False),
    ],
)
def test_only_a_proxy_for_the_address_itself_is_one(
    monkeypatch: pytest.MonkeyPatch, names: dict[str, str], proxied: bool
) -> None:
    for scheme in ("http", "https", "all", "ftp", "no"):
        monkeypatch.delenv(f"{scheme}_proxy", raising=False)
        monkeypatch.delenv(f"{scheme}_proxy".upper(), raising=False)
    for name, value in names.items():
        monkeypatch.setenv(name, value)
    assert has_proxy("HTTP://provider.example.test/v1") == proxied


@pytest.mark.parametrize("header", ["a\r\nx-more: b", "a\nb", "a\0b"])
def test_a_header_of_several_lines_is_not_sent(header: str) -> None:
    async def work(endpoint: Endpoint, server: Server) -> None:
        with pytest.raises(httpx.LocalProtocolError):
            await endpoint.post(None)
        assert not server.heads

    against(lambda: Server(OK), work, authorization=header)


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        (f"http://{'a' * 64}.example/", httpx.ConnectError),
        ("ftp://example.org/", httpx.UnsupportedProtocol),
        ("http://exa\tmple.org/", httpx.InvalidURL),
    ],
)
def test_what_can_not_be_reached_is_told_as_httpx_does_when_it_is_asked(url: str, fault: type[Exception]) -> None:
    endpoint = Endpoint(url, headers={})
    with pytest.raises(fault):
        asyncio.run(endpoint.post(None))


def test_a_port_where_nobody_listens_is_told_as_httpx_does() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        endpoint = Endpoint(f"http://127.0.0.1:{bound.getsockname()[1]}", headers={})
        with pytest.raises(httpx.ConnectError):
            asyncio.run(endpoint.post(None))


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes its certificate with openssl")
def test_a_server_has_to_show_a_certificate_that_is_trusted(tmp_path: Path) -> None:
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", "key.pem", "-out", "cert.pem"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    own = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    own.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")

    async def running() -> None:
        listening = await asyncio.start_server(Server(OK).serve, "127.0.0.1", 0, ssl=own)
        port = listening.sockets[0].getsockname()[1]
        trusting = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
        async with listening:
            assert await status(f"https://localhost:{port}", trusting) == 200
            with pytest.raises(httpx.ConnectError, match="certificate"):  # the name is not in it
                await status(f"https://127.0.0.1:{port}", trusting)
            with pytest.raises(httpx.ConnectError, match="certificate"):
                await status(f"https://localhost:{port}", ssl.create_default_context())

    async def status(address: str, certificates: ssl.SSLContext) -> int:
        pool = Pool(httpx.URL(address), certificates)
        try:
            connection = await pool.exchange(b"POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n", b"")
            assert await connection.piece() == "你好".encode()
            pool.give_back(connection)
            return connection.status
        finally:
            pool.close()

    asyncio.run(running())


def test_both_families_take_turns_and_the_resolvers_first_stays_first() -> None:
    def address(family: int, name: str) -> Any:
        return (family, 1, 6, "", (name, 80))

    six, four = socket.AF_INET6, socket.AF_INET
    found = in_turn([address(six, "a"), address(six, "b"), address(six, "c"), address(four, "d")])
    assert [one[4][0] for one in found] == ["a", "d", "b", "c"]
    assert in_turn([]) == []


def test_a_proxy_by_socks_may_be_gone_through_and_one_of_an_unknown_kind_is_told_at_the_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1080")
    Endpoint("https://provider.example/v1", headers={}).close()
    monkeypatch.setenv("ALL_PROXY", "ftp://somebody:geheim@127.0.0.1:21")
    with pytest.raises(SettingsError, match="ALL_PROXY") as told:
        Endpoint("https://provider.example/v1", headers={})
    assert "geheim" not in str(told.value)
    Endpoint("http://127.0.0.1:11434/v1", headers={}).close()  # of this machine: no proxy has to do with it
