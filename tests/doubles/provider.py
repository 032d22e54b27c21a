"""A model provider over real HTTP on loopback, OpenAI's shapes, that can also fail in every way a real one does.

In a test:                   with provider_double() as provider: provider.script("Thought: …"); … provider.base_url
For other processes:         python -m tests.doubles.provider [--port N] [--plan FILE.json]     (prints its base_url)
                             GET /control/state -> State; POST /control/plan <- Plan (JSON), replaces script and rules

What answers a request: the first matching rule, else the next scripted reply of its route, else `answer` (in-process), else the default:
chat says DEFAULT_TEXT; rerank scores texts by words they share with the query; embeddings are `shared.embeddings.fake.word_vectors`, so that texts with common words are near,
or, with `Plan.quick_vectors`, arbitrary ones that cost next to nothing.
In a scripted text {{block_id}} stands for the first block id in the last message that has one.
"""

import argparse
import base64
import hashlib
import json
import re
import socket
import struct
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Struct

from shared.embeddings.fake import word_vectors
from shared.ids import BLOCK_ID_PATTERN
from tests.patience import PATIENCE_S

Route = Literal["chat", "embeddings", "rerank"]
DEFAULT_TEXT = "好的。 All right."
DEFAULT_DIMENSIONS = 256
_PATHS: dict[str, Route] = {
    "/v1/chat/completions": "chat",
    "/v1/embeddings": "embeddings",
    "/v1/rerank": "rerank",
}


class Call(Struct, frozen=True, kw_only=True):
    """A native tool call. `arguments`: JSON text, or whatever a model makes of it."""

    name: str
    arguments: str = "{}"
    call_id: str | None = "call_1"


class Say(Struct, frozen=True, kw_only=True, tag="say"):
    """A chat answer, streamed in pieces of `piece` characters if the request asks for a stream.

    `stop_after`: that many content pieces arrive, then `then`: hang (until the client goes), break (the connection is cut),
    reset (TCP RST), end (the body ends in good order, but without finish_reason and [DONE]), error (an error object in the stream).
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    reasoning: str = ""
    reasoning_key: str = "reasoning_content"
    finish_reason: str | None = None  # None = "tool_calls" if there are calls, else "stop"
    model: str | None = None  # None = as asked
    piece: int = 4
    usage: bool = True
    cached_tokens: int = 0
    stop_after: int | None = None
    then: Literal["hang", "break", "reset", "end", "error"] = "break"


class Fault(Struct, frozen=True, kw_only=True, tag="fault"):
    """An HTTP answer as is; `body` None = OpenAI's error shape with `code`."""

    status: int
    code: str | None = None
    message: str = "told to fail"
    body: str | None = None
    headers: dict[str, str] = {}


class Hang(Struct, frozen=True, kw_only=True, tag="hang"):
    """Nothing, not even headers (or headers only), until the client goes; `comments`: keep-alive comments meanwhile, that many."""

    headers_first: bool = False
    comments: int = 0


class Reset(Struct, frozen=True, kw_only=True, tag="reset"):
    """The connection is cut before a byte was answered."""


class Raw(Struct, frozen=True, kw_only=True, tag="raw"):
    """A body in exactly these pieces; `again`: said behind them until the client goes, some fifty times a second."""

    pieces: tuple[str, ...]
    again: str = ""
    content_type: str = "text/event-stream"


class Vectors(Struct, frozen=True, kw_only=True, tag="vectors"):
    """Embeddings, but `wrong` in one way. shuffled is legal: the indices tell the order."""

    wrong: Literal[
        "dimensions", "shuffled", "half", "nan", "zero", "repeated_index", "no_usage", "no_index", "unscaled"
    ]


