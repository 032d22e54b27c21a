"""What a pinned snapshot holds, read under a caller's access. Nothing here writes.

Every query joins the snapshot's membership and applies `Within` in SQL, before anything else is looked at: a document outside
it does not exist. Rows become Structs here.
"""

import hashlib
import json
import sqlite3
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from shared.catalog.block_rows import BLOCK, COLUMNS, to_block
from shared.catalog.db import open_database
from shared.catalog.documents import get_version, is_as_imported
from shared.catalog.scan_index import index_fault, is_complete
from shared.catalog.scanning import Ids, candidates, in_order
from shared.catalog.snapshots import (
    active_snapshot_id,
    get_snapshot,
    list_snapshots,
    member,
    membership_sha256,
    removed_at_ms,
)
from shared.catalog.within import Within as Within
from shared.catalog.within import array, visible
from shared.errors import CollectionUnavailable, StorageError
from shared.ids import BlockId, DocId, SnapshotId
from shared.text.fold import fold
from shared.types.documents import Block, Section
from shared.types.snapshots import Snapshot, SnapshotDocument

_DOCUMENT = ", ".join(f"d.{name}" for name in SnapshotDocument.__struct_fields__)
_SECTION = ", ".join(f"s.{name}" for name in Section.__struct_fields__)
# cross join: SQLite keeps this order, so results come in doc_id, block_index order from the indexes, without a sort
_BLOCKS = (
    "snapshot_documents d cross join blocks b on b.doc_id = d.doc_id and b.version = d.version"
    " cross join sections s on s.doc_id = b.doc_id and s.version = b.version and s.ordinal = b.section_ordinal"
)
_FOLDED = "nullif(b.folded, b.text)"  # most Chinese texts are their own fold: read once
MAPPED_BYTES = (
    8 << 30
)  # of address space, not of memory; a full scan of 100,000 blocks takes 140 ms with and 220 ms without
_BATCH = 1_000  # blocks read by their ids at once
_SOON_READ = 10_000  # blocks: reading them through takes some 15 ms
_PUBLISHED = "('ready', 'ready_partial')"


class DocumentFacts(Struct, frozen=True, kw_only=True):
    """A member as recorded and as counted, to be compared with the manifest."""

    doc_id: DocId
    version: int
    artifact_sha256: str  # of the membership row
    version_artifact_sha256: str | None  # of the document version; None = no such version
    sections: int  # rows there are
    blocks: int


