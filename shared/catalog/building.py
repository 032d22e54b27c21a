"""How a snapshot comes to be: its members are written down, its collection is built elsewhere, one transaction publishes both."""

import hashlib
from typing import Literal

import msgspec
from msgspec import Struct
from sqlite_utils import Database

from shared.catalog.db import writing
from shared.catalog.labels import remember_labels
from shared.catalog.leases import HELD
from shared.catalog.retention import remember_removed
from shared.catalog.rows import Row, first_column, one, rows, to_json
from shared.catalog.snapshots import active_snapshot_id, intact_manifest, member, move_pointer
from shared.ids import BlockId, ImportId, SnapshotId
from shared.types.snapshots import FailedDocument, SnapshotDocument, SnapshotManifest

_COLUMNS = ", ".join(SnapshotDocument.__struct_fields__)
_AS_THEY_ARE_NOW = (
    "select versions.doc_id, versions.version, versions.title, documents.source_id, sources.label as source_label, documents.key,"
    " sources.aliases, versions.lang, sources.trust, sources.access, sources.tags, versions.media_type,"
    " versions.created_at_ms as updated_at_ms, versions.sections, versions.blocks, versions.tokens, versions.artifact_sha256"
    " from {members} as members cross join document_versions as versions using (doc_id, version)"
    " cross join documents on documents.doc_id = versions.doc_id cross join sources on sources.source_id = documents.source_id"
    " where {condition} order by versions.doc_id"
)
_STATED = (
    "(select json_extract(value, '$[0]') as doc_id, json_extract(value, '$[1]') as version from json_each(:stated))"
)


class NewSnapshot(Struct, frozen=True, kw_only=True):
    snapshot_id: SnapshotId
    import_id: ImportId
    base_snapshot_id: SnapshotId | None
    members: tuple[SnapshotDocument, ...]
    failures: tuple[FailedDocument, ...]
    embedding_version: str
    dimensions: int
    keyword_version: str


Verdict = Literal["published", "base_moved", "lease_lost"]


def choose_base(db: Database, import_id: ImportId, worker: str) -> SnapshotId | None:
    """The snapshot that is active now, to build on: it stays for as long as the import is unfinished."""
    with writing(db) as connection:
        connection.execute(
            "update imports set base_snapshot_id = (select snapshot_id from active_snapshot)"
            f" where import_id = :id and {HELD}",
            {"id": import_id, "me": worker},
        )
        return active_snapshot_id(db)


def base_members(db: Database, snapshot_id: SnapshotId) -> list[SnapshotDocument]:
    """A snapshot's documents with the labels that their sources have now; by doc_id.

    Which they are is in the manifest: a row that was lost or changed since takes no document out of the next snapshot.
    """
    sql = _AS_THEY_ARE_NOW.format(members=_STATED, condition="true")
    return [member(row) for row in rows(db, sql, stated=_stated(db, snapshot_id))]


def member_block_ids(db: Database, snapshot_id: SnapshotId) -> list[BlockId]:
    """Every block of every member, as stored; in no order."""
    return first_column(
        db,
        "select blocks.block_id from snapshot_documents as members cross join blocks using (doc_id, version)"
        " where members.snapshot_id = :id",
        id=snapshot_id,
    )


def damaged_members(db: Database, snapshot_id: SnapshotId) -> list[SnapshotDocument]:
    """Those whose stored version was found not to be what was imported; by doc_id."""
    sql = _AS_THEY_ARE_NOW.format(members=_STATED, condition="versions.state = 'damaged'")
    return [member(row) for row in rows(db, sql, stated=_stated(db, snapshot_id))]


def lost_members(db: Database, snapshot_id: SnapshotId) -> list[tuple[str, str]]:
    """Source label and key of those whose version is not there at all, though the snapshot holds it."""
    found = rows(
        db,
        f"select sources.label, documents.key from {_STATED} as members cross join documents using (doc_id)"
        " cross join sources using (source_id) where not exists (select 1 from document_versions as versions"
        " where versions.doc_id = members.doc_id and versions.version = members.version) order by members.doc_id",
        stated=_stated(db, snapshot_id),
    )
    return [(row["label"], row["key"]) for row in found]


def finished_members(db: Database, import_id: ImportId) -> list[SnapshotDocument]:
    """The import's documents whose stages are all done, those that were unchanged included; by doc_id."""
    sql = _AS_THEY_ARE_NOW.format(
        members="import_items",
        condition="members.import_id = :id and members.state in ('embedded', 'indexed', 'unchanged')",
    )
    return [member(row) for row in rows(db, sql, id=import_id)]


def begin_snapshot(db: Database, new: NewSnapshot, *, worker: str, now_ms: int) -> bool:
    """Write down what will be in it; nobody can read it yet.

    False when the import isn't `worker`'s any more: then nothing will come of it, and it should be discarded.
    """
    with writing(db) as connection:
        connection.execute(
            "insert into snapshots (snapshot_id, state, import_id, base_snapshot_id, created_at_ms, documents, blocks,"
            " embedding_version, dimensions, keyword_version)"
            " values (:id, 'building', :import, :base, :now, :documents, :blocks, :embedding, :dimensions, :keyword)",
            {
                "id": new.snapshot_id,
                "import": new.import_id,
                "base": new.base_snapshot_id,
                "now": now_ms,
                "documents": len(new.members),
                "blocks": sum(document.blocks for document in new.members),
                "embedding": new.embedding_version,
                "dimensions": new.dimensions,
                "keyword": new.keyword_version,
            },
        )
        places = ", ".join(f":{name}" for name in SnapshotDocument.__struct_fields__)
        connection.executemany(
            f"insert into snapshot_documents (snapshot_id, {_COLUMNS}) values (:snapshot, {places})",
            (_row(document) | {"snapshot": new.snapshot_id} for document in new.members),
        )
        connection.executemany(
            "insert into snapshot_failures (snapshot_id, ordinal, source_label, key, stage, code, reason, attempts, retryable)"
            " values (:snapshot, :n, :source_label, :key, :stage, :code, :reason, :attempts, :retryable)",
            [
                msgspec.structs.asdict(failure) | {"snapshot": new.snapshot_id, "n": number}
                for number, failure in enumerate(new.failures)
            ],
        )
        told = connection.execute(
            "update imports set snapshot_id = :id, base_snapshot_id = :base"
            " where import_id = :import and lease_holder = :me",
            {"id": new.snapshot_id, "base": new.base_snapshot_id, "import": new.import_id, "me": worker},
        )
    return told.rowcount == 1


