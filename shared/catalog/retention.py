"""Which snapshots are held, and how one goes: decided in one transaction, carried out in small ones that may be interrupted.

    begin_removal    nothing may hold it; from here on no reader knows it
    (its collection is dropped, by whoever removes it)
    forget_members   its rows, some at a time
    finish_removal   its last row; `removed_snapshots` remembers that it was there

What its documents leave behind is in garbage.py. Every step can be done again: whoever comes after a kill goes on with `removing`.
"""

import sqlite3
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct
from sqlite_utils import Database

from shared.catalog.db import writing
from shared.catalog.rows import one, rows
from shared.catalog.snapshots import unknown_snapshot
from shared.errors import Conflict
from shared.ids import SnapshotId
from shared.types.snapshots import SnapshotState

Hold: TypeAlias = Literal["active", "pinned", "frozen", "in_use", "import_base"]
Cause: TypeAlias = Literal["retention", "delete", "abandoned"]

UNFINISHED = "('queued', 'running', 'pausing', 'paused', 'cancelling')"
_PUBLISHED = "('ready', 'ready_partial')"
_HELD: dict[Hold, tuple[str, str]] = {  # condition on `snapshots`, and what to say
    "active": (
        "exists (select 1 from active_snapshot a where a.snapshot_id = snapshots.snapshot_id)",
        "it is the active one",
    ),
    "pinned": ("snapshots.pinned", "it is pinned"),
    "frozen": ("snapshots.frozen", "it is kept for an evaluation"),
    "in_use": (
        "exists (select 1 from snapshot_leases l where l.snapshot_id = snapshots.snapshot_id)",
        "a process has it open for its runs",
    ),
    "import_base": (
        "exists (select 1 from imports i where i.base_snapshot_id = snapshots.snapshot_id"
        f" and i.state in {UNFINISHED})",
        "an unfinished import builds on it",
    ),
}
_FLAGS = ", ".join(f"{condition} as {hold}" for hold, (condition, _) in _HELD.items())
_MEMBERS_AT_ONCE = 1_000


class Standing(Struct, frozen=True, kw_only=True):
    """A snapshot as far as its staying is concerned."""

    snapshot_id: SnapshotId
    state: SnapshotState
    published_at_ms: int | None
    holds: frozenset[Hold]


def standings(db: Database) -> list[Standing]:
    """Of every snapshot, newest first; not of those on their way out."""
    found = rows(
        db,
        f"select snapshot_id, state, published_at_ms, {_FLAGS} from snapshots where state <> 'removing'"
        " order by snapshot_id desc",
    )
    return [
        Standing(
            snapshot_id=row["snapshot_id"],
            state=row["state"],
            published_at_ms=row["published_at_ms"],
            holds=frozenset(hold for hold in _HELD if row[hold]),
        )
        for row in found
    ]


def set_pinned(db: Database, snapshot_id: SnapshotId, *, pinned: bool) -> None:
    """A person's word that it stays. Raises: NotFound, Conflict unless it was published."""
    _mark(db, snapshot_id, "pinned", pinned)


def set_frozen(db: Database, snapshot_id: SnapshotId, *, frozen: bool) -> None:
    """An evaluation's word that it stays. Raises: NotFound, Conflict unless it was published."""
    _mark(db, snapshot_id, "frozen", frozen)


def begin_removal(db: Database, snapshot_id: SnapshotId, *, cause: Cause, now_ms: int) -> None:
    """Decide that it goes; this can't be taken back.

    Raises: NotFound; Conflict when something holds it (`ids`: the snapshot, then each hold), or when it is being built.
    """
    with writing(db) as connection:
        row = one(
            db,
            f"select state, {_FLAGS} from snapshots where snapshot_id = :id and state <> 'removing'",
            id=snapshot_id,
        )
        if row is None:
            raise unknown_snapshot(db, snapshot_id)
        if row["state"] == "building":
            raise Conflict("This snapshot is being built. Cancel its import instead.", ids=[snapshot_id])
        holds: list[Hold] = [hold for hold in _HELD if row[hold]]
        if holds:
            reasons = ", ".join(_HELD[hold][1] for hold in holds)
            raise Conflict(f"This snapshot can't be removed: {reasons}.", ids=[snapshot_id, *holds])
        remember_removed(connection, snapshot_id, cause=cause, now_ms=now_ms)
        connection.execute("update snapshots set state = 'removing' where snapshot_id = ?", [snapshot_id])