class CatalogReader:
    """A read-only connection; one call at a time.

    Raises: StorageError from every method; CollectionUnavailable when a block's text is not what was published.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._db = open_database(path)
        self._db.conn.execute("pragma query_only = on")
        self._db.conn.execute(f"pragma mmap_size = {MAPPED_BYTES}")
        self._db.conn.create_function("fold", 1, fold, deterministic=True)
        self._narrowed_at: int | None = None  # a state of the catalog; what was found in it
        self._relabelled: dict[tuple[SnapshotId, SnapshotId | None], bool] = {}
        self._last_narrowed: tuple[Within, frozenset[DocId]] | None = None
        self._complete: tuple[int | None, bool] = (None, False)  # a state of the catalog; whether its index of grams is

    def close(self) -> None:
        self._db.close()

    # snapshots

    def active(self) -> SnapshotId | None:
        with _reading():
            return active_snapshot_id(self._db)

    def snapshot(self, snapshot_id: SnapshotId) -> Snapshot:
        """Raises: NotFound."""
        with _reading():
            return get_snapshot(self._db, snapshot_id)

    def snapshots(self) -> list[Snapshot]:
        """The newest first, those under construction included."""
        with _reading():
            return list_snapshots(self._db)

    def manifest_text(self, snapshot_id: SnapshotId) -> str | None:
        """As stored, for hashing; None = never sealed."""
        row = self._row("select manifest from snapshots where snapshot_id = ?", (snapshot_id,))
        return None if row is None else row[0]

    def facts(self, snapshot_id: SnapshotId) -> list[DocumentFacts]:
        """By doc_id."""
        rows = self._rows(
            "select d.doc_id, d.version, d.artifact_sha256, v.artifact_sha256,"
            " (select count(*) from sections s where s.doc_id = d.doc_id and s.version = d.version),"
            " (select count(*) from blocks b where b.doc_id = d.doc_id and b.version = d.version)"
            " from snapshot_documents d left join document_versions v on v.doc_id = d.doc_id and v.version = d.version"
            " where d.snapshot_id = ? order by d.doc_id",
            (snapshot_id,),
        )
        return [
            DocumentFacts(
                doc_id=row[0],
                version=row[1],
                artifact_sha256=row[2],
                version_artifact_sha256=row[3],
                sections=row[4],
                blocks=row[5],
            )
            for row in rows
        ]

    def languages(self, within: Within) -> frozenset[str]:
        """Of the documents, without regions: "zh" for zh-Hant."""
        where, parameters = visible(within)
        rows = self._rows(f"select distinct d.lang from snapshot_documents d where {where}", parameters)
        return frozenset(row[0].lower().split("-")[0] for row in rows)

    def is_published(self, snapshot_id: SnapshotId) -> bool:
        """Whether it is there for readers, now."""
        sql = f"select 1 from snapshots where snapshot_id = ? and state in {_PUBLISHED}"
        return self._row(sql, (snapshot_id,)) is not None

    def membership_sha256(self, snapshot_id: SnapshotId) -> str:
        """As the manifest states it."""
        with _reading():
            return membership_sha256(self._db, snapshot_id)

    def is_as_imported(self, doc_id: DocId, version: int) -> bool:
        """Whether the sections and blocks of a version are still those of its artifact hash."""
        with _reading():
            return is_as_imported(self._db, doc_id, version)

    def block_ids(self, snapshot_id: SnapshotId) -> set[BlockId]:
        """Of every block that the members have."""
        return {
            BlockId(row[0])
            for row in self._rows(
                "select b.block_id from snapshot_documents d cross join blocks b"
                " on b.doc_id = d.doc_id and b.version = d.version where d.snapshot_id = ?",
                (snapshot_id,),
            )
        }

    def originals(self, snapshot_id: SnapshotId) -> set[str]:
        """SHA-256 of what the members were made of."""
        return {
            row[0]
            for row in self._rows(
                "select v.original_sha256 from snapshot_documents d join document_versions v"
                " on v.doc_id = d.doc_id and v.version = d.version where d.snapshot_id = ?",
                (snapshot_id,),
            )
        }

    # documents

    def documents(
        self,
        within: Within,
        *,
        source: str | None = None,
        lang: str | None = None,
        title_contains: str | None = None,
        tag: str | None = None,
    ) -> list[SnapshotDocument]:
        """Those that meet every condition given, by source label, title, doc_id (code points).

        source: a label or alias; title_contains: part of the title; both without regard to case. tag: exact.
        """
        where, parameters = visible(within)
        if source is not None:
            where += (
                " and (fold(d.source_label) = :source"
                " or exists (select 1 from json_each(d.aliases) where fold(value) = :source))"
            )
            parameters["source"] = fold(source)
        if lang is not None:
            where += " and lower(d.lang) = :lang"
            parameters["lang"] = lang.lower()
        if title_contains is not None:
            where += " and instr(fold(d.title), :title) > 0"
            parameters["title"] = fold(title_contains)
        if tag is not None:
            where += " and exists (select 1 from json_each(d.tags) where value = :tag)"
            parameters["tag"] = tag
        rows = self._rows(
            f"select {_DOCUMENT} from snapshot_documents d where {where} order by d.source_label, d.title, d.doc_id",
            parameters,
        )
        return [_document(row) for row in rows]

    def documents_by_id(self, within: Within, doc_ids: Iterable[DocId]) -> dict[DocId, SnapshotDocument]:
        """Without those that are not within."""
        where, parameters = visible(within)
        rows = self._rows(
            f"select {_DOCUMENT} from snapshot_documents d"
            f" where {where} and d.doc_id in (select value from json_each(:wanted))",
            parameters | {"wanted": array(doc_ids)},
        )
        return {row[0]: _document(row) for row in rows}

    def known(self, within: Within, doc_ids: Iterable[DocId]) -> set[DocId]:
        """Which of these are within."""
        where, parameters = visible(within)
        rows = self._rows(
            "select d.doc_id from json_each(:wanted) w cross join snapshot_documents d on d.doc_id = w.value"
            f" where {where}",
            parameters | {"wanted": array(doc_ids)},
        )
        return {row[0] for row in rows}

    def narrowed(self, within: Within) -> frozenset[DocId] | None:
        """The documents within, where the labels that a collection knows (those of its day) may not do; None = they do, with the scope."""
        if (state := self._state()) != self._narrowed_at:
            self._narrowed_at, self._relabelled, self._last_narrowed = state, {}, None
        places = (within.snapshot_id, within.today)
        if places not in self._relabelled:
            self._relabelled[places] = self._is_relabelled(within)
        if not self._relabelled[places]:
            return within.doc_ids
        if self._last_narrowed is None or self._last_narrowed[0] != within:
            where, parameters = visible(within)
            rows = self._rows(f"select d.doc_id from snapshot_documents d where {where}", parameters)
            self._last_narrowed = within, frozenset(row[0] for row in rows)
        return self._last_narrowed[1]

    def _is_relabelled(self, within: Within) -> bool:
        """Whether any document of the snapshot has other labels in another place that is looked at."""
        sql = (
            "select 1 from snapshot_documents d left join documents k on k.doc_id = d.doc_id"
            " left join snapshot_documents t on t.snapshot_id = :today and t.doc_id = d.doc_id"
            " where d.snapshot_id = :id and (k.access is not d.access or t.access <> d.access) limit 1"
        )
        return self._row(sql, {"id": within.snapshot_id, "today": within.today}) is not None

    def counts(self, within: Within) -> tuple[int, int]:
        """Documents and blocks."""
        where, parameters = visible(within)
        row = self._row(
            f"select count(*), coalesce(sum(d.blocks), 0) from snapshot_documents d where {where}", parameters
        )
        assert row is not None
        return row[0], row[1]

    def has_blocks(self, within: Within) -> bool:
        where, parameters = visible(within)
        return bool(self._row(f"select 1 from snapshot_documents d where {where} and d.blocks > 0 limit 1", parameters))

    # sections and blocks

    def sections(self, within: Within, doc_ids: Iterable[DocId]) -> dict[DocId, list[Section]]:
        """In document order; without documents that are not within."""
        where, parameters = visible(within)
        rows = self._rows(
            f"select s.doc_id, {_SECTION} from snapshot_documents d"
            " cross join sections s on s.doc_id = d.doc_id and s.version = d.version"
            f" where {where} and d.doc_id in (select value from json_each(:wanted)) order by s.doc_id, s.ordinal",
            parameters | {"wanted": array(doc_ids)},
        )
        found: dict[DocId, list[Section]] = {}
        for row in rows:
            found.setdefault(row[0], []).append(_section(row[1:]))
        return found

    def blocks(
        self, within: Within, doc_id: DocId, *, sections: Collection[int] | None = None, indexes: range | None = None
    ) -> list[Block]:
        """All blocks of a document, or of the sections with these ordinals, or with these indexes; each once, in document order."""
        where, parameters = visible(within)
        where += " and d.doc_id = :doc_id"
        parameters["doc_id"] = doc_id
        if indexes is not None:
            where += " and b.block_index >= :first and b.block_index < :end"
            parameters |= {"first": indexes.start, "end": indexes.stop}
        if sections is not None:
            where += " and b.section_ordinal in (select value from json_each(:sections))"
            parameters["sections"] = array(sections)
        rows = self._rows(f"select {BLOCK} from {_BLOCKS} where {where} order by b.block_index", parameters)
        return [_block(row) for row in rows]

    def blocks_by_id(self, within: Within, block_ids: Iterable[BlockId]) -> dict[BlockId, Block]:
        """Without those that are not within."""
        where, parameters = visible(within)
        rows = self._rows(
            f"select {BLOCK} from json_each(:wanted) w cross join blocks b on b.block_id = w.value"
            " cross join snapshot_documents d on d.doc_id = b.doc_id and d.version = b.version"
            " cross join sections s on s.doc_id = b.doc_id and s.version = b.version and s.ordinal = b.section_ordinal"
            f" where {where}",
            parameters | {"wanted": array(block_ids)},
        )
        return {row[0]: _block(row) for row in rows}

    def around(self, within: Within, block: Block, count: int) -> tuple[list[Block], list[Block]]:
        """Up to `count` blocks before and after in the same document version, in document order."""
        where, parameters = visible(within)
        rows = self._rows(
            f"select {BLOCK} from {_BLOCKS} where {where} and d.doc_id = :doc_id and d.version = :version"
            " and b.block_index between :first and :last order by b.block_index",
            parameters
            | {
                "doc_id": block.doc_id,
                "version": block.version,
                "first": block.index - count,
                "last": block.index + count,
            },
        )
        blocks = [_block(row) for row in rows]
        return [b for b in blocks if b.index < block.index], [b for b in blocks if b.index > block.index]

    def containing(self, within: Within, folded_term: str) -> Iterator[list[tuple[Block, str]]]:
        """Every block whose folded text contains the folded term, with that folded text; by doc_id, index, some at a time.

        What few documents hold is read through; in the rest, the index of grams says which blocks are worth reading.
        """
        where, parameters = visible(within)
        parameters["term"] = folded_term
        where += " and instr(b.folded, :term) > 0"
        is_soon_read = within.doc_ids is not None and self.counts(within)[1] <= _SOON_READ
        found = None if is_soon_read else self.candidates(folded_term)
        if found is None:
            sql = f"select {BLOCK}, {_FOLDED} from {_BLOCKS} where {where} order by d.doc_id, b.block_index"
            every = map(_with_folded, self._rows(sql, parameters))
            while some := list(islice(every, _BATCH)):
                yield some
            return
        is_placed = len(found) > _BATCH
        if is_placed:
            found = self.placed(within, found)
        for at in range(0, len(found), _BATCH):
            rows = self._all(
                f"select {BLOCK}, {_FOLDED} from json_each(:ids) w cross join blocks b on b.id = w.value"
                " cross join snapshot_documents d on d.doc_id = b.doc_id and d.version = b.version"
                " cross join sections s on s.doc_id = b.doc_id and s.version = b.version and s.ordinal = b.section_ordinal"
                f" where {where}",
                parameters | {"ids": array(found[at : at + _BATCH].tolist())},
            )
            some = list(map(_with_folded, rows))
            if not is_placed:
                some.sort(key=lambda row: (row[0].doc_id, row[0].index))
            yield some

    def placed(self, within: Within, ids: Ids) -> Ids:
        """Rows of blocks that are within, by doc_id and block index."""
        where, parameters = visible(within)
        with _reading():
            return in_order(self._db.conn, ids, where=where, parameters=parameters)

    def candidates(self, folded_term: str) -> Ids | None:
        """Rows of blocks that may have the term, in all snapshots; None = the index doesn't say, or lacks blocks."""
        with _reading():
            return candidates(self._db.conn, folded_term) if self._is_indexed() else None

    def scan_index_fault(self) -> str | None:
        """What is wrong with the index of grams, of all snapshots; None = it has every block. Raises: StorageError."""
        return index_fault(self._path)

    def _is_indexed(self) -> bool:
        state = self._state()
        if self._complete[0] != state:
            self._complete = (state, is_complete(self._db.conn))
        return self._complete[1]

    def _state(self) -> int:
        """Another one after each commit of others."""
        with _reading():
            [(state,)] = self._db.conn.execute("pragma data_version")
            return state

    # one block, wherever it is

    def snapshots_with(self, block_id: str) -> list[SnapshotId]:
        """Published snapshots that hold the block, newest first."""
        rows = self._rows(
            "select n.snapshot_id from blocks b"
            " join snapshot_documents d on d.doc_id = b.doc_id and d.version = b.version"
            f" join snapshots n on n.snapshot_id = d.snapshot_id and n.state in {_PUBLISHED}"
            " where b.block_id = ? order by n.published_at_ms desc, n.snapshot_id desc",
            (block_id,),
        )
        return [row[0] for row in rows]

    def snapshots_of(self, doc_id: DocId, version: int) -> list[SnapshotId]:
        """Published snapshots that hold that version of a document, newest first."""
        rows = self._rows(
            "select n.snapshot_id from snapshot_documents d join snapshots n on n.snapshot_id = d.snapshot_id"
            f" where d.doc_id = ? and d.version = ? and n.state in {_PUBLISHED}"
            " order by n.published_at_ms desc, n.snapshot_id desc",
            (doc_id, version),
        )
        return [row[0] for row in rows]

    def original_sha256(self, doc_id: DocId, version: int) -> str:
        """Of the file that a version was made of; the version is known to be there."""
        with _reading():
            return get_version(self._db, doc_id, version).original_sha256

    def last_labels(self, doc_id: DocId) -> tuple[str, ...] | None:
        """Those that are known last for a document, wherever it was published; None = it never was, here."""
        row = self._row("select access from documents where doc_id = ? and access is not null", (doc_id,))
        return None if row is None else tuple(json.loads(row[0]))

    def removed_at_ms(self, snapshot_id: SnapshotId) -> int | None:
        """When a published snapshot was removed; None = it is there, or never was."""
        with _reading():
            return removed_at_ms(self._db, snapshot_id)

    def _row(self, sql: str, parameters: Mapping[str, Any] | tuple[Any, ...]) -> tuple[Any, ...] | None:
        return next(self._rows(sql, parameters), None)

    def _all(self, sql: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        with _reading():
            return self._db.conn.execute(sql, parameters).fetchall()

    def _rows(self, sql: str, parameters: Mapping[str, Any] | tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        with _reading():
            yield from self._db.conn.execute(sql, parameters)


@contextmanager
def _reading() -> Generator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StorageError(f"The catalog can't be read: {error}. Run ./scripts/run doctor.") from error


def _document(row: tuple[Any, ...]) -> SnapshotDocument:
    return member(dict(zip(SnapshotDocument.__struct_fields__, row, strict=True)))


def _with_folded(row: tuple[Any, ...]) -> tuple[Block, str]:
    block, folded = _block(row), row[COLUMNS]
    return block, block.text if folded is None else folded


def _section(row: tuple[Any, ...]) -> Section:
    return msgspec.convert(dict(zip(Section.__struct_fields__, row, strict=True)), Section)


def _block(row: tuple[Any, ...]) -> Block:
    """Raises: CollectionUnavailable when the text isn't the one whose hash was published."""
    block = to_block(row)
    if hashlib.sha256(block.text.encode()).hexdigest() != block.sha256:
        raise CollectionUnavailable(
            f"The text of block {block.block_id} is not the one that was published.",
            ids=[block.block_id],
        )
    return block
