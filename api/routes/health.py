"""Is the process alive; can it answer; how is everything."""

import asyncio

from litestar import Response, get
from litestar.di import NamedDependency
from msgspec import Struct

from api.callers import NEEDS_ADMIN, NEEDS_NOTHING
from api.condition import Part, checked, conditions, moment, snapshot_part
from api.parts import Parts
from api.routes.access import AnyRequest, caller_of
from shared.catalog.snapshots import active_snapshot_id
from shared.ids import SnapshotId
from shared.types.health import Health


class Readiness(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An admin gets everything; every other key, and whoever brings none where one is demanded, the states and nothing else."""

    ready: bool
    parts: dict[str, Part]
    runs: int | None = None  # under way
    traces_dropped: int | None = None  # spans, artifacts and runs this process could not write


@get("/healthz", opt=NEEDS_NOTHING)
async def healthz() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@get("/readyz", opt=NEEDS_NOTHING)
async def readyz(request: AnyRequest, parts: NamedDependency[Parts]) -> Response[Readiness]:
    """Every part it takes to answer; 503 with the reasons as long as one of them is loading or failed.

    Needs no key; without an admin's only the states are told, where a key is demanded.
    """
    catalog, broker = await asyncio.gather(checked(lambda: _read(parts)), checked(parts.bell.check))
    embedder = (
        Part(state="ok")
        if parts.warmth.state == "ready"
        else Part(state=parts.warmth.state, detail=parts.warmth.failure)
    )
    found = {
        "catalog": catalog,
        "broker": broker,
        "embedder": embedder,
        "snapshot": await snapshot_part(parts),
        "chat_model": Part(state="ok", detail=parts.chat_model)
        if parts.chat_model
        else Part(state="none", detail="no model is configured: answers are made of verbatim sentences"),
        "traces": Part(state="ok")
        if parts.telemetry.is_writing()
        else Part(
            state="failed", detail="runs and traces are not written any more; restart the server, the log says why"
        ),
    }
    ready = all(part.state in ("ok", "none") for part in found.values())
    if caller_of(request).access.is_admin:
        dropped = sum(parts.telemetry.dropped().values())
        body = Readiness(ready=ready, parts=found, runs=parts.desk.count(), traces_dropped=dropped)
    else:
        body = Readiness(ready=ready, parts={name: Part(state=part.state) for name, part in found.items()})
    return Response(body, status_code=200 if ready else 503)


@get("/api/health", opt=NEEDS_ADMIN, tags=["figures"])
async def health(parts: NamedDependency[Parts]) -> Health:
    """The state of every part, those included that it takes no answer; always 200. Raises: StorageError."""
    return await health_of(parts)


async def health_of(parts: Parts) -> Health:
    found, now = await asyncio.gather(conditions(parts), asyncio.to_thread(moment, parts))
    return Health(sound=all(one.state != "failed" for one in found), parts=found, waiting_imports=now.waiting_imports)


def _read(parts: Parts) -> SnapshotId | None:
    with parts.catalog.open() as db:
        return active_snapshot_id(db)
