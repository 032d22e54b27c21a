"""What nobody refers to any more: document versions, parse checkpoints, vectors, originals. The order in which they go is the worker's.

Referring are: a snapshot in any state, also one under construction, to its members; an unfinished import to every version of the
documents it is about, to their originals and to its uploads. A failed import can be retried and counts as unfinished for KEEP_MS;
of one that completed with failed documents the originals and uploads stay for as long.
A version that no snapshot ever held (its import was cancelled) is finished work and stays for KEEP_MS.
"""

from collections.abc import Callable, Iterable, Sequence

import msgspec
from msgspec import Struct
from sqlite_utils import Database

from shared.catalog.db import writing
from shared.catalog.retention import UNFINISHED
from shared.catalog.rows import rows
from shared.ids import BlockId, DocId
from shared.types.imports import ImportRequest

KEEP_MS = 7 * 24 * 3600 * 1000
AT_ONCE = 500  # rows in one transaction
_OPEN = f"(m.state in {UNFINISHED} or m.state = 'failed' and m.finished_at_ms > :since)"
_HAS_FAILED = (
    "(m.state = 'completed' and m.finished_at_ms > :since"
    " and exists (select 1 from import_items f where f.import_id = m.import_id and f.state = 'failed'))"
)
_UNREFERRED = (
    "v.state <> 'leaving'"
    " and (v.created_at_ms <= :since or exists"
    " (select 1 from removed_versions r where r.doc_id = v.doc_id and r.version = v.version))"
    " and not exists (select 1 from snapshot_documents d where d.doc_id = v.doc_id and d.version = v.version)"
    # cross join: from the few open imports to their item, by its key
    " and not exists (select 1 from documents o cross join imports m cross join import_items i"
    f" where o.doc_id = v.doc_id and {_OPEN}"
    " and i.import_id = m.import_id and i.source_id = o.source_id and i.key = o.key)"
)


class StoredVersion(Struct, frozen=True, kw_only=True):
    """A version and what its blocks' vectors were made with."""

    doc_id: DocId
    version: int
    title: str


def condemn_versions(db: Database, *, now_ms: int) -> int:
    """Mark some versions that nothing refers to; from here on nothing can. How many."""
    values = {"since": now_ms - KEEP_MS, "limit": AT_ONCE}
    found = rows(db, f"select v.doc_id, v.version from document_versions v where {_UNREFERRED} limit :limit", **values)
    if not found:
        return 0
    with writing(db) as connection:  # looked at once more: an import may have come meanwhile
        marked = connection.executemany(
            "update document_versions as v set state = 'leaving' where v.doc_id = :doc_id and v.version = :version"
            f" and {_UNREFERRED}",
            [row | values for row in found],
        )
    return marked.rowcount


def leaving_versions(db: Database) -> list[StoredVersion]:
    found = rows(
        db, "select doc_id, version, title from document_versions where state = 'leaving' order by doc_id, version"
    )
    return [msgspec.convert(row, StoredVersion) for row in found]


def remove_blocks(db: Database, keys: Sequence[tuple[BlockId, str]]) -> None:
    """Take out blocks of leaving versions (each with its vector's key) and remember their vectors. Give it few at a time."""
    leaving = (
        "block_id = ? and exists (select 1 from document_versions v"
        " where v.doc_id = blocks.doc_id and v.version = blocks.version and v.state = 'leaving')"
    )
    with writing(db) as connection:
        connection.executemany(
            f"insert or ignore into released_vectors (sha256, text_sha256) select ?, sha256 from blocks where {leaving}",
            [(key, block_id) for block_id, key in keys],
        )
        connection.executemany(f"delete from blocks where {leaving}", [(block_id,) for block_id, _ in keys])


def remove_version(db: Database, leaving: StoredVersion) -> None:
    """Take out the rest of a version whose blocks are gone; with its document's number, which is never given again, left behind."""
    values = {"doc": leaving.doc_id, "version": leaving.version}
    with writing(db) as connection:
        connection.execute(
            "delete from document_versions where doc_id = :doc and version = :version and state = 'leaving'"
            " and not exists (select 1 from blocks b where b.doc_id = :doc and b.version = :version)",
            values,
        )


