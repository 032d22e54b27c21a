"""The transport against servers that say what they were told to, on real sockets."""

import asyncio
import shutil
import socket
import ssl
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from shared.wire.transport import DirectTransport, direct_transport, in_turn

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n\xe4\xbd\xa0\xe5\xa5\xbd"
CLOSES = OK.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)


class Server:
    """Answers every request with `answer`; `connections` were opened. `after`: what becomes of one that was answered."""

    def __init__(self, answer: bytes, *, after: str = "stays") -> None:
        self.answer = answer
        self.after = after
        self.connections = 0
        self.heads: list[bytes] = []
        self.bodies: list[bytes] = []
        self.asked = asyncio.Event()
        self.gone = asyncio.Event()  # a client went away

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
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


def against(server: Callable[[], Server], work: Callable[[httpx.AsyncClient, str, Server], Awaitable[None]]) -> None:
    async def running() -> None:
        one = server()
        listening = await asyncio.start_server(one.serve, "127.0.0.1", 0)
        address = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        async with listening, httpx.AsyncClient(transport=DirectTransport(ssl.create_default_context())) as client:
            await work(client, address, one)

    asyncio.run(running())


def test_requests_in_a_row_share_a_connection_and_arrive_as_they_were_sent() -> None:
    async def work(client: httpx.AsyncClient, address: str, server: Server) -> None:
        for question in ("润滑", "bearing"):
            reply = await client.post(f"{address}/v1/问?q=1", json={"q": question}, headers={"x-key": "k"})
            assert (reply.status_code, reply.text) == (200, "你好")
        assert server.connections == 1
        assert server.heads[0].startswith(b"POST /v1/%E9%97%AE?q=1 HTTP/1.1\r\n")
        assert b"x-key: k\r\n" in server.heads[0]
        assert server.bodies == ['{"q":"润滑"}'.encode(), b'{"q":"bearing"}']

    against(lambda: Server(OK), work)


def test_requests_at_once_have_a_connection_each() -> None:
    async def work(client: httpx.AsyncClient, address: str, server: Server) -> None:
        replies = await asyncio.gather(*(client.post(address, json={}) for _ in range(20)))
        assert {reply.text for reply in replies} == {"你好"}
        assert server.connections == 20

    against(lambda: Server(OK), work)


@pytest.mark.parametrize(
    ("answer", "after"),
    [(CLOSES, "stays"), (CLOSES, "closes"), (OK, "closes"), (OK + b"HTTP/1.1 200 OK\r\n", "stays")],
)
def test_a_connection_that_can_not_be_used_again_is_not(answer: bytes, after: str) -> None:
    async def work(client: httpx.AsyncClient, address: str, server: Server) -> None:
        for _ in range(3):
            assert (await client.post(address, json={})).text == "你好"
        assert server.connections == 3

    against(lambda: Server(answer, after=after), work)


def test_an_asker_that_goes_away_closes_his_connection() -> None:
    async def work(client: httpx.AsyncClient, address: str, server: Server) -> None:
        async with client.stream("POST", address, json={}) as reply:
            async for _ in reply.aiter_bytes():
                break
        async with asyncio.timeout(10):
            await server.gone.wait()

    against(lambda: Server(OK.replace(b"6", b"600")), work)


def test_a_cancelled_asker_closes_his_connection() -> None:
    async def work(client: httpx.AsyncClient, address: str, server: Server) -> None:
        asking = asyncio.create_task(client.post(address, json={}))
        async with asyncio.timeout(10):
            await server.asked.wait()
            asking.cancel()
            await server.gone.wait()

    against(lambda: Server(b""), work)


@pytest.mark.parametrize("answer", [b"", OK[:-1]])
def test_a_limit_for_reading_holds_before_and_inside_the_body(answer: bytes) -> None:
    async def work(client: httpx.AsyncClient, address: str, server: Server) -> None:
        with pytest.raises(httpx.ReadTimeout):
            await client.post(address, json={}, timeout=httpx.Timeout(None, read=0.05))

    against(lambda: Server(answer), work)


@pytest.mark.parametrize("header", ["a\r\nx-more: b", "a\nb", "a\0b"])
def test_a_header_of_several_lines_is_not_sent(header: str) -> None:
    async def work(client: httpx.AsyncClient, address: str, server: Server) -> None:
        with pytest.raises(httpx.LocalProtocolError):
            await client.post(address, headers={"authorization": header})
        assert not server.heads

    against(lambda: Server(OK), work)


def test_a_port_where_nobody_listens_and_a_scheme_that_nobody_speaks_are_told_as_httpx_does() -> None:
    async def work(client: httpx.AsyncClient, address: str, server: Server) -> None:
        with socket.socket() as bound:
            bound.bind(("127.0.0.1", 0))
            with pytest.raises(httpx.ConnectError):
                await client.get(f"http://127.0.0.1:{bound.getsockname()[1]}")
        with pytest.raises(httpx.ConnectError):
            await client.get(f"http://{'a' * 64}.example/")
        with pytest.raises(httpx.UnsupportedProtocol):
            await client.get("ftp://example.org/")

    against(lambda: Server(OK), work)


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
        async with listening, httpx.AsyncClient(transport=DirectTransport(trusting)) as client:
            for _ in range(2):
                assert (await client.get(f"https://localhost:{port}")).text == "你好"
            with pytest.raises(httpx.ConnectError, match="certificate"):  # the name is not in it
                await client.get(f"https://127.0.0.1:{port}")
            strict = httpx.AsyncClient(transport=DirectTransport(ssl.create_default_context()))
            async with strict:
                with pytest.raises(httpx.ConnectError, match="certificate"):
                    await strict.get(f"https://localhost:{port}")

    asyncio.run(running())


def test_a_proxy_of_the_environment_is_left_to_httpx(monkeypatch: pytest.MonkeyPatch) -> None:
    certificates = ssl.create_default_context()
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    assert direct_transport(certificates, trust_env=True) is None
    assert direct_transport(certificates, trust_env=False) is not None


def test_both_families_take_turns_and_the_resolvers_first_stays_first() -> None:
    def address(family: int, name: str) -> Any:
        return (family, 1, 6, "", (name, 80))

    six, four = socket.AF_INET6, socket.AF_INET
    found = in_turn([address(six, "a"), address(six, "b"), address(six, "c"), address(four, "d")])
    assert [one[4][0] for one in found] == ["a", "d", "b", "c"]
    assert in_turn([]) == []
