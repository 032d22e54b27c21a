"""Asks runs over the native API and watches their events, as cheaply as possible: this process shares the machine it measures."""

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from typing import TypeAlias
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from scripts.bench.paced import QUESTION
from shared.types.events import RunCompleted, RunEvent, RunFailed

WAIT_S = 120.0  # for one run
_ENDS = ('data: {"type":"run.completed', 'data: {"type":"run.failed')
_event = msgspec.json.Decoder(RunEvent)
_Streams: TypeAlias = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Asked(Struct, frozen=True, kw_only=True):
    """One run as its asker saw it. `problem` None: complete, three model calls, as planned."""

    key: str
    run_id: str
    waited_s: float
    problem: str | None = None


async def at_once(address: str, keys: list[str], *, concurrent: int) -> list[Asked]:
    """All keys, so many of them begun in the same instant; whenever one is over the next begins."""
    waiting, results = iter(keys), list[Asked]()

    async def asker() -> None:
        for key in waiting:
            results.append(await ask(address, key))

    await asyncio.gather(*(asker() for _ in range(concurrent)))
    return results


async def steadily(
    address: str, keys: Iterator[str], *, concurrent: int, runs: int, ramp_s: float
) -> tuple[list[Asked], int]:
    """`runs` that began while `concurrent` were under way, which go on until the last of these is over; and how many there were in all.

    `ramp_s`: in which the first ones begin, evenly spread.
    """
    results: list[Asked] = []
    begun = counted = 0

    async def asker(place: int) -> None:
        nonlocal begun, counted
        await asyncio.sleep(ramp_s * place / concurrent)
        while len(results) < runs:
            counts = counted < runs and time.perf_counter() - began > ramp_s
            begun, counted = begun + 1, counted + counts
            one = await ask(address, next(keys))
            if counts:
                results.append(one)

    began = time.perf_counter()
    await asyncio.gather(*(asker(place) for place in range(concurrent)))
    return results, begun


async def ask(address: str, key: str) -> Asked:
    began = time.perf_counter()
    body = msgspec.json.encode({"question": f"{QUESTION} ({key})"})
    told = ""
    try:
        async with asyncio.timeout(WAIT_S), _connection(address) as (reader, writer):
            writer.write(
                b"POST /api/runs HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\naccept: text/event-stream\r\n"
                b"content-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body) + body
            )
            told = (await reader.read()).decode(errors="replace")
    except (OSError, TimeoutError) as error:
        return Asked(key=key, run_id="", waited_s=0.0, problem=repr(error))
    waited_s = time.perf_counter() - began
    end = next((line for line in told.splitlines() if line.startswith(_ENDS)), None)
    if end is None:
        return Asked(key=key, run_id="", waited_s=waited_s, problem=f"no answer: {told[:200]}")
    event = _event.decode(end.removeprefix("data: "))
    answer = event.answer if isinstance(event, RunCompleted | RunFailed) else None
    if answer is None:
        return Asked(key=key, run_id="", waited_s=waited_s, problem=end[:200])
    good = answer.status == "complete" and answer.usage.model_calls == 3
    problem = None if good else f"{answer.status}, {answer.termination_reason}, {answer.limitations}"
    return Asked(key=key, run_id=answer.run_id, waited_s=waited_s, problem=problem)


@asynccontextmanager
async def _connection(address: str) -> AsyncGenerator[_Streams]:
    """A connection a run: one that is kept may be closed by the server just when it is used again."""
    parts = urlsplit(address)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=2**20)
    try:
        yield reader, writer
    finally:
        writer.close()
