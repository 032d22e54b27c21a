"""Imports as people drive them: accept, look, pause, resume, cancel, retry. The worker's own verbs are in leases.py.

The state table of spec/03; every verb is one conditional UPDATE.

| verb       | from              | to                                                           |
|------------|-------------------|--------------------------------------------------------------|
| create     | -                 | queued                                                       |
| claim *    | queued, running   | running (a running one only when its lease has run out)      |
| pause      | running           | pausing; at once paused when no worker holds it              |
| pause_for* | running, pausing  | paused, with the reason and perhaps a time to go on by itself|
| resume     | pausing, paused   | running                                                      |
| cancel     | queued, paused    | cancelled                                                    |
| cancel     | running, pausing  | cancelling; at once cancelled when no worker holds it        |
| settle *   | pausing           | paused                                                       |
| settle *   | cancelling        | cancelled                                                    |
| complete * | running           | completed                                                    |
| fail *     | running           | failed                                                       |
| retry      | failed            | queued                                                       |
| retry      | completed, if documents failed | queued: for those only (decision 0014)          |
"""

from typing import Any

import msgspec
from sqlite_utils import Database

from shared.catalog.db import writing
from shared.catalog.rows import Row, one, rows
from shared.errors import Conflict, InvalidArgument, NotFound
from shared.ids import ImportId, new_import_id
from shared.source_spec import check_spec
from shared.types.imports import Import, ImportRequest, ImportState, ItemState, Progress
from shared.types.snapshots import FailedDocument

_SEEN = (
    "import_id, state, mode, stage, base_snapshot_id, snapshot_id, pause_reason, failure_code, failure_reason, created_at_ms,"
    " updated_at_ms, finished_at_ms, provider_tokens, blocks_embedded, running_ms, beat_at_ms, lease_until_ms"
)

_HAS_FAILED = "exists (select 1 from import_items failed where failed.import_id = :id and failed.state = 'failed')"


def create_import(db: Database, request: ImportRequest, *, now_ms: int) -> ImportId:
    """Accept an import; a worker finds it even if nobody wakes one. Raises: InvalidArgument."""
    if request.mode != "reindex" and not (request.uploads or request.paths):
        raise InvalidArgument("An import needs at least one file, folder or upload.", field="paths")
    check_spec(request.source, field="source")
    import_id = new_import_id(now_ms)
    with writing(db) as connection:
        connection.execute(
            "insert into imports (import_id, state, mode, request, created_at_ms, updated_at_ms)"
            " values (:id, 'queued', :mode, :request, :now, :now)",
            {
                "id": import_id,
                "mode": request.mode,
                "request": msgspec.json.encode(request, order="deterministic").decode(),
                "now": now_ms,
            },
        )
    return import_id


def get_request(db: Database, import_id: ImportId) -> ImportRequest:
    """Raises: NotFound."""
    row = one(db, "select request from imports where import_id = :id", id=import_id)
    if row is None:
        raise _unknown(import_id)
    return msgspec.json.decode(row["request"], type=ImportRequest)


def get_import(db: Database, import_id: ImportId, *, now_ms: int) -> Import:
    """Raises: NotFound."""
    row = one(db, f"select {_SEEN} from imports where import_id = :id", id=import_id)
    if row is None:
        raise _unknown(import_id)
    return _import(db, row, now_ms=now_ms)


def list_imports(db: Database, *, limit: int, now_ms: int) -> list[Import]:
    """Newest first."""
    found = rows(db, f"select {_SEEN} from imports order by import_id desc limit :limit", limit=limit)
    return [_import(db, row, now_ms=now_ms) for row in found]


def count_imports(db: Database) -> dict[ImportState, int]:
    """Every import there was, by state; a state that none is in is left out."""
    return {
        row["state"]: row["number"] for row in rows(db, "select state, count(*) number from imports group by state")
    }


def pause(db: Database, import_id: ImportId, *, now_ms: int) -> None:
    """Ask the worker to stop after its current unit. Raises: NotFound, Conflict."""
    _move(
        db,
        import_id,
        "state = case when lease_until_ms < :now then 'paused' else 'pausing' end, pause_reason = 'asked for', wake_at_ms = null",
        allowed=("running",),
        verb="paused",
        now_ms=now_ms,
    )


def resume(db: Database, import_id: ImportId, *, now_ms: int) -> None:
    """Go on where it stopped; a lease that a worker still holds stays its own. Raises: NotFound, Conflict."""
    _move(
        db,
        import_id,
        "state = 'running', pause_reason = null, wake_at_ms = null, woken_at_ms = 0",
        allowed=("pausing", "paused"),
        verb="resumed",
        now_ms=now_ms,
    )