def publish(
    db: Database, manifest: SnapshotManifest, *, import_id: ImportId, worker: str, activate: bool, now_ms: int
) -> Verdict:
    """Make a sealed snapshot readable, end its import and, when asked, let it answer: all of it or nothing.

    base_moved: another snapshot became active since this one was planned; nothing was changed.
    lease_lost: the import is no longer this worker's to publish, or somebody asked it to stop.
    """
    text = msgspec.json.encode(manifest, order="deterministic").decode()
    values = {
        "id": manifest.snapshot_id,
        "import": import_id,
        "me": worker,
        "now": now_ms,
        "manifest": text,
        "sha": hashlib.sha256(text.encode()).hexdigest(),
        "state": "ready_partial" if manifest.failed else "ready",
    }
    with writing(db) as connection:
        if activate and active_snapshot_id(db) != manifest.base_snapshot_id:
            return "base_moved"
        completed = connection.execute(
            "update imports set state = 'completed', stage = 'publish', lease_holder = null, lease_until_ms = 0, attempts = 0,"
            " faults = 0, running_ms = running_ms + max(0, min(:now, lease_until_ms) - beat_at_ms), beat_at_ms = :now, updated_at_ms = :now,"
            " finished_at_ms = :now where import_id = :import and state = 'running' and lease_holder = :me",
            values,
        )
        if completed.rowcount != 1:
            return "lease_lost"
        connection.execute(
            "update snapshots set state = :state, manifest = :manifest, manifest_sha256 = :sha, published_at_ms = :now"
            " where snapshot_id = :id and state = 'building'",
            values,
        )
        connection.execute(
            "update import_items set state = 'indexed' where import_id = :import and state = 'embedded'", values
        )
        remember_labels(connection, manifest.snapshot_id)
        if activate:
            move_pointer(connection, manifest.snapshot_id, cause=f"import {import_id}", now_ms=now_ms)
    return "published"


def fail_snapshot(db: Database, snapshot_id: SnapshotId, *, failure: str) -> None:
    """It did not pass a check; it stays visible with the check's name and never answers."""
    with writing(db) as connection:
        connection.execute(
            "update snapshots set state = 'failed', failure = :failure where snapshot_id = :id and state = 'building'",
            {"id": snapshot_id, "failure": failure},
        )


def unfinished_snapshots(db: Database, import_id: ImportId, worker: str) -> list[SnapshotId]:
    """Left behind by an earlier try of this import; none when the import isn't `worker`'s, or they were its successor's."""
    found = rows(
        db,
        f"select snapshot_id from snapshots where import_id = :id and state = 'building' and {HELD}",
        id=import_id,
        me=worker,
    )
    return [SnapshotId(row["snapshot_id"]) for row in found]


def orphaned_snapshots(db: Database) -> list[SnapshotId]:
    """Under construction for an import that has ended: its worker was killed, or lost it."""
    found = rows(
        db,
        "select snapshots.snapshot_id from snapshots join imports using (import_id)"
        " where snapshots.state = 'building' and imports.state in ('cancelled', 'failed', 'completed')",
    )
    return [SnapshotId(row["snapshot_id"]) for row in found]


def abandon_snapshot(db: Database, snapshot_id: SnapshotId, *, now_ms: int) -> None:
    """Decide that nothing will come of it: no builder begins it from here on, and it is removed like any other (retention.py).

    Its row stays until its collection is gone, so that what a late builder makes of it is never without one.
    Nothing happens to one that isn't under construction.
    """
    with writing(db) as connection:
        if not is_building(db, snapshot_id):
            return
        remember_removed(connection, snapshot_id, cause="abandoned", now_ms=now_ms)
        connection.execute("update imports set snapshot_id = null where snapshot_id = ?", [snapshot_id])
        connection.execute("update snapshots set state = 'removing' where snapshot_id = ?", [snapshot_id])


def is_building(db: Database, snapshot_id: SnapshotId) -> bool:
    """Whether it is under construction, and nobody has abandoned it."""
    return one(db, "select 1 from snapshots where snapshot_id = :id and state = 'building'", id=snapshot_id) is not None


def _stated(db: Database, snapshot_id: SnapshotId) -> str:
    """Pairs of document and version; from the manifest if it is intact, else from the rows."""
    manifest = intact_manifest(db, snapshot_id)
    if manifest is not None:
        return to_json([(document.doc_id, document.version) for document in manifest.documents])
    there = rows(db, "select doc_id, version from snapshot_documents where snapshot_id = :id", id=snapshot_id)
    return to_json([(row["doc_id"], row["version"]) for row in there])


def _row(document: SnapshotDocument) -> Row:
    plain: Row = msgspec.structs.asdict(document)
    return plain | {name: to_json(plain[name]) for name in ("aliases", "access", "tags")}
