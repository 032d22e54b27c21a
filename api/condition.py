"""What state every part of Citebound is in, as the query process finds it: for /readyz, GET /api/health and the page."""

import asyncio
import shutil
from collections.abc import Callable, Iterator
from typing import Any, Final, Literal

from msgspec import Struct

from api.parts import Parts
from shared.access import OWNER
from shared.catalog.imports import count_imports
from shared.catalog.snapshots import active_snapshot_id, get_snapshot
from shared.errors import CiteboundError, NoSnapshot
from shared.layout import FULL_BYTES, TIGHT_BYTES
from shared.telemetry.metrics import Moment
from shared.types.health import Condition, PartName

PATIENCE_S: Final = 2.0
SILENT_MS: Final = 15_000  # a worker asks five times a second; a machine that is busy lets it wait
_WAITING: Final = ("queued", "running", "pausing", "cancelling")  # the worker has still something to do


class Part(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`ok`: nothing to do. `none`: not there, and the server works all the same. `loading`, `failed`: it does not answer (yet)."""

    state: Literal["ok", "none", "loading", "failed"]
    detail: str | None = None


async def checked(check: Callable[[], Any]) -> Part:
    """Whether something that blocks comes back in time and without an error of ours."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.to_thread(check)
    except TimeoutError:
        return Part(state="failed", detail=f"does not answer within {PATIENCE_S:.0f} s")
    except CiteboundError as error:
        return Part(state="failed", detail=error.message)
    return Part(state="ok")


async def snapshot_part(parts: Parts) -> Part:
    """The active snapshot opens, is what its manifest says (verified once, then cached by the library) and can be searched."""
    try:
        async with await parts.library.pin(None, OWNER) as pinned:
            pinned.check_searchable()
            return Part(state="ok", detail=pinned.snapshot.snapshot_id)
    except NoSnapshot:
        return Part(state="none", detail="nothing has been imported yet")
    except CiteboundError as error:
        return Part(state="failed", detail=error.message)


def moment(parts: Parts) -> Moment:
    """What is true at the moment. Blocking. Raises: StorageError."""
    with parts.catalog.open() as db:
        imports = count_imports(db)
        active = active_snapshot_id(db)
        snapshot = None if active is None else get_snapshot(db, active)
    published_at_ms = None if snapshot is None else snapshot.published_at_ms
    return Moment(
        running=parts.desk.count(),
        snapshot_state=None if snapshot is None else snapshot.state,
        snapshot_age_s=None if published_at_ms is None else max(parts.now_ms() - published_at_ms, 0) / 1000,
        imports=imports,
        waiting_imports=sum(imports.get(state, 0) for state in _WAITING),
        dropped=parts.telemetry.dropped(),
        exported=parts.telemetry.exported(),
    )


async def conditions(parts: Parts) -> tuple[Condition, ...]:
    """Every part, in the order in which a person would look; none of them is waited for longer than `PATIENCE_S`."""
    broker, engine, library, disk = await asyncio.gather(
        checked(parts.bell.check), checked(parts.library.engine), _library(parts), _disk(parts)
    )
    return (
        Condition(part="api", state="ok", code="ok", runs=parts.desk.count(), since_ms=parts.started_at_ms),
        await _worker(parts, broker),
        _of_part("broker", broker),
        _of_part("vectors", engine),
        library,
        _embedder(parts),
        _chat(parts),
        disk,
        _traces(parts),
        *_exports(parts),
    )


def _of_part(name: PartName, part: Part) -> Condition:
    if part.state == "failed":
        return Condition(part=name, state="failed", code="failed", detail=part.detail)
    return Condition(part=name, state=part.state, code=part.state)


async def _library(parts: Parts) -> Condition:
    """The first to ask after a start, or after something was published, would wait until all its files are verified."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            return _of_part("library", await snapshot_part(parts))
    except TimeoutError:  # it goes on being opened
        return Condition(part="library", state="loading", code="loading")


async def _worker(parts: Parts, broker: Part) -> Condition:
    """It is heard of through the broker alone; where that is silent nobody knows."""
    if broker.state != "ok":
        return Condition(part="worker", state="note", code="unknown")
    seen: list[int | None] = []
    asked = await checked(lambda: seen.append(parts.bell.worker_seen_ms()))
    if asked.state != "ok":
        return Condition(part="worker", state="note", code="unknown")
    seen_ms = seen[0]
    if seen_ms is None or parts.now_ms() - seen_ms > SILENT_MS:
        return Condition(part="worker", state="failed", code="silent", since_ms=seen_ms)
    return Condition(part="worker", state="ok", code="ok", since_ms=seen_ms)


def _embedder(parts: Parts) -> Condition:
    if parts.warmth.state != "ready":
        state = parts.warmth.state
        return Condition(part="embedder", state=state, code=state, detail=parts.warmth.failure)
    heard = parts.telemetry.seen.of("embeddings")
    if heard.failure is not None:
        return Condition(
            part="embedder", state="failed", code="failing", since_ms=heard.failed_at_ms, detail=heard.failure
        )
    return Condition(part="embedder", state="ok", code="ok")


def _chat(parts: Parts) -> Condition:
    if parts.chat_model is None:
        return Condition(part="chat", state="none", code="none")
    heard = parts.telemetry.seen.of("chat")
    if heard.failure is not None:
        return Condition(
            part="chat",
            state="failed",
            code="failing",
            named=parts.chat_model,
            since_ms=heard.failed_at_ms,
            answered_at_ms=heard.answered_at_ms,
            detail=heard.failure,
        )
    code = "unasked" if heard.answered_at_ms is None else "ok"
    return Condition(part="chat", state="ok", code=code, named=parts.chat_model, answered_at_ms=heard.answered_at_ms)


async def _disk(parts: Parts) -> Condition:
    try:
        async with asyncio.timeout(PATIENCE_S):
            free = (await asyncio.to_thread(shutil.disk_usage, parts.settings.data_dir)).free
    except TimeoutError:  # a drive of the network that is gone
        return Condition(part="disk", state="failed", code="silent")
    if free >= TIGHT_BYTES:
        return Condition(part="disk", state="ok", code="ok", free_bytes=free)
    full = free < FULL_BYTES
    return Condition(part="disk", state="failed" if full else "note", code="full" if full else "tight", free_bytes=free)


def _traces(parts: Parts) -> Condition:
    dropped, waiting = sum(parts.telemetry.dropped().values()), parts.telemetry.waiting()
    if not parts.telemetry.is_writing():
        return Condition(part="traces", state="failed", code="stopped", dropped=dropped, waiting=waiting)
    if parts.telemetry.was_replaced():
        return Condition(part="traces", state="note", code="replaced", dropped=dropped, waiting=waiting)
    state, code = ("note", "dropped") if dropped else ("ok", "ok")
    return Condition(part="traces", state=state, code=code, dropped=dropped, waiting=waiting)


def _exports(parts: Parts) -> Iterator[Condition]:
    for receiver, exported in sorted(parts.telemetry.exported().items()):
        lost = exported.refused + exported.dropped
        yield Condition(
            part="export",
            state="note" if lost else "ok",
            code="losing" if lost else "ok",
            named=receiver,
            dropped=lost,
            waiting=exported.waiting,
        )