def cancel(db: Database, import_id: ImportId, *, now_ms: int) -> None:
    """Publish nothing; what is done stays in the caches. Raises: NotFound, Conflict."""
    _move(
        db,
        import_id,
        "state = case when lease_until_ms < :now then 'cancelled' else 'cancelling' end,"
        " finished_at_ms = case when lease_until_ms < :now then :now end, wake_at_ms = null",
        allowed=("queued", "running", "pausing", "paused"),
        verb="cancelled",
        now_ms=now_ms,
    )


def retry(db: Database, import_id: ImportId, *, now_ms: int) -> None:
    """Start again an import that failed, or the documents that failed in one that completed; finished ones stay finished.

    Raises: NotFound, Conflict.
    """
    with writing(db) as connection:
        connection.execute(  # what it has published is not published once more: it may be older by now than what others did
            "update import_items set state = 'unchanged', version = null where import_id = :id and state <> 'failed'"
            " and exists (select 1 from imports where import_id = :id and state = 'completed')"
            f" and {_HAS_FAILED}",
            {"id": import_id},
        )
        moved = connection.execute(
            "update imports set state = 'queued', stage = null, attempts = 0, faults = 0, failure_code = null,"
            " failure_reason = null, finished_at_ms = null, woken_at_ms = 0, updated_at_ms = :now"
            f" where import_id = :id and (state = 'failed' or state = 'completed' and {_HAS_FAILED})",
            {"id": import_id, "now": now_ms},
        )
        connection.execute(  # they are found anew, with the bytes they have by now; so is what was removed long after the failure
            "delete from import_items where import_id = :id and :moved and (state = 'failed' or version is not null and not exists"
            " (select 1 from document_versions v where v.doc_id = import_items.doc_id and v.version = import_items.version"
            " and v.state <> 'leaving'))",
            {"id": import_id, "moved": moved.rowcount},
        )
    if not moved.rowcount:
        raise _refused(db, import_id, "retried")


def _move(
    db: Database, import_id: ImportId, change: str, *, allowed: tuple[ImportState, ...], verb: str, now_ms: int
) -> None:
    states = ", ".join(f"'{state}'" for state in allowed)
    with writing(db) as connection:
        moved = connection.execute(
            f"update imports set {change}, updated_at_ms = :now where import_id = :id and state in ({states})",
            {"id": import_id, "now": now_ms},
        )
    if not moved.rowcount:
        raise _refused(db, import_id, verb)


def _refused(db: Database, import_id: ImportId, verb: str) -> Conflict | NotFound:
    row = one(db, "select state from imports where import_id = :id", id=import_id)
    if row is None:
        return _unknown(import_id)
    return Conflict(f"This import is {row['state']} and can't be {verb}.", ids=[import_id])


def _unknown(import_id: ImportId) -> NotFound:
    return NotFound("There is no such import.", field="import_id", ids=[import_id])


def _import(db: Database, row: Row, *, now_ms: int) -> Import:
    seen: dict[str, Any] = {name: row[name] for name in Import.__struct_fields__ if name in row}
    failed = rows(
        db,
        "select coalesce(sources.label, import_items.source_id) as source_label, key, failed_stage as stage,"
        " failure_code as code, failure_reason as reason, attempts, retryable"
        " from import_items left join sources using (source_id)"
        " where import_id = :id and state = 'failed' order by ordinal",
        id=row["import_id"],
    )
    seen["failed_documents"] = [msgspec.convert(document, FailedDocument, strict=False) for document in failed]
    seen["progress"] = _progress(db, row, now_ms=now_ms)
    return msgspec.convert(seen, Import, strict=False, from_attributes=True)


def _progress(db: Database, row: Row, *, now_ms: int) -> Progress:
    groups = rows(
        db,
        "select state, count(*) as items, sum(blocks) as blocks, sum(tokens) as tokens from import_items"
        " where import_id = :id group by state",
        id=row["import_id"],
    )
    by_state: dict[ItemState, int] = {group["state"]: group["items"] for group in groups}
    made = [group for group in groups if group["state"] not in ("unchanged", "failed")]
    blocks = sum(group["blocks"] for group in made)
    live = row["lease_until_ms"] >= now_ms
    elapsed_ms = row["running_ms"] + (max(0, now_ms - row["beat_at_ms"]) if live else 0)
    embedded = row["blocks_embedded"]
    rate = embedded * 1000 / elapsed_ms if elapsed_ms else 0.0
    known = row["stage"] == "embed" and rate > 0  # how long the last stages take is in no count
    return Progress(
        total=sum(by_state.values()),
        by_state=by_state,
        blocks=blocks,
        blocks_embedded=embedded,
        tokens=sum(group["tokens"] for group in made),
        provider_tokens=row["provider_tokens"],
        elapsed_ms=elapsed_ms,
        blocks_per_s=round(rate, 3),
        remaining_s=max(0, blocks - embedded) / rate if known else None,
    )
