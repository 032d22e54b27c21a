"""Sections and blocks of a snapshot, under a caller's access; each block's text is compared with the hash it was published with."""

import hashlib
from collections.abc import Collection, Iterable
from typing import Any

import msgspec

from shared.catalog.block_rows import BLOCK, to_block
from shared.catalog.reads import PUBLISHED, Reads
from shared.catalog.within import Within, array, visible
from shared.errors import CollectionUnavailable
from shared.ids import BlockId, DocId, SnapshotId
from shared.types.documents import Block, Section

_SECTION = ", ".join(f"s.{name}" for name in Section.__struct_fields__)
# cross join: SQLite keeps this order, so results come in doc_id, block_index order from the indexes, without a sort
BLOCKS = (
    "snapshot_documents d cross join blocks b on b.doc_id = d.doc_id and b.version = d.version"
    " cross join sections s on s.doc_id = b.doc_id and s.version = b.version and s.ordinal = b.section_ordinal"
)


class BlockReads(Reads):
    """Raises: CollectionUnavailable when a block's text is not what was published."""

    def sections(self, within: Within, doc_ids: Iterable[DocId]) -> dict[DocId, list[Section]]:
        """In document order; without documents that are not within."""
        where, parameters = visible(within)
        rows = self.rows(
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
        rows = self.rows(f"select {BLOCK} from {BLOCKS} where {where} order by b.block_index", parameters)
        return [_block(row) for row in rows]

    def blocks_by_id(self, within: Within, block_ids: Iterable[BlockId]) -> dict[BlockId, Block]:
        """Without those that are not within."""
        where, parameters = visible(within)
        rows = self.rows(
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
        rows = self.rows(
            f"select {BLOCK} from {BLOCKS} where {where} and d.doc_id = :doc_id and d.version = :version"
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

    # one block, wherever it is

    def snapshots_with(self, block_id: str) -> list[SnapshotId]:
        """Published snapshots that hold the block, newest first."""
        rows = self.rows(
            "select n.snapshot_id from blocks b"
            " join snapshot_documents d on d.doc_id = b.doc_id and d.version = b.version"
            f" join snapshots n on n.snapshot_id = d.snapshot_id and n.state in {PUBLISHED}"
            " where b.block_id = ? order by n.published_at_ms desc, n.snapshot_id desc",
            (block_id,),
        )
        return [row[0] for row in rows]


def _section(row: tuple[Any, ...]) -> Section:
    return msgspec.convert(dict(zip(Section.__struct_fields__, row, strict=True)), Section)


def _block(row: tuple[Any, ...]) -> Block:
    block = to_block(row)
    if not is_published(block.text.encode(), block.sha256):
        raise changed(block.block_id)
    return block


def is_published(utf8: bytes, sha256: str) -> bool:
    """Whether the text is the one whose hash was published."""
    return hashlib.sha256(utf8).hexdigest() == sha256


def changed(block_id: BlockId) -> CollectionUnavailable:
    return CollectionUnavailable(f"The text of block {block_id} is not the one that was published.", ids=[block_id])
