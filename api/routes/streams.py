"""Server-sent events."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

import msgspec
from litestar.response import Stream
from msgspec import Struct

from api.running import Running
from shared.errors import CiteboundError
from shared.types.again import Once, Rerun

HEARTBEAT = b": heartbeat\n\n"

_json = msgspec.json.Encoder()


def sse(name: str, data: Struct) -> bytes:
    """One event; its data is one line, because JSON is."""
    return b"event: " + name.encode() + b"\ndata: " + _json.encode(data) + b"\n\n"


def stream(pieces: AsyncGenerator[bytes]) -> Stream:
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # nginx must not hold events back
    return Stream(pieces, media_type="text/event-stream", headers=headers, status_code=200)


async def run_events(run: Running, *, heartbeat_s: float) -> AsyncGenerator[bytes]:
    """A run as events of their own types. Whoever stops reading cancels the run."""
    try:
        async for events in run.events(idle_s=heartbeat_s):
            yield b"".join(sse(str(event.__struct_config__.tag), event) for event in events) or HEARTBEAT
    finally:
        run.cancel()


class Failed(Struct, frozen=True, kw_only=True):
    """What ended it before its end; `message`: for people."""

    code: str
    message: str


async def rerun_events(
    carry_out: Callable[[Callable[[Once], None]], Awaitable[Rerun]], *, heartbeat_s: float
) -> AsyncGenerator[bytes]:
    """Each run as it ends, then how all came out. Whoever stops reading ends the run that is under way."""
    told: asyncio.Queue[Once | None] = asyncio.Queue()
    work = asyncio.ensure_future(carry_out(told.put_nowait))
    work.add_done_callback(lambda _: told.put_nowait(None))
    try:
        while True:
            try:
                async with asyncio.timeout(heartbeat_s):
                    once = await told.get()
            except TimeoutError:
                yield HEARTBEAT
                continue
            if once is None:
                break
            yield sse("once", once)
        try:
            yield sse("rerun", await work)
        except CiteboundError as error:
            yield sse("failed", Failed(code=error.code, message=error.message))
    finally:
        work.cancel()
        await asyncio.wait({work})
