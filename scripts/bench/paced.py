"""A provider double for load: it answers at a set pace and costs next to nothing, so that it is not what is measured.

    python -m scripts.bench.paced [--first-token-ms 300] [--tokens-per-s 30]        (prints its base_url)
Every chat call is one of three turns of a run: a search, a scan, an answer with its sources. One clock writes the next
piece of every stream, 30 times a second, a part of the streams at each of its strokes: tokens of different streams don't come
in the same instant. /v1/embeddings gives arbitrary vectors at once. GET /control/served tells how long each run's chat calls
and an embedding call took here, and how late the clock was: none of it is the harness's time.
"""

import argparse
import asyncio
import json
import re
import time
from collections import defaultdict, deque
from collections.abc import Mapping
from contextlib import suppress
from itertools import cycle
from statistics import median

from shared.ids import BLOCK_ID_PATTERN
from tests.doubles.provider import hash_vectors

PIECE = 4  # characters, about a token of English and two of Chinese
SOURCES = 3  # of each sentence
STROKES = 8  # of the clock, for one piece of every stream
STEP_ONE, STEP_TWO = "STEP-ONE", "STEP-TWO"
QUESTION = "How often must the main bearing be greased? 主轴承多久润滑一次？"
_FIRST = (
    f"Thought: {STEP_ONE}. I look for the interval.\n"
    'Action: search_blocks[{"query": "How often must the main bearing of pump P-PUMP0 be greased? 主轴承多久润滑一次？"}]'
)
_SECOND = f'Thought: {STEP_TWO}. I look where that pump is named.\nAction: scan_term[{{"term": "HR-0PUMP"}}]'
_LAST = (
    "Thought: The blocks say it.\nAction: Finish[The main bearing is greased after a set number of operating hours, and every"
    " check goes into the log. [source: {ids}]\n\n主轴承运行到规定的小时数就要润滑，每次检查都写进日志。【来源：{ids}】"
    "\n\nInference: who looks there finds every check.]"
)
PUMPS = 40  # that runs ask about, one after the other: what a run finds and cites is seldom what another has just found
_RUN = re.compile(rb"RUN-\d+")
_BLOCK = re.compile(BLOCK_ID_PATTERN.encode())
_LENGTH = re.compile(rb"(?i)content-length: *(\d+)")
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


class Stream:
    """One reply under way. `pieces`: what is still to be written."""

    def __init__(self, writer: asyncio.StreamWriter, pieces: list[bytes], *, starts: float) -> None:
        self.writer = writer
        self.pieces = deque(pieces)
        self.starts = starts
        self.done = asyncio.Event()


class Paced:
    def __init__(self, *, first_token_s: float, tokens_per_s: float) -> None:
        self._first_token_s = first_token_s
        self._tick_s = 1 / tokens_per_s if tokens_per_s else 0.0
        self._streams: tuple[set[Stream], ...] = tuple(set[Stream]() for _ in range(STROKES))
        self._served: dict[str, float] = defaultdict(float)  # s by run
        self._late: list[float] = []  # s
        self._embedded: list[float] = []  # s

    async def serve(self, port: int) -> None:
        server = await asyncio.start_server(self._client, "127.0.0.1", port, backlog=512)
        print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
        clock = asyncio.create_task(self._tick()) if self._tick_s else None
        async with server:
            await server.serve_forever()
        if clock is not None:
            clock.cancel()

    async def _tick(self) -> None:
        due = time.perf_counter()
        for streams in cycle(self._streams):
            due += self._tick_s / STROKES
            await asyncio.sleep(max(due - time.perf_counter(), 0))
            now = time.perf_counter()
            if streams:
                self._late.append(now - due)
            for stream in list(streams):
                if stream.starts <= now:
                    self._step(stream, streams)

    def _step(self, stream: Stream, streams: set[Stream]) -> None:
        if stream.writer.is_closing():
            stream.pieces.clear()
        else:
            stream.writer.write(stream.pieces.popleft())
        if not stream.pieces:
            streams.discard(stream)
            stream.done.set()

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = _LENGTH.search(head)
                body = await reader.readexactly(int(length[1])) if length else b""
                await self._answer(head.split(b" ", 2)[1], body, writer)
        writer.close()

    async def _answer(self, path: bytes, body: bytes, writer: asyncio.StreamWriter) -> None:
        began = time.perf_counter()
        if path.endswith(b"/chat/completions"):
            pieces = _pieces(_reply(body))
            if not self._tick_s:
                writer.write(_HEAD + b"".join(pieces))
            else:
                writer.write(_HEAD)
                stream = Stream(writer, pieces, starts=began + self._first_token_s)
                min(self._streams, key=len).add(stream)
                await stream.done.wait()
            run = _RUN.findall(body)
            self._served[run[-1].decode() if run else ""] += time.perf_counter() - began
        elif path.endswith(b"/embeddings"):
            _send(writer, _embeddings(body))
            self._embedded.append(time.perf_counter() - began)
        else:
            late, embedded = sorted(self._late) or [0.0], self._embedded or [0.0]
            told = {"late_p95_ms": 1000 * late[int(len(late) * 0.95)], "embedding_ms": 1000 * median(embedded)}
            _send(writer, {"served": self._served, **told})


def _reply(body: bytes) -> str:
    run = int((_RUN.findall(body) or [b"RUN-0"])[-1].removeprefix(b"RUN-"))
    if STEP_TWO.encode() in body:
        shown = _BLOCK.findall(body, body.find(b"harness_status", body.find(STEP_ONE.encode())))
        found = list(dict.fromkeys(shown))
        first = run // PUMPS % max(len(found) - SOURCES, 1)
        return _LAST.replace("{ids}", ", ".join(one.decode() for one in found[first : first + SOURCES]))
    return (_SECOND if STEP_ONE.encode() in body else _FIRST).replace("PUMP", f"{run % PUMPS:02d}")


def _pieces(text: str) -> list[bytes]:
    """As HTTP chunks, one a token; the last holds finish_reason, usage and the body's end."""
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": "double"}
    pieces = [
        _chunk(head | {"choices": [_choice({"content": text[at : at + PIECE]})]}) for at in range(0, len(text), PIECE)
    ]
    ends = _chunk(head | {"choices": [_choice({}, "stop")]})
    return [*pieces, ends + _http(b"data: [DONE]\n\n") + b"0\r\n\r\n"]


def _choice(delta: dict[str, str], finish_reason: str | None = None) -> dict[str, object]:
    return {"index": 0, "delta": delta, "finish_reason": finish_reason}


def _chunk(value: Mapping[str, object]) -> bytes:
    return _http(b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n")


def _http(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def _embeddings(body: bytes) -> dict[str, object]:
    asked = json.loads(body)
    texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
    rows = hash_vectors(texts, int(asked.get("dimensions") or 384))
    data = [{"object": "embedding", "index": at, "embedding": row.tolist()} for at, row in enumerate(rows)]
    return {"object": "list", "model": asked["model"], "data": data, "usage": {"prompt_tokens": 9, "total_tokens": 9}}


def _send(writer: asyncio.StreamWriter, value: object) -> None:
    body = json.dumps(value).encode()
    writer.write(
        f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--first-token-ms", type=float, default=300)
    parser.add_argument("--tokens-per-s", type=float, default=30, help="0 = everything at once")
    asked = parser.parse_args()
    paced = Paced(first_token_s=asked.first_token_ms / 1000, tokens_per_s=asked.tokens_per_s)
    with suppress(KeyboardInterrupt):
        asyncio.run(paced.serve(asked.port))


if __name__ == "__main__":
    main()
