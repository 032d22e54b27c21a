"""Is the process alive; can it answer."""

import asyncio
from collections.abc import Callable
from typing import Literal

from litestar import Response, get
from litestar.di import NamedDependency
from msgspec import Struct

from api.callers import NEEDS_NOTHING
from api.parts import Parts
from api.routes.access import AnyRequest, caller_of
from shared.access import OWNER
from shared.catalog.snapshots import active_snapshot_id
from shared.errors import CiteboundError, NoSnapshot
from shared.ids import SnapshotId

PATIENCE_S = 2.0


class Part(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`ok`: nothing to do. `none`: not there, and the server works all the same. `loading`, `failed`: it does not answer (yet)."""

    state: Literal["ok", "none", "loading", "failed"]
    detail: str | None = None


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
    catalog, broker = await asyncio.gather(_checked(lambda: _read(parts)), _checked(parts.bell.check))
    embedder = (
        Part(state="ok")
        if parts.warmth.state == "ready"
        else Part(state=parts.warmth.state, detail=parts.warmth.failure)
    )
    found = {
        "catalog": catalog,
        "broker": broker,
        "embedder": embedder,
        "snapshot": await _snapshot(parts),
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


async def _checked(check: Callable[[], object]) -> Part:
    try:
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.to_thread(check)
    except TimeoutError:
        return Part(state="failed", detail=f"does not answer within {PATIENCE_S:.0f} s")
    except CiteboundError as error:
        return Part(state="failed", detail=error.message)
    return Part(state="ok")


def _read(parts: Parts) -> SnapshotId | None:
    with parts.catalog.open() as db:
        return active_snapshot_id(db)


async def _snapshot(parts: Parts) -> Part:
    """The active snapshot opens, is what its manifest says (verified once, then cached by the library) and can be searched."""
    try:
        async with await parts.library.pin(None, OWNER) as pinned:
            pinned.check_searchable()
            return Part(state="ok", detail=pinned.snapshot.snapshot_id)
    except NoSnapshot:
        return Part(state="none", detail="nothing has been imported yet")
    except CiteboundError as error:
        return Part(state="failed", detail=error.message)