class Scores(Struct, frozen=True, kw_only=True, tag="scores"):
    """Rerank scores in a provider's `shape`, best first as they do; `given`: these, in the order of the texts, instead of shared words.

    `wrong`: half of them, an index twice or beyond the last, no score.
    """

    shape: Literal["jina", "cohere", "siliconflow", "voyage", "tei"] = "jina"
    given: tuple[float, ...] | None = None
    wrong: Literal["half", "repeated_index", "index_beyond", "no_score", "no_usage"] | None = None


Reply: TypeAlias = Say | Fault | Hang | Reset | Raw | Vectors | Scores


class Rule(Struct, frozen=True, kw_only=True):
    """Every `every`-th request of the route whose body contains `containing`, at most `times` times."""

    route: Route
    reply: Reply
    every: int = 1
    containing: str = ""
    times: int | None = None


class Plan(Struct, frozen=True, kw_only=True):
    chat: tuple[Reply, ...] = ()
    embeddings: tuple[Reply, ...] = ()
    rerank: tuple[Reply, ...] = ()
    rules: tuple[Rule, ...] = ()
    quick_vectors: bool = False  # by the text's hash: they mean nothing and take next to no time


class Request(Struct, frozen=True, kw_only=True):
    path: str
    headers: dict[str, str]  # names in lower case
    body: Any  # decoded JSON, or None


class State(Struct, frozen=True, kw_only=True):
    requests: dict[str, int]  # path -> number
    embedded: int  # texts for which vectors were sent
    embedded_twice: dict[str, int]  # text -> number, of those above one


