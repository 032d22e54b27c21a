"""Imports as the worker drives them: claim, keep, stop, end. The state table is in imports.py.

Every verb that a holder uses is conditional on holding the lease: a worker that was thought dead and comes back changes nothing.
"""

from collections.abc import Sequence

from sqlite_utils import Database

from shared.catalog.db import writing
from shared.catalog.rows import one, rows
from shared.ids import ImportId, SnapshotId
from shared.types.imports import ImportState
from shared.types.snapshots import Stage

_HELD = "import_id = :id and lease_holder = :me and state in ('running', 'pausing', 'cancelling')"
HELD = f"exists (select 1 from imports where {_HELD})"  # for other tables: :id the import, :me the worker
_LET_GO = "lease_holder = null, lease_until_ms = 0, attempts = 0"
# up to the lease's end: a machine that slept, or whose clock was put forward, did not work meanwhile
_COUNT_TIME = (
    "running_ms = running_ms + max(0, min(:now, lease_until_ms) - beat_at_ms), beat_at_ms = :now, updated_at_ms = :now"
)
# A time further ahead than this was written before the clock was put back. Twice: a lease of this very moment is none.
_AHEAD = 2
_FREE = "(lease_until_ms < :now or lease_until_ms > :ahead)"


def claim(db: Database, import_id: ImportId, worker: str, *, now_ms: int, lease_ms: int) -> int | None:
    """Take the import's lease if nobody holds a live one: exactly one of any number of callers gets it.

    Returns how many workers in a row, this one included, took it since the last progress or orderly end; None = not taken.
    """
    with writing(db) as connection:
        taken = connection.execute(
            "update imports set state = 'running', lease_holder = :me, lease_until_ms = :until, attempts = attempts + 1,"
            " woken_at_ms = 0, beat_at_ms = :now, updated_at_ms = :now"
            f" where import_id = :id and state in ('queued', 'running') and {_FREE}",
            {
                "id": import_id,
                "me": worker,
                "until": now_ms + lease_ms,
                "now": now_ms,
                "ahead": now_ms + _AHEAD * lease_ms,
            },
        )
        row = one(db, "select attempts from imports where import_id = :id", id=import_id)
    return int(row["attempts"]) if row and taken.rowcount == 1 else None


def renew(db: Database, import_id: ImportId, worker: str, *, now_ms: int, lease_ms: int) -> bool:
    """The heartbeat; False when the lease is somebody else's now."""
    return _held(
        db,
        f"update imports set lease_until_ms = :until, {_COUNT_TIME} where {_HELD}",
        import_id,
        worker,
        lasting=False,
        until=now_ms + lease_ms,
        now=now_ms,
    )


def standing(db: Database, import_id: ImportId, worker: str) -> ImportState | None:
    """The import's state as long as the lease is `worker`'s, else None."""
    row = one(db, f"select state from imports where {_HELD}", id=import_id, me=worker)
    return None if row is None else row["state"]


def release(db: Database, import_id: ImportId, worker: str, *, now_ms: int) -> bool:
    """Let go in good order, e.g. because the worker stops: whoever comes next goes on at once."""
    return _held(
        db, f"update imports set {_LET_GO}, woken_at_ms = 0, {_COUNT_TIME} where {_HELD}", import_id, worker, now=now_ms
    )


def drop_lease(db: Database, import_id: ImportId, worker: str, *, now_ms: int) -> bool:
    """Let go after a bug: the claim still counts, so that an import which breaks every worker ends."""
    return _held(
        db,
        f"update imports set lease_holder = null, lease_until_ms = 0, {_COUNT_TIME} where {_HELD}",
        import_id,
        worker,
        now=now_ms,
    )


def settle(db: Database, import_id: ImportId, worker: str, *, now_ms: int) -> bool:
    """Do what was asked for while it ran: pausing becomes paused, cancelling cancelled."""
    return _held(
        db,
        "update imports set finished_at_ms = case when state = 'cancelling' then :now end,"
        f" state = case state when 'pausing' then 'paused' else 'cancelled' end, {_LET_GO}, {_COUNT_TIME}"
        f" where {_HELD} and state in ('pausing', 'cancelling')",
        import_id,
        worker,
        now=now_ms,
    )


def pause_for(
    db: Database, import_id: ImportId, worker: str, *, reason: str, wake_at_ms: int | None, now_ms: int
) -> bool:
    """Stop because of a fault outside the documents. `wake_at_ms` None = until somebody resumes it."""
    return _held(
        db,
        "update imports set state = 'paused', pause_reason = :reason, wake_at_ms = case state when 'running' then :wake end,"
        f" faults = faults + 1, {_LET_GO}, {_COUNT_TIME} where {_HELD} and state in ('running', 'pausing')",
        import_id,
        worker,
        reason=reason,
        wake=wake_at_ms,
        now=now_ms,
    )


