"""Keeping snapshots and letting them go; what differs between two, and whether one is sound."""

import asyncio

from litestar import delete, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from msgspec import Struct

from api.callers import NEEDS_WRITE
from api.parts import Parts
from api.routes.access import AnyRequest, access_of
from shared.catalog.retention import begin_removal, set_pinned
from shared.catalog.snapshots import get_snapshot
from shared.ids import SnapshotId
from shared.types.snapshots import Snapshot, SnapshotDiff, Verification


class Removing(Struct, frozen=True, kw_only=True):
    """Decided: nobody can use it any more. The worker frees its space, within seconds when it runs."""

    snapshot_id: SnapshotId
    state: str = "removing"


@delete("/{snapshot_id:str}", status_code=202, opt=NEEDS_WRITE)
async def remove(parts: NamedDependency[Parts], snapshot_id: FromPath[str]) -> Removing:
    """Remove a snapshot and what only it needs. 409 when it is active, pinned, frozen, in use or the base of an unfinished import;
    `ids` names the snapshot and each of these.
    """
    await parts.library.settled()  # what the last run has just let go holds nothing
    await asyncio.to_thread(_remove, parts, SnapshotId(snapshot_id))
    return Removing(snapshot_id=SnapshotId(snapshot_id))


@post("/{snapshot_id:str}/pin", status_code=200, opt=NEEDS_WRITE)
async def pin(parts: NamedDependency[Parts], snapshot_id: FromPath[str]) -> Snapshot:
    """It stays, however many are published after it."""
    return await asyncio.to_thread(_pin, parts, SnapshotId(snapshot_id), True)


@post("/{snapshot_id:str}/unpin", status_code=200, opt=NEEDS_WRITE)
async def unpin(parts: NamedDependency[Parts], snapshot_id: FromPath[str]) -> Snapshot:
    return await asyncio.to_thread(_pin, parts, SnapshotId(snapshot_id), False)


@get("/{snapshot_id:str}/diff/{other:str}")
async def diff(
    request: AnyRequest, parts: NamedDependency[Parts], snapshot_id: FromPath[str], other: FromPath[str]
) -> SnapshotDiff:
    """From the first to the second: documents added, removed, changed, relabelled; as far as the caller may see them."""
    return await parts.library.diff(SnapshotId(snapshot_id), SnapshotId(other), access_of(request))


@post("/{snapshot_id:str}/verify", status_code=200, opt=NEEDS_WRITE)
async def verify(parts: NamedDependency[Parts], snapshot_id: FromPath[str]) -> Verification:
    """Read everything that it is made of and tell each check. Takes some 3 s per 100,000 blocks; runs go on meanwhile."""
    return await parts.library.examine(SnapshotId(snapshot_id), parts.originals)


CARE = (remove, pin, unpin, diff, verify)  # of the router in snapshots.py


def _remove(parts: Parts, snapshot_id: SnapshotId) -> None:
    with parts.catalog.open() as db:
        begin_removal(db, snapshot_id, cause="delete", now_ms=parts.now_ms())


def _pin(parts: Parts, snapshot_id: SnapshotId, pinned: bool) -> Snapshot:
    with parts.catalog.open() as db:
        set_pinned(db, snapshot_id, pinned=pinned)
        return get_snapshot(db, snapshot_id)
