"""The documents of one import and how far each is.

Every verb is the lease holder's (`worker`): one that was thought dead and comes back changes nothing, or its late word would put a
document back that its successor has finished.
"""

import msgspec
from sqlite_utils import Database

from shared.catalog.db import writing
from shared.catalog.leases import HELD
from shared.catalog.rows import Row, one, rows
from shared.ids import DocId, ImportId, SourceId
from shared.types.imports import ImportItem, ItemState
from shared.types.snapshots import Stage

_ITEM = ", ".join(ImportItem.__struct_fields__)


def add_item(
    db: Database,
    import_id: ImportId,
    worker: str,
    source_id: SourceId,
    key: str,
    *,
    original_sha256: str,
    size_bytes: int,
) -> None:
    """A document to be imported; nothing happens if it is already there."""
    with writing(db, lasting=False) as connection:
        connection.execute(
            _INSERT,
            _item(import_id, worker, source_id, key) | {"state": "pending", "sha": original_sha256, "size": size_bytes},
        )


def add_failed_item(
    db: Database,
    import_id: ImportId,
    worker: str,
    source_id: SourceId,
    key: str,
    *,
    code: str,
    reason: str,
    retryable: bool,
    size_bytes: int,
) -> None:
    """A document that could not even be taken in."""
    failure = {"stage": "discover", "code": code, "reason": reason, "retryable": retryable, "attempts": 1}
    with writing(db, lasting=False) as connection:
        connection.execute(
            _INSERT, _item(import_id, worker, source_id, key) | {"state": "failed", "size": size_bytes} | failure
        )


def known_keys(db: Database, import_id: ImportId, source_id: SourceId) -> set[str]:
    found = rows(
        db, "select key from import_items where import_id = :id and source_id = :source", id=import_id, source=source_id
    )
    return {row["key"] for row in found}


def list_items(db: Database, import_id: ImportId, *states: ItemState) -> list[ImportItem]:
    """In the order they were found; no states = all."""
    found = rows(db, f"select {_ITEM} from import_items where import_id = :id order by ordinal", id=import_id)
    return [msgspec.convert(row, ImportItem, strict=False) for row in found if not states or row["state"] in states]


def begin_item(db: Database, import_id: ImportId, worker: str, ordinal: int) -> int:
    """Count a try; returns its number. A try that ends the worker stays counted."""
    with writing(db, lasting=False) as connection:
        connection.execute(
            f"update import_items set attempts = attempts + 1 where {_ONE} and {HELD}",
            {"id": import_id, "me": worker, "n": ordinal},
        )
        row = one(db, f"select attempts from import_items where {_ONE}", id=import_id, n=ordinal)
    assert row is not None
    return int(row["attempts"])


def put_back_item(db: Database, import_id: ImportId, worker: str, ordinal: int) -> None:
    """A try that was interrupted through no fault of the document doesn't count."""
    with writing(db, lasting=False) as connection:
        connection.execute(
            f"update import_items set attempts = max(0, attempts - 1) where {_ONE} and {HELD}",
            {"id": import_id, "me": worker, "n": ordinal},
        )


def mark_unchanged(db: Database, import_id: ImportId, worker: str, ordinal: int, *, doc: DocId, version: int) -> None:
    """The base snapshot holds exactly this document already."""
    _set(
        db,
        import_id,
        worker,
        ordinal,
        "state = 'unchanged', doc_id = :doc, version = :version",
        doc=doc,
        version=version,
    )


def mark_parsed(db: Database, import_id: ImportId, worker: str, ordinal: int) -> None:
    _set(db, import_id, worker, ordinal, "state = 'parsed', attempts = 0")


def mark_chunked(
    db: Database, import_id: ImportId, worker: str, ordinal: int, *, doc: DocId, version: int, blocks: int, tokens: int
) -> None:
    _set(
        db,
        import_id,
        worker,
        ordinal,
        "state = 'chunked', attempts = 0, doc_id = :doc, version = :version, blocks = :blocks, tokens = :tokens",
        doc=doc,
        version=version,
        blocks=blocks,
        tokens=tokens,
    )


def mark_embedded(db: Database, import_id: ImportId, worker: str, ordinal: int) -> None:
    _set(db, import_id, worker, ordinal, "state = 'embedded'")


def mark_failed(
    db: Database,
    import_id: ImportId,
    worker: str,
    ordinal: int,
    *,
    stage: Stage,
    code: str,
    reason: str,
    retryable: bool,
) -> None:
    _set(
        db,
        import_id,
        worker,
        ordinal,
        "state = 'failed', attempts = max(1, attempts), failed_stage = :stage, failure_code = :code,"
        " failure_reason = :reason, retryable = :retryable",
        stage=stage,
        code=code,
        reason=reason,
        retryable=retryable,
    )


_ONE = "import_id = :id and ordinal = :n"
_INSERT = (
    "insert or ignore into import_items (import_id, ordinal, source_id, key, state, original_sha256, size_bytes, attempts,"
    " failed_stage, failure_code, failure_reason, retryable)"
    " select :id, next, :source, :key, :state, :sha, :size, :attempts, :stage, :code, :reason, :retryable"
    f" from (select coalesce(max(ordinal) + 1, 0) as next from import_items where import_id = :id) where {HELD}"
)


def _item(import_id: ImportId, worker: str, source_id: SourceId, key: str) -> Row:
    empty = {"sha": None, "attempts": 0, "stage": None, "code": None, "reason": None, "retryable": False}
    return empty | {"id": import_id, "me": worker, "source": source_id, "key": key}


def _set(db: Database, import_id: ImportId, worker: str, ordinal: int, change: str, **values: object) -> None:
    """One step of one document, which is also progress of the import."""
    with writing(db, lasting=False) as connection:
        connection.execute(
            f"update import_items set {change} where {_ONE} and state <> 'failed' and {HELD}",
            {"id": import_id, "me": worker, "n": ordinal, **values},
        )
        connection.execute(
            "update imports set attempts = 0, faults = 0 where import_id = :id and lease_holder = :me",
            {"id": import_id, "me": worker},
        )
