"""Snapshots: what there is, what answers, and letting another one answer."""

from litestar import Router, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from msgspec import Struct

from api.parts import Parts
from shared.catalog.snapshots import activate as catalog_activate
from shared.catalog.snapshots import active_snapshot_id, get_snapshot, list_snapshots
from shared.ids import SnapshotId
from shared.types.snapshots import Snapshot


class Snapshots(Struct, frozen=True, kw_only=True):
    active: SnapshotId | None
    snapshots: list[Snapshot]  # the newest first


@get("/", sync_to_thread=True)
def list_all(parts: NamedDependency[Parts]) -> Snapshots:
    with parts.catalog.open() as db:
        return Snapshots(active=active_snapshot_id(db), snapshots=list_snapshots(db))


@get("/{snapshot_id:str}", sync_to_thread=True)
def get_one(parts: NamedDependency[Parts], snapshot_id: FromPath[str]) -> Snapshot:
    with parts.catalog.open() as db:
        return get_snapshot(db, SnapshotId(snapshot_id))


@post("/{snapshot_id:str}/activate", status_code=200, sync_to_thread=True)
def activate(parts: NamedDependency[Parts], snapshot_id: FromPath[str]) -> Snapshot:
    """Runs that begin from now on read this snapshot; those under way keep theirs."""
    with parts.catalog.open() as db:
        catalog_activate(db, SnapshotId(snapshot_id), cause="activate", now_ms=parts.now_ms())
        return get_snapshot(db, SnapshotId(snapshot_id))


snapshots = Router("/api/snapshots", route_handlers=[list_all, get_one, activate], tags=["snapshots"])
