"""Server-sent events."""

from collections.abc import AsyncGenerator

import msgspec
from litestar.response import Stream
from msgspec import Struct

from api.desk import Running

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
