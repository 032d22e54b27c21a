"""A stand-in for the running API: a real server on loopback that answers each address with what it is given."""

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec


class Served:
    """`answers`: "METHOD /path" -> status and value; several values are given one after the other, the last one for ever."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.answers: dict[str, list[tuple[int, Any]]] = {}
        self.headers: dict[str, str] = {}  # sent with every answer
        self.asked: list[str] = []  # "METHOD /path?query"
        self.bodies: list[bytes] = []  # of every POST, in order

    def give(self, what: str, *values: Any, status: int = 200) -> None:
        self.answers[what] = [(status, value) for value in values]

    def refuse(self, what: str, status: int, code: str, detail: str) -> None:
        self.give(what, {"code": code, "detail": detail, "title": code}, status=status)

    def stream(self, what: str, *events: Any) -> None:
        text = "".join(f"data: {msgspec.json.encode(event).decode()}\n\n" for event in events)
        self.give(what, text)

    @property
    def last_body(self) -> Any:
        return json.loads(self.bodies[-1])


@contextmanager
def serving() -> Generator[Served]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            """Silent."""

        def _answer(self) -> None:
            sent = self.rfile.read(int(self.headers.get("content-length") or 0))
            served.asked.append(f"{self.command} {self.path}")
            if self.command == "POST":
                served.bodies.append(sent)
            what = f"{self.command} {unquote(urlsplit(self.path).path)}"
            left = served.answers.get(what, [(404, {"code": "not_found", "detail": what})])
            status, value = left.pop(0) if len(left) > 1 else left[0]
            body = value.encode() if isinstance(value, str) else msgspec.json.encode(value)
            self.send_response(status)
            self.send_header("Content-Type", "text/event-stream" if isinstance(value, str) else "application/json")
            self.send_header("Content-Length", str(len(body)))
            for name, text in served.headers.items():
                self.send_header(name, text)
            self.end_headers()
            self.wfile.write(body)

        do_GET = _answer
        do_POST = _answer
        do_DELETE = _answer

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served = Served(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