class Provider:
    """Thread-safe; `answer` decides about chat requests that no rule and no script speaks for."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url  # ends in /v1
        self.requests: list[Request] = []
        self.embedded: Counter[str] = Counter()
        self.gone = 0  # clients that left before their answer was complete
        self.quick_vectors = False
        self.models: tuple[str, ...] = ("double",)  # that it offers
        self.answer: Callable[[Request], Reply | str] | None = None
        self.closing = threading.Event()
        self.changed = threading.Condition()
        self._scripts: dict[Route, deque[Reply]] = {"chat": deque(), "embeddings": deque(), "rerank": deque()}
        self._rules: list[Rule] = []
        self._matched: Counter[int] = Counter()
        self._used: Counter[int] = Counter()

    def script(self, *replies: Reply | str) -> None:
        """Append what the next chat requests are answered with; a str is said."""
        with self.changed:
            self._scripts["chat"].extend(_said(reply) for reply in replies)

    def script_embeddings(self, *replies: Reply) -> None:
        with self.changed:
            self._scripts["embeddings"].extend(replies)

    def script_rerank(self, *replies: Reply) -> None:
        with self.changed:
            self._scripts["rerank"].extend(replies)

    def rule(self, rule: Rule) -> None:
        with self.changed:
            self._rules.append(rule)

    def plan(self, plan: Plan) -> None:
        """Replace script and rules; what was recorded stays."""
        with self.changed:
            self._scripts = {
                "chat": deque(plan.chat),
                "embeddings": deque(plan.embeddings),
                "rerank": deque(plan.rerank),
            }
            self._rules = list(plan.rules)
            self.quick_vectors = plan.quick_vectors
            self._matched.clear()
            self._used.clear()

    def wait(self, until: Callable[["Provider"], bool], *, seconds: float = PATIENCE_S) -> bool:
        """Whether the claim came true; asked again after every request, answer and departure."""
        with self.changed:
            return self.changed.wait_for(lambda: until(self), seconds)

    def state(self) -> State:
        with self.changed:
            return State(
                requests=dict(Counter(request.path for request in self.requests)),
                embedded=self.embedded.total(),
                embedded_twice={text: number for text, number in self.embedded.items() if number > 1},
            )

    def decide(self, route: Route, request: Request, raw: str) -> Reply:
        with self.changed:
            for place, rule in enumerate(self._rules):
                if rule.route != route or rule.containing not in raw:
                    continue
                self._matched[place] += 1
                if self._matched[place] % rule.every == 0 and (rule.times is None or self._used[place] < rule.times):
                    self._used[place] += 1
                    return rule.reply
            if self._scripts[route]:
                return self._scripts[route].popleft()
        if route == "chat" and self.answer is not None:
            return _said(self.answer(request))
        return Say(text=DEFAULT_TEXT)

    def record(self, change: Callable[[], None]) -> None:
        with self.changed:
            change()
            self.changed.notify_all()


@contextmanager
def provider_double(*, port: int = 0) -> Generator[Provider]:
    server = _Server(port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, name="provider double")
    thread.start()
    try:
        yield server.provider
    finally:
        server.provider.closing.set()
        server.shutdown()
        server.cut_all()
        server.server_close()  # waits for the handlers
        thread.join()


def _said(reply: Reply | str) -> Reply:
    return Say(text=reply) if isinstance(reply, str) else reply


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True
    request_queue_size = 128

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.provider = Provider(f"http://127.0.0.1:{self.server_address[1]}/v1")
        self._open: set[socket.socket] = set()
        self._turn = threading.Lock()

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._turn:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._turn:
            self._open.discard(request)
        super().shutdown_request(request)

    def cut_all(self) -> None:
        with self._turn:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes is nothing to print."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride]

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        if self.path == "/control/state":
            self._send(200, msgspec.json.encode(self.server.provider.state()))
        elif self.path == "/v1/models":
            self._record(None)
            models = {
                "object": "list",
                "data": [
                    {"id": one, "object": "model", "created": 0, "owned_by": "tests"}
                    for one in self.server.provider.models
                ],
            }
            self._send(200, json.dumps(models).encode())
        else:
            self._send(404, b"{}")

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.path == "/control/plan":
            self.server.provider.plan(msgspec.json.decode(raw, type=Plan))
            return self._send(200, b"{}")
        route = _PATHS.get(self.path)
        if route is None:
            return self._send(404, b"{}")
        request = self._record(json.loads(raw))
        reply = self.server.provider.decide(route, request, json.dumps(request.body, ensure_ascii=False))
        try:
            self._give(route, request, reply)
        except OSError:
            self._client_went()
        return None

    def _record(self, body: Any) -> Request:
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(path=self.path, headers=headers, body=body)
        provider = self.server.provider
        provider.record(lambda: provider.requests.append(request))
        return request

    def _give(self, route: Route, request: Request, reply: Reply) -> None:
        match reply:
            case Fault():
                error = {"message": reply.message, "type": "error", "param": None, "code": reply.code}
                body = json.dumps({"error": error}) if reply.body is None else reply.body
                self._send(reply.status, body.encode(), headers=reply.headers)
            case Hang():
                self._hang(reply)
            case Reset():
                self._reset()
            case Raw():
                self._start_stream(reply.content_type)
                for piece in reply.pieces:
                    self._piece(piece.encode("utf-8", "surrogateescape"))
                if reply.again:
                    self._wait_for_departure(saying=reply.again)
                else:
                    self._piece(b"")
            case Vectors():
                self._embed(request, reply.wrong)
            case Scores():
                self._rerank(request.body, reply)
            case Say() if route == "chat":
                self._say(request.body, reply)
            case Say() if route == "rerank":
                self._rerank(request.body, Scores())
            case Say():
                self._embed(request, None)

    def _say(self, body: Any, say: Say) -> None:
        text = _with_block_id(say.text, body)
        asked = sum(len(str(message.get("content"))) for message in body["messages"])
        answered = len(text) + len(say.reasoning) + sum(len(call.name + call.arguments) for call in say.calls)
        reason = say.finish_reason or ("tool_calls" if say.calls else "stop")
        usage = {
            "prompt_tokens": asked,
            "completion_tokens": answered,
            "total_tokens": asked + answered,
            "prompt_tokens_details": {"cached_tokens": say.cached_tokens},
            "completion_tokens_details": {"reasoning_tokens": len(say.reasoning)},
        }
        head = {"id": "chatcmpl-1", "created": 1_700_000_000, "model": say.model or body["model"]}
        if not body.get("stream"):
            message = {
                "role": "assistant",
                "content": text,
                **({say.reasoning_key: say.reasoning} if say.reasoning else {}),
                **({"tool_calls": [_call(call) for call in say.calls]} if say.calls else {}),
            }
            choice = {"index": 0, "message": message, "finish_reason": reason}
            answer = {
                **head,
                "object": "chat.completion",
                "choices": [choice],
                **({"usage": usage} if say.usage else {}),
            }
            return self._send(200, json.dumps(answer).encode())
        head["object"] = "chat.completion.chunk"
        self._start_stream("text/event-stream")
        self._chunk({**head, "choices": [_choice({"role": "assistant", "content": ""})]})
        for piece in _pieces(say.reasoning, say.piece):
            self._chunk({**head, "choices": [_choice({say.reasoning_key: piece})]})
        for number, piece in enumerate(_pieces(text, say.piece)):
            if number == say.stop_after:
                return self._stop_midway(say)
            self._chunk({**head, "choices": [_choice({"content": piece})]})
        for index, call in enumerate(say.calls):
            self._chunk({**head, "choices": [_choice({"tool_calls": [{"index": index, **_call(call, arguments="")}]})]})
            for piece in _pieces(call.arguments, say.piece):
                delta = {"index": index, "function": {"arguments": piece}}
                self._chunk({**head, "choices": [_choice({"tool_calls": [delta]})]})
        if say.stop_after is not None:
            return self._stop_midway(say)
        self._chunk({**head, "choices": [_choice({}, reason)]})
        if say.usage and "include_usage" in body.get("stream_options", ()):
            self._chunk({**head, "choices": [], "usage": usage})
        self._piece(b"data: [DONE]\n\n")
        return self._piece(b"")

    def _stop_midway(self, say: Say) -> None:
        match say.then:
            case "hang":
                self._wait_for_departure()
            case "break":
                self._cut()
            case "reset":
                self._reset()
            case "end":
                self._piece(b"")
            case "error":
                self._chunk({"error": {"message": "overloaded", "type": "server_error", "code": 503}})
                self._piece(b"")

    def _embed(self, request: Request, wrong: str | None) -> None:
        body = request.body
        texts: list[str] = [body["input"]] if isinstance(body["input"], str) else body["input"]
        dimensions = int(body.get("dimensions") or DEFAULT_DIMENSIONS) + (1 if wrong == "dimensions" else 0)
        provider = self.server.provider
        vectors = (hash_vectors if provider.quick_vectors else word_vectors)(texts, dimensions)
        if wrong == "nan":
            vectors[-1, 0] = float("nan")
        if wrong == "zero":
            vectors[-1] = 0.0
        if wrong == "unscaled":
            vectors *= 3.0
        as_base64 = body.get("encoding_format") == "base64"
        data: list[dict[str, Any]] = [
            {
                "object": "embedding",
                "index": 0 if wrong == "repeated_index" else index,
                "embedding": base64.b64encode(row.tobytes()).decode() if as_base64 else row.tolist(),
            }
            for index, row in enumerate(vectors)
        ]
        if wrong == "shuffled":
            data.reverse()
        if wrong == "half":
            data = data[: len(data) // 2]
        if wrong == "no_index":
            data = [{"embedding": item["embedding"]} for item in data]
        tokens = sum(len(text) for text in texts)
        answer: dict[str, Any] = {"object": "list", "data": data, "model": body["model"]}
        if wrong != "no_usage":
            answer["usage"] = {"prompt_tokens": tokens, "total_tokens": tokens}
        provider.record(lambda: provider.embedded.update(texts))
        self._send(200, msgspec.json.encode(answer) if provider.quick_vectors else json.dumps(answer).encode())

    def _rerank(self, body: Any, told: Scores) -> None:
        texts: list[str] = body["texts"] if told.shape == "tei" else body["documents"]
        rows = word_vectors([body["query"], *texts], DEFAULT_DIMENSIONS)
        scores = (rows[1:] @ rows[0]).tolist() if told.given is None else told.given
        key = "score" if told.shape == "tei" else "relevance_score"
        items: list[dict[str, Any]] = [{"index": index, key: score} for index, score in enumerate(scores)]
        items.sort(key=lambda item: -item[key])
        match told.wrong:
            case "half":
                items = items[: len(items) // 2]
            case "repeated_index":
                items[-1]["index"] = items[0]["index"]
            case "index_beyond":
                items[-1]["index"] = len(items)
            case "no_score":
                del items[-1][key]
            case "no_usage" | None:
                pass
        tokens = len(texts) * len(body["query"]) + sum(map(len, texts))
        usage = {"usage": {"total_tokens": tokens}}
        meta = {"meta": {"tokens": {"input_tokens": tokens}, "billed_units": {"search_units": 1}}}
        answer: Any = {
            "jina": {"model": body.get("model"), "results": items, **usage},
            "cohere": {"id": "1", "results": items, **meta},
            "siliconflow": {"id": "1", "results": items, "tokens": {"input_tokens": tokens, "output_tokens": 0}},
            "voyage": {"object": "list", "data": items, **usage},
            "tei": items,
        }[told.shape]
        if told.wrong == "no_usage":
            del answer["usage"]
        self._send(200, json.dumps(answer).encode())

    def _hang(self, hang: Hang) -> None:
        if hang.headers_first or hang.comments:
            self._start_stream("text/event-stream")
        for _ in range(hang.comments):
            self._piece(b": keep-alive\n\n")
        self._wait_for_departure()

    def _wait_for_departure(self, *, saying: str = "") -> None:
        self.connection.settimeout(0.02)
        while not self.server.provider.closing.is_set():
            try:
                if self.connection.recv(1) == b"":
                    break
            except TimeoutError:
                if saying:
                    self._piece(saying.encode())
        self._client_went()

    def _client_went(self) -> None:
        self.close_connection = True
        provider = self.server.provider

        def count() -> None:
            provider.gone += 1

        provider.record(count)

    def _start_stream(self, content_type: str) -> None:
        self.send_response(200)
        self.send_header("content-type", content_type)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def _chunk(self, value: Any) -> None:
        self._piece(f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode())

    def _piece(self, data: bytes) -> None:
        """One HTTP chunk; the empty one ends the body."""
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def _send(self, status: int, body: bytes, *, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"content-type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _cut(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _reset(self) -> None:
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()


def _call(call: Call, *, arguments: str | None = None) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments if arguments is None else arguments}
    return {"id": call.call_id, "type": "function", "function": function}


def _choice(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "finish_reason": finish_reason}


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))


def _with_block_id(text: str, body: Any) -> str:
    if "{{block_id}}" not in text:
        return text
    contents: Iterable[str] = (str(message.get("content")) for message in reversed(body["messages"]))
    found = next((match.group() for content in contents if (match := re.search(BLOCK_ID_PATTERN, content))), "")
    return text.replace("{{block_id}}", found)


def hash_vectors(texts: Sequence[str], dimensions: int) -> npt.NDArray[np.float32]:
    """Unit rows that depend on nothing but their text."""
    seeds = (
        int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "little") for text in texts
    )
    rows = np.stack([np.random.default_rng(seed).standard_normal(dimensions, dtype=np.float32) for seed in seeds])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="OpenAI-compatible provider double on loopback")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--plan", type=Path)
    arguments = parser.parse_args()
    with provider_double(port=arguments.port) as provider:
        if arguments.plan:
            provider.plan(msgspec.json.decode(arguments.plan.read_bytes(), type=Plan))
        print(provider.base_url, flush=True)
        with suppress(KeyboardInterrupt):
            while True:
                time.sleep(3600)


if __name__ == "__main__":
    main()
