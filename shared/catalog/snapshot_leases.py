"""Which processes have a snapshot open. A row says "in use"; while there is one, the snapshot is not removed.

No clock is compared with another: a holder counts its beat up, and whoever cleans up takes away a row whose beat stood still for as
long as *he* watched it. A clock that jumps and a machine that sleeps take nothing from anybody.
"""

from collections.abc import Collection
from typing import TypeAlias

from sqlite_utils import Database

from shared.catalog.db import writing
from shared.catalog.rows import rows
from shared.ids import SnapshotId

Beats: TypeAlias = dict[tuple[SnapshotId, str], int]  # (snapshot, holder) -> beat
_PUBLISHED = "state in ('ready', 'ready_partial')"


def take_snapshot_lease(db: Database, snapshot_id: SnapshotId, holder: str) -> bool:
    """False when there is no such published snapshot (any more); then nothing was written."""
    with writing(db) as connection:
        connection.execute(
            "insert or ignore into snapshot_leases (snapshot_id, holder)"
            f" select snapshot_id, :me from snapshots where snapshot_id = :id and {_PUBLISHED}",
            {"id": snapshot_id, "me": holder},
        )
        held = connection.execute(
            "select 1 from snapshot_leases where snapshot_id = ? and holder = ?", [snapshot_id, holder]
        )
        return held.fetchone() is not None


def beat(db: Database, holder: str, held: Collection[SnapshotId]) -> set[SnapshotId]:
    """Say that this process lives and still has these open; returns those that are no longer there.

    A row that was taken away, because the process stood still for long, is put back as long as its snapshot is there.
    """
    with writing(db) as connection:
        connection.executemany(
            "insert into snapshot_leases (snapshot_id, holder)"
            f" select snapshot_id, :me from snapshots where snapshot_id = :id and {_PUBLISHED}"
            " on conflict (snapshot_id, holder) do update set beat = beat + 1",
            [{"id": snapshot_id, "me": holder} for snapshot_id in held],
        )
        there = connection.execute("select snapshot_id from snapshot_leases where holder = ?", [holder]).fetchall()
    return set(held) - {SnapshotId(row[0]) for row in there}


def drop_snapshot_lease(db: Database, snapshot_id: SnapshotId, holder: str) -> None:
    with writing(db) as connection:
        connection.execute("delete from snapshot_leases where snapshot_id = ? and holder = ?", [snapshot_id, holder])


def beats(db: Database) -> Beats:
    found = rows(db, "select snapshot_id, holder, beat from snapshot_leases")
    return {(SnapshotId(row["snapshot_id"]), row["holder"]): row["beat"] for row in found}


def drop_silent(db: Database, silent: Beats) -> None:
    """Take away leases of holders that are gone; one that beat meanwhile stays."""
    with writing(db) as connection:
        connection.executemany(
            "delete from snapshot_leases where snapshot_id = ? and holder = ? and beat = ?",
            [(snapshot_id, holder, count) for (snapshot_id, holder), count in silent.items()],
        )
