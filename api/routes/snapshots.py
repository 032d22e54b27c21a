"""Snapshots: what there is, what answers, and letting another one answer."""

import asyncio

from litestar import Router, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from msgspec import Struct

from api.callers import NEEDS_READ, NEEDS_WRITE
from api.parts import Parts
from api.routes.access import AnyRequest, access_of
from api.routes.snapshot_care import CARE
from shared.catalog.snapshots import activate as catalog_activate
from shared.catalog.snapshots import active_snapshot_id, get_snapshot
from shared.ids import SnapshotId
from shared.types.snapshots import Snapshot


class Snapshots(Struct, frozen=True, kw_only=True):
    active: SnapshotId | None
    snapshots: list[Snapshot]  # the newest first


@get("/")
async def list_all(request: AnyRequest, parts: NamedDependency[Parts]) -> Snapshots:
    """To a key with roles: those that were published, counted as if what it may not read were not there."""
    listed = await parts.library.snapshots(access_of(request))
    return Snapshots(active=await asyncio.to_thread(_active, parts), snapshots=listed)


@get("/{snapshot_id:str}")
async def get_one(request: AnyRequest, parts: NamedDependency[Parts], snapshot_id: FromPath[str]) -> Snapshot:
    return await parts.library.snapshot(SnapshotId(snapshot_id), access_of(request))


@post("/{snapshot_id:str}/activate", status_code=200, opt=NEEDS_WRITE)
async def activate(request: AnyRequest, parts: NamedDependency[Parts], snapshot_id: FromPath[str]) -> Snapshot:
    """Runs that begin from now on read this snapshot; those under way keep theirs. One that does not open changes nothing."""
    wanted = SnapshotId(snapshot_id)
    if (await asyncio.to_thread(_get, parts, wanted)).state not in ("ready", "ready_partial"):
        return await asyncio.to_thread(_activate, parts, wanted)  # which says why not
    async with await parts.library.pin(wanted, access_of(request)):
        return await asyncio.to_thread(_activate, parts, wanted)


snapshots = Router(
    "/api/snapshots", route_handlers=[list_all, get_one, activate, *CARE], tags=["snapshots"], opt=NEEDS_READ
)


def _active(parts: Parts) -> SnapshotId | None:
    with parts.catalog.open() as db:
        return active_snapshot_id(db)


def _get(parts: Parts, snapshot_id: SnapshotId) -> Snapshot:
    with parts.catalog.open() as db:
        return get_snapshot(db, snapshot_id)


def _activate(parts: Parts, snapshot_id: SnapshotId) -> Snapshot:
    with parts.catalog.open() as db:
        catalog_activate(db, snapshot_id, cause="activate", now_ms=parts.now_ms())
        return get_snapshot(db, snapshot_id)