def removing(db: Database) -> list[SnapshotId]:
    """Decided and not yet carried out, oldest first."""
    found = rows(db, "select snapshot_id from snapshots where state = 'removing' order by snapshot_id")
    return [SnapshotId(row["snapshot_id"]) for row in found]


def forget_members(db: Database, snapshot_id: SnapshotId, *, now_ms: int) -> bool:
    """Take out some of its documents; True while there are more. Versions that no other snapshot holds are remembered.

    Not those of one that was abandoned: they are finished work, and stay for whoever tries again.
    """
    with writing(db) as connection:
        values = {"id": snapshot_id, "now": now_ms, "limit": _MEMBERS_AT_ONCE}
        some = (
            "select doc_id from snapshot_documents where snapshot_id = :id and"
            " (select state from snapshots where snapshot_id = :id) = 'removing' order by doc_id limit :limit"
        )
        connection.execute(
            "insert or replace into removed_versions (doc_id, version, removed_at_ms)"
            " select doc_id, version, :now from snapshot_documents as d where snapshot_id = :id"
            f" and doc_id in ({some}) and not exists (select 1 from snapshot_documents as o"
            " where o.doc_id = d.doc_id and o.version = d.version and o.snapshot_id <> :id)"
            " and (select cause from removed_snapshots where snapshot_id = :id) is not 'abandoned'",
            values,
        )
        gone = connection.execute(
            f"delete from snapshot_documents where snapshot_id = :id and doc_id in ({some})", values
        )
    return gone.rowcount == _MEMBERS_AT_ONCE


def finish_removal(db: Database, snapshot_id: SnapshotId) -> None:
    """Take out its last row; its collection and its documents have to be gone already."""
    with writing(db) as connection:
        connection.execute("delete from snapshots where snapshot_id = ? and state = 'removing'", [snapshot_id])


def remember_removed(connection: sqlite3.Connection, snapshot_id: SnapshotId, *, cause: Cause, now_ms: int) -> None:
    """Inside the caller's transaction, while its row is there."""
    connection.execute(
        "insert or ignore into removed_snapshots (snapshot_id, created_at_ms, published_at_ms, documents, blocks,"
        " embedding_version, removed_at_ms, cause)"
        " select snapshot_id, created_at_ms, published_at_ms, documents, blocks, embedding_version, :now, :cause"
        " from snapshots where snapshot_id = :id",
        {"id": snapshot_id, "now": now_ms, "cause": cause},
    )


def unswept(db: Database, *, before_ms: int) -> list[SnapshotId]:
    """Removed before that time, and their collections not looked for since: a server's builder holds no lock, and may have been late."""
    found = rows(
        db,
        "select snapshot_id from removed_snapshots where not swept and removed_at_ms < :before"
        " and snapshot_id not in (select snapshot_id from snapshots) order by snapshot_id",
        before=before_ms,
    )
    return [SnapshotId(row["snapshot_id"]) for row in found]


def mark_swept(db: Database, snapshot_id: SnapshotId) -> None:
    with writing(db) as connection:
        connection.execute("update removed_snapshots set swept = 1 where snapshot_id = ?", [snapshot_id])


def all_snapshot_ids(db: Database) -> set[str]:
    """In any state, also on its way out."""
    return {row["snapshot_id"] for row in rows(db, "select snapshot_id from snapshots")}


def _mark(db: Database, snapshot_id: SnapshotId, column: Literal["pinned", "frozen"], value: bool) -> None:
    with writing(db) as connection:
        row = one(db, "select state from snapshots where snapshot_id = :id and state <> 'removing'", id=snapshot_id)
        if row is None:
            raise unknown_snapshot(db, snapshot_id)
        state = msgspec.convert(row["state"], SnapshotState)
        if state not in ("ready", "ready_partial"):
            raise Conflict(f"This snapshot is {state}: it can't be kept.", ids=[snapshot_id])
        connection.execute(f"update snapshots set {column} = ? where snapshot_id = ?", [value, snapshot_id])