def faults(db: Database, import_id: ImportId) -> int:
    """Pauses for a fault in a row, without progress between them."""
    row = one(db, "select faults from imports where import_id = :id", id=import_id)
    return 0 if row is None else int(row["faults"])


def enter_stage(db: Database, import_id: ImportId, worker: str, stage: Stage, *, now_ms: int) -> bool:
    return _held(
        db,
        f"update imports set stage = :stage, {_COUNT_TIME} where {_HELD}",
        import_id,
        worker,
        lasting=False,
        stage=stage,
        now=now_ms,
    )


def count_embedded(db: Database, import_id: ImportId, worker: str, *, blocks: int, provider_tokens: int) -> None:
    """Progress of the embed stage: blocks whose vector is stored, tokens by the provider's own count.

    Tokens were paid for whoever holds the lease by now.
    """
    with writing(db) as connection:
        values = {"id": import_id, "me": worker, "blocks": blocks, "tokens": provider_tokens}
        connection.execute(
            "update imports set provider_tokens = provider_tokens + :tokens where import_id = :id", values
        )
        connection.execute(
            f"update imports set blocks_embedded = blocks_embedded + :blocks, attempts = 0, faults = 0 where {_HELD}",
            values,
        )


def restart_embed_count(db: Database, import_id: ImportId, worker: str) -> None:
    """The embed stage counts anew each time it is entered: what the cache holds passes in no time."""
    _held(
        db,
        "update imports set blocks_embedded = (select coalesce(sum(blocks), 0) from import_items"
        " where import_items.import_id = :id and import_items.state in ('embedded', 'indexed'))"
        f" where {_HELD}",
        import_id,
        worker,
        lasting=False,
    )


def complete_unchanged(db: Database, import_id: ImportId, worker: str, *, snapshot_id: SnapshotId, now_ms: int) -> bool:
    """Nothing differs from the active snapshot, which stays."""
    return _held(
        db,
        f"update imports set state = 'completed', snapshot_id = :snapshot, finished_at_ms = :now, {_LET_GO}, {_COUNT_TIME}"
        f" where {_HELD} and state = 'running'",
        import_id,
        worker,
        snapshot=snapshot_id,
        now=now_ms,
    )


def fail(db: Database, import_id: ImportId, worker: str, *, code: str, reason: str, now_ms: int) -> bool:
    """No usable snapshot; the previous one goes on answering."""
    return _held(
        db,
        "update imports set state = 'failed', failure_code = :code, failure_reason = :reason, finished_at_ms = :now,"
        f" {_LET_GO}, {_COUNT_TIME} where {_HELD} and state = 'running'",
        import_id,
        worker,
        code=code,
        reason=reason,
        now=now_ms,
    )


def reconcile(db: Database, *, now_ms: int, quiet_ms: int, lease_ms: int) -> list[ImportId]:
    """Put right what no worker looks after any more; returns the imports to wake.

    Stops that were asked of a worker which died are carried out; pauses for a fault end when their time has come.
    quiet_ms: an import that was woken less than this ago is left alone, so that a busy worker's queue doesn't fill up.
    lease_ms: as workers take it; a clock that was put back makes nobody wait for more than twice as long.
    """
    with writing(db) as connection:
        values = {"now": now_ms, "quiet": now_ms - quiet_ms, "ahead": now_ms + _AHEAD * lease_ms}
        connection.execute(
            "update imports set finished_at_ms = case state when 'cancelling' then :now end,"
            f" state = case state when 'pausing' then 'paused' else 'cancelled' end, {_LET_GO}, updated_at_ms = :now"
            f" where state in ('pausing', 'cancelling') and {_FREE}",
            values,
        )
        connection.execute(
            "update imports set state = 'running', pause_reason = null, wake_at_ms = null, woken_at_ms = 0, updated_at_ms = :now"
            " where state = 'paused' and (wake_at_ms <= :now or wake_at_ms is not null and updated_at_ms > :ahead)",
            values,
        )
        found = rows(
            db,
            f"select import_id from imports where state in ('queued', 'running') and {_FREE}"
            " and (woken_at_ms <= :quiet or woken_at_ms > :ahead) order by import_id",
            **values,
        )
        connection.executemany(
            "update imports set woken_at_ms = :now where import_id = :id",
            [{"now": now_ms, "id": row["import_id"]} for row in found],
        )
    return [ImportId(row["import_id"]) for row in found]


def not_woken(db: Database, imports: Sequence[ImportId]) -> None:
    """Their messages could not be sent: the next `reconcile` names them again."""
    with writing(db) as connection:
        connection.executemany(
            "update imports set woken_at_ms = 0 where import_id = :id", [{"id": import_id} for import_id in imports]
        )


def _held(
    db: Database, update: str, import_id: ImportId, worker: str, *, lasting: bool = True, **values: object
) -> bool:
    with writing(db, lasting=lasting) as connection:
        changed = connection.execute(update, {"id": import_id, "me": worker, **values})
    return changed.rowcount == 1
