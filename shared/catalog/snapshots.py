"""Snapshots as readers know them, and the pointer to the active one. How one is made is in building.py."""

import hashlib
import sqlite3
from datetime import UTC, datetime

import msgspec
from sqlite_utils import Database

from shared.catalog.db import writing
from shared.catalog.rows import Row, from_json, one, rows
from shared.errors import Conflict, NotFound
from shared.ids import SnapshotId
from shared.types.snapshots import FailedDocument, Snapshot, SnapshotDocument, SnapshotManifest

_SEEN = ", ".join(name for name in Snapshot.__struct_fields__ if name != "failed_documents")
_KNOWN = "state <> 'removing'"  # one on its way out is gone for every reader: see retention.py
_MEMBER = ", ".join(SnapshotDocument.__struct_fields__)
_GAP = ", ".join(FailedDocument.__struct_fields__)
# What a manifest's membership hash is taken of. Spelled out: a column that is added later must not change it.
_STATED = (
    (
        "doc_id, version, title, source_id, source_label, key, aliases, lang, trust, access, tags, media_type, updated_at_ms,"
        " sections, blocks, tokens, artifact_sha256",
        "snapshot_documents",
        "doc_id",
    ),
    ("ordinal, source_label, key, stage, code, reason, attempts, retryable", "snapshot_failures", "ordinal"),
)


def active_snapshot_id(db: Database) -> SnapshotId | None:
    row = one(db, "select snapshot_id from active_snapshot")
    return None if row is None else SnapshotId(row["snapshot_id"])


def get_snapshot(db: Database, snapshot_id: SnapshotId) -> Snapshot:
    """Raises: NotFound."""
    row = one(db, f"select {_SEEN} from snapshots where snapshot_id = :id and {_KNOWN}", id=snapshot_id)
    if row is None:
        raise unknown_snapshot(db, snapshot_id)
    return _snapshot(db, row)


def list_snapshots(db: Database) -> list[Snapshot]:
    """Newest first, those under construction included."""
    found = rows(db, f"select {_SEEN} from snapshots where {_KNOWN} order by snapshot_id desc")
    return [_snapshot(db, row) for row in found]


def get_manifest(db: Database, snapshot_id: SnapshotId) -> SnapshotManifest:
    """Raises: NotFound when there is no such snapshot or it was never published."""
    row = one(db, f"select manifest from snapshots where snapshot_id = :id and {_KNOWN}", id=snapshot_id)
    if row is None or row["manifest"] is None:
        raise unknown_snapshot(db, snapshot_id)
    return msgspec.json.decode(row["manifest"], type=SnapshotManifest)


def intact_manifest(db: Database, snapshot_id: SnapshotId) -> SnapshotManifest | None:
    """The manifest, if it is the one that was published; None when it was never sealed, or was changed since."""
    row = one(db, "select manifest, manifest_sha256 from snapshots where snapshot_id = :id", id=snapshot_id)
    if row is None or not isinstance(row["manifest"], str):
        return None
    if hashlib.sha256(row["manifest"].encode()).hexdigest() != row["manifest_sha256"]:
        return None
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
        f"select {_GAP} from snapshot_failures where snapshot_id = :id order by ordinal",
        id=snapshot_id,
    )
    return [msgspec.convert(row, FailedDocument, strict=False) for row in found]


def membership_sha256(db: Database, snapshot_id: SnapshotId) -> str:
    """Over every column of its documents (labels, titles, times …) and of its gaps, as they are stored."""
    digest = hashlib.sha256()
    for columns, table, order in _STATED:
        found = rows(db, f"select {columns} from {table} where snapshot_id = :id order by {order}", id=snapshot_id)
        for row in found:
            digest.update(msgspec.json.encode(list(row.values())))
        digest.update(b"\n")
    return digest.hexdigest()


def activate(db: Database, snapshot_id: SnapshotId, *, cause: str, now_ms: int) -> None:
    """Let this snapshot answer from now on; nothing happens if it does already.

    cause: for the history, e.g. "activate".
    Raises: NotFound, Conflict unless ready or ready_partial.
    """
    with writing(db) as connection:
        row = one(db, f"select state from snapshots where snapshot_id = :id and {_KNOWN}", id=snapshot_id)
        if row is None:
            raise unknown_snapshot(db, snapshot_id)
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


def active_age_days(db: Database, *, at_ms: int) -> float | None:
    """How long the snapshot that was active at that time had been published by then; None when none was."""
    row = one(
        db,
        "select coalesce(s.published_at_ms, gone.published_at_ms) published_at_ms from active_history h"
        " left join snapshots s using (snapshot_id) left join removed_snapshots gone using (snapshot_id)"
        " where h.at_ms <= :at order by h.generation desc limit 1",
        at=at_ms,
    )
    if row is None or row["published_at_ms"] is None:
        return None
    return max(at_ms - row["published_at_ms"], 0) / 86_400_000


def member(row: Row) -> SnapshotDocument:
    return msgspec.convert(from_json(row, "aliases", "access", "tags"), SnapshotDocument)


def _snapshot(db: Database, row: Row) -> Snapshot:
    failed = snapshot_failures(db, row["snapshot_id"])
    flags = {name: bool(row[name]) for name in ("pinned", "frozen")}
    return msgspec.convert(row | flags | {"failed_documents": failed}, Snapshot, from_attributes=True)


def removed_at_ms(db: Database, snapshot_id: SnapshotId) -> int | None:
    """When a snapshot that had been published was removed; None = it is there, or it never was."""
    row = one(
        db,
        "select removed_at_ms from removed_snapshots where snapshot_id = :id and published_at_ms is not null",
        id=snapshot_id,
    )
    return None if row is None else int(row["removed_at_ms"])


def unknown_snapshot(db: Database, snapshot_id: SnapshotId) -> NotFound:
    removed = removed_at_ms(db, snapshot_id)
    if removed is None:
        return NotFound("There is no such snapshot.", field="snapshot_id", ids=[snapshot_id])
    day = datetime.fromtimestamp(removed / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return NotFound(f"This snapshot was removed at {day}.", field="snapshot_id", ids=[snapshot_id])