def forget_checkpoints(db: Database, *, lineage: str, now_ms: int) -> bool:
    """Take out some parse checkpoints of originals that nothing refers to, or of another parser; True while there may be more.

    lineage: the running parser's; no other one is ever asked for.
    """
    values = {"since": now_ms - KEEP_MS, "lineage": lineage, "limit": AT_ONCE}
    gone_with = (
        "lineage <> :lineage or original_sha256 not in (select original_sha256 from document_versions"
        " union select i.original_sha256 from imports m cross join import_items i on i.import_id = m.import_id"
        f" where i.original_sha256 is not null and {_OPEN})"
    )
    if not rows(db, f"select 1 from parsed where {gone_with} limit 1", **values):
        return False
    with writing(db) as connection:
        gone = connection.execute(
            "delete from parsed where (original_sha256, name, lineage) in"
            f" (select original_sha256, name, lineage from parsed where {gone_with} limit :limit)",
            values,
        )
    return gone.rowcount == AT_ONCE


def referred_blobs(db: Database, *, now_ms: int) -> set[str]:
    """SHA-256 of every original and parse checkpoint that something refers to."""
    values = {"since": now_ms - KEEP_MS}
    found = rows(
        db,
        "select original_sha256 as sha256 from document_versions union select artifact_sha256 from parsed"
        " union select i.original_sha256 from imports m cross join import_items i on i.import_id = m.import_id"
        f" where i.original_sha256 is not null and ({_OPEN} or {_HAS_FAILED} and i.state = 'failed')",
        **values,
    )
    asked = rows(db, f"select request from imports m where {_OPEN} or {_HAS_FAILED}", **values)
    uploads = (msgspec.json.decode(row["request"], type=ImportRequest).uploads for row in asked)
    return {row["sha256"] for row in found} | {upload.sha256 for some in uploads for upload in some}


# vectors


def has_released_vectors(db: Database) -> bool:
    """Whether blocks were removed whose vectors have not been looked after yet."""
    return bool(rows(db, "select 1 from released_vectors limit 1"))


def last_block(db: Database) -> int:
    """The row number of the block that was stored last."""
    return int(rows(db, "select coalesce(max(id), 0) as last from blocks")[0]["last"])


def sharing_text(db: Database, *, after: int = 0) -> list[StoredVersion]:
    """Versions that have a block with the text of one whose vector was released.

    after: only blocks stored after that row. From 0 it reads every block once (about 2 s per million, no lock held).
    """
    found = rows(
        db,
        "select distinct v.doc_id, v.version, v.title from blocks b"
        " cross join document_versions v on v.doc_id = b.doc_id and v.version = b.version"
        " where b.id > :after and b.sha256 in (select text_sha256 from released_vectors) and v.state <> 'leaving'",
        after=after,
    )
    return [msgspec.convert(row, StoredVersion) for row in found]


def strike_released(db: Database, keys: Iterable[str]) -> None:
    with writing(db) as connection:
        connection.executemany("delete from released_vectors where sha256 = ?", [(key,) for key in keys])


def remove_released(
    db: Database,
    *,
    after: int,
    keys_of: Callable[[StoredVersion], Iterable[str]],
    remove: Callable[[Sequence[str]], None],
) -> bool:
    """Hand some released keys to `remove`, without those that a block stored after row `after` has; False when none was left.

    No block can be stored meanwhile: none loses a vector that its import has just found. `keys_of`: of a version's blocks.
    """
    with writing(db) as connection:
        found = rows(db, "select sha256 from released_vectors limit :limit", limit=AT_ONCE)
        if not found:
            return False
        used = {key for version in sharing_text(db, after=after) for key in keys_of(version)}
        remove([row["sha256"] for row in found if row["sha256"] not in used])
        connection.executemany("delete from released_vectors where sha256 = :sha256", found)
    return True


def unused_embedding_versions(db: Database) -> set[str]:
    """Those that only removed snapshots had."""
    found = rows(
        db,
        "select embedding_version from removed_snapshots where published_at_ms is not null"
        " except select embedding_version from snapshots",
    )
    return {row["embedding_version"] for row in found}


# sweeps


class Sweep(Struct, frozen=True, kw_only=True):
    number: int
    since_ms: int  # when this catalog was first seen beside its folder


def last_sweep(db: Database) -> Sweep | None:
    found = rows(db, "select number, since_ms from sweeps")
    return msgspec.convert(found[0], Sweep) if found else None


def note_sweep(db: Database, sweep: Sweep) -> None:
    with writing(db) as connection:
        connection.execute(
            "insert or replace into sweeps (id, number, since_ms) values (1, ?, ?)", [sweep.number, sweep.since_ms]
        )
