"""Server-sent events."""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec
from msgspec import Struct

from api.live import Tell
from api.running import Running
from shared.errors import CiteboundError
from shared.types.again import Once, Rerun

HEARTBEAT = b": heartbeat\n\n"

_json = msgspec.json.Encoder()


def sse(name: str, data: Struct) -> bytes:
    """One event; its data is one line, because JSON is."""
    return b"event: " + name.encode() + b"\ndata: " + _json.encode(data) + b"\n\n"


async def run_events(run: Running, tell: Tell, *, heartbeat_s: float) -> bytes:
    """A run as events of their own types. Whoever stops listening cancels the run."""
    try:
        while True:
            events = await run.news(idle_s=heartbeat_s)
            piece = b"".join([sse(str(event.__struct_config__.tag), event) for event in events])
            if run.all_told:
                return piece
            await tell(piece or HEARTBEAT)
    finally:
        run.cancel()


class Failed(Struct, frozen=True, kw_only=True):
    """What ended it before its end; `message`: for people."""

    code: str
    message: str


async def rerun_events(
    carry_out: Callable[[Callable[[Once], None]], Awaitable[Rerun]], tell: Tell, *, heartbeat_s: float
) -> bytes:
    """Each run as it ends, then how all came out. Whoever stops listening ends the run that is under way."""
    told: asyncio.Queue[Once | None] = asyncio.Queue()
    work = asyncio.ensure_future(carry_out(told.put_nowait))
    work.add_done_callback(lambda _: told.put_nowait(None))
    try:
        while True:
            try:
                async with asyncio.timeout(heartbeat_s):
                    once = await told.get()
            except TimeoutError:
                await tell(HEARTBEAT)
                continue
            if once is None:
                break
            await tell(sse("once", once))
        try:
            return sse("rerun", await work)
        except CiteboundError as error:
            return sse("failed", Failed(code=error.code, message=error.message))
    finally:
        work.cancel()
        await asyncio.wait({work})
