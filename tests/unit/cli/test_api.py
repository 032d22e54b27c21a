"""The HTTP client of the commands, against a real server on loopback that says what it is told."""

import threading
from collections.abc import Callable, Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from scripts.citebound.api import Api
from scripts.citebound.failure import CommandFailed


class Double:
    """Answers every request with `status`, `kind` and `body`, and keeps what was asked."""

    def __init__(self) -> None:
        self.status = 200
        self.kind = "application/json"
        self.body = b"{}"
        self.coding = "identity"
        self.length: int | None = None  # promised, when it isn't what is sent
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []


@pytest.fixture
def double() -> Double:
    return Double()


@pytest.fixture
def make_api(double: Double) -> Generator[Callable[[str | None], Api]]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            """Silent."""

        def _answer(self) -> None:
            sent = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            double.asked.append((self.command, self.path, headers, sent))
            self.send_response(double.status)
            self.send_header("Content-Type", double.kind)
            self.send_header("Content-Encoding", double.coding)
            self.send_header("Content-Length", str(len(double.body) if double.length is None else double.length))
            self.end_headers()
            self.wfile.write(double.body)

        do_GET = _answer
        do_POST = _answer

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    made: list[Api] = []

    def make(key: str | None) -> Api:
        made.append(Api(f"http://127.0.0.1:{server.server_port}", key=key))
        return made[-1]

    yield make
    for api in made:
        api.close()
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_reply_is_decoded_and_the_key_is_sent(double: Double, make_api: Callable[[str | None], Api]) -> None:
    double.body = '{"名": 1}'.encode()
    assert make_api("geheim").get("/api/x", dict[str, int], limit="3") == {"名": 1}
    method, path, headers, _ = double.asked[0]
    assert (method, path, headers["authorization"]) == ("GET", "/api/x?limit=3", "Bearer geheim")


def test_a_problem_becomes_a_failure_with_its_code_and_remedy(
    double: Double, make_api: Callable[[str | None], Api]
) -> None:
    double.status = 409
    double.kind = "application/problem+json"
    double.body = '{"title":"x","detail":"还没有文档。","code":"no_snapshot","remedy":"先导入。"}'.encode()
    with pytest.raises(CommandFailed) as caught:
        make_api(None).post("/api/runs", {"question": "?"}, dict[str, int])
    failed = caught.value
    assert (failed.error, failed.code, failed.remedy) == ("no_snapshot", 1, "先导入。")
    assert failed.message.startswith("还没有文档。")


def test_a_wrong_argument_counts_as_wrong_usage(double: Double, make_api: Callable[[str | None], Api]) -> None:
    double.status = 400
    double.body = b'{"detail":"question: too short","code":"invalid_argument","remedy":"see /openapi/openapi.json"}'
    with pytest.raises(CommandFailed) as caught:
        make_api(None).post("/api/runs", {}, dict[str, int])
    assert (caught.value.code, "--help" in caught.value.remedy, "openapi" in caught.value.remedy) == (2, True, False)


@pytest.mark.parametrize(("status", "body"), [(200, b"<html>"), (200, b'{"a": "b"}'), (502, b"<html>bad gateway")])
def test_a_foreign_server_is_recognised(
    double: Double, make_api: Callable[[str | None], Api], status: int, body: bytes
) -> None:
    double.status, double.body = status, body
    with pytest.raises(CommandFailed) as caught:
        make_api(None).get("/api/x", dict[str, int])
    assert caught.value.error == "bad_reply"


def test_an_event_ends_where_the_protocol_says_and_not_at_every_line_end_of_unicode(
    double: Double, make_api: Callable[[str | None], Api]
) -> None:
    double.kind = "text/event-stream"
    double.body = 'data: "第一行\u2028第二行\u0085\u000b end"\n\n'.encode()
    assert list(make_api(None).events("/api/runs", {})) == ['"第一行\u2028第二行\u0085\u000b end"']


def test_events_are_read_without_comments_and_joined_over_lines(
    double: Double, make_api: Callable[[str | None], Api]
) -> None:
    double.kind = "text/event-stream"
    double.body = ': heartbeat\n\nevent: a\ndata: {"答":\ndata: 1}\n\n: heartbeat\n\ndata:2\n\n'.encode()
    assert list(make_api(None).events("/api/runs", {})) == ['{"答":\n1}', "2"]
    assert double.asked[0][2]["accept"] == "text/event-stream"


def test_a_problem_instead_of_a_stream_is_the_same_failure(
    double: Double, make_api: Callable[[str | None], Api]
) -> None:
    double.status = 401
    double.body = b'{"detail":"key","code":"unauthorized"}'
    with pytest.raises(CommandFailed) as caught:
        list(make_api(None).events("/api/runs", {}))
    assert caught.value.error == "unauthorized"


def test_a_stream_that_breaks_is_a_failure(double: Double, make_api: Callable[[str | None], Api]) -> None:
    double.kind = "text/event-stream"
    double.body = b"data: 1\n\n"
    double.length = 1000
    with pytest.raises(CommandFailed) as caught:
        list(make_api(None).events("/api/runs", {}))
    assert caught.value.error == "interrupted"


def test_uploaded_files_keep_their_names_inside_the_import(
    double: Double, make_api: Callable[[str | None], Api], tmp_path: Path
) -> None:
    (tmp_path / "笔记.md").write_text("# 水泵", encoding="utf-8")
    sent = [("资料/笔记.md", tmp_path / "笔记.md")]
    make_api(None).upload("/api/imports", sent, {"source": '{"label":"资料"}'}, dict[str, int])
    body = double.asked[0][3].decode()
    assert "# 水泵" in body
    assert '{"label":"资料"}' in body
    assert "资料/笔记.md" in body


def test_a_body_whose_coding_is_broken_is_a_failure(double: Double, make_api: Callable[[str | None], Api]) -> None:
    double.coding = "gzip"
    double.body = b"no gzip"
    with pytest.raises(CommandFailed, match="can't be read") as caught:
        make_api(None).get("/api/x", dict[str, int])
    assert caught.value.error == "unreadable"
