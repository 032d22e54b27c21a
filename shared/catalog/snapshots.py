"""Snapshots as readers know them, and the pointer to the active one. How one is made is in building.py."""

import sqlite3

import msgspec
from sqlite_utils import Database

from shared.catalog.db import writing
from shared.catalog.rows import Row, from_json, one, rows
from shared.errors import Conflict, NotFound
from shared.ids import SnapshotId
from shared.types.snapshots import FailedDocument, Snapshot, SnapshotDocument, SnapshotManifest

_SEEN = ", ".join(name for name in Snapshot.__struct_fields__ if name != "failed_documents")
_MEMBER = ", ".join(SnapshotDocument.__struct_fields__)


def active_snapshot_id(db: Database) -> SnapshotId | None:
    row = one(db, "select snapshot_id from active_snapshot")
    return None if row is None else SnapshotId(row["snapshot_id"])


def get_snapshot(db: Database, snapshot_id: SnapshotId) -> Snapshot:
    """Raises: NotFound."""
    row = one(db, f"select {_SEEN} from snapshots where snapshot_id = :id", id=snapshot_id)
    if row is None:
        raise _unknown(snapshot_id)
    return _snapshot(db, row)


def list_snapshots(db: Database) -> list[Snapshot]:
    """Newest first, those under construction included."""
    return [_snapshot(db, row) for row in rows(db, f"select {_SEEN} from snapshots order by snapshot_id desc")]


def get_manifest(db: Database, snapshot_id: SnapshotId) -> SnapshotManifest:
    """Raises: NotFound when there is no such snapshot or it was never published."""
    row = one(db, "select manifest from snapshots where snapshot_id = :id", id=snapshot_id)
    if row is None or row["manifest"] is None:
        raise _unknown(snapshot_id)
    return msgspec.json.decode(row["manifest"], type=SnapshotManifest)


def snapshot_documents(db: Database, snapshot_id: SnapshotId) -> list[SnapshotDocument]:
    """By doc_id."""
    found = rows(
        db, f"select {_MEMBER} from snapshot_documents where snapshot_id = :id order by doc_id", id=snapshot_id
    )
    return [member(row) for row in found]


def snapshot_failures(db: Database, snapshot_id: SnapshotId) -> list[FailedDocument]:
    found = rows(
        db,
        "select source_label, key, stage, code, reason, attempts, retryable from snapshot_failures"
        " where snapshot_id = :id order by ordinal",
        id=snapshot_id,
    )
    return [msgspec.convert(row, FailedDocument, strict=False) for row in found]


def activate(db: Database, snapshot_id: SnapshotId, *, cause: str, now_ms: int) -> None:
    """Let this snapshot answer from now on; nothing happens if it does already.

    cause: for the history, e.g. "activate".
    Raises: NotFound, Conflict unless ready or ready_partial.
    """
    with writing(db) as connection:
        row = one(db, "select state from snapshots where snapshot_id = :id", id=snapshot_id)
        if row is None:
            raise _unknown(snapshot_id)
        if row["state"] not in ("ready", "ready_partial"):
            raise Conflict(f"This snapshot is {row['state']} and can't answer.", ids=[snapshot_id])
        if active_snapshot_id(db) != snapshot_id:
            move_pointer(connection, snapshot_id, cause=cause, now_ms=now_ms)


def move_pointer(connection: sqlite3.Connection, snapshot_id: SnapshotId, *, cause: str, now_ms: int) -> None:
    """Point at `snapshot_id` and remember what was there before; inside the caller's transaction."""
    values = {"id": snapshot_id, "now": now_ms, "cause": cause}
    connection.execute(
        "insert into active_history (generation, snapshot_id, previous_id, at_ms, cause)"
        " select coalesce((select max(generation) from active_history), 0) + 1, :id,"
        " (select snapshot_id from active_snapshot), :now, :cause",
        values,
    )
    connection.execute(
        "insert into active_snapshot (id, snapshot_id, generation) select 1, :id, max(generation) from active_history where true"
        " on conflict (id) do update set snapshot_id = excluded.snapshot_id, generation = excluded.generation",
        values,
    )


def member(row: Row) -> SnapshotDocument:
    return msgspec.convert(from_json(row, "aliases", "access", "tags"), SnapshotDocument)


def _snapshot(db: Database, row: Row) -> Snapshot:
    failed = snapshot_failures(db, row["snapshot_id"])
    return msgspec.convert(row | {"failed_documents": failed}, Snapshot, from_attributes=True)


def _unknown(snapshot_id: SnapshotId) -> NotFound:
    return NotFound("There is no such snapshot.", field="snapshot_id", ids=[snapshot_id])
