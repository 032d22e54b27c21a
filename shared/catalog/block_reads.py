"""Sections and blocks of a snapshot, under a caller's access; each block's text is compared with the hash it was published with."""

import hashlib
from collections.abc import Collection, Iterable

import msgspec

from shared.catalog.block_rows import BLOCK, COLUMNS, to_block
from shared.catalog.document_reads import DOCUMENT
from shared.catalog.reads import PUBLISHED, Reads, json_object
from shared.catalog.within import Within, array, visible
from shared.errors import CollectionUnavailable
from shared.ids import BlockId, DocId, SnapshotId
from shared.types.documents import Block, Section
from shared.types.snapshots import SnapshotDocument

_SECTION = json_object({name: f"s.{name}" for name in Section.__struct_fields__})
_MEMBER = f"json_array({json_object(COLUMNS | {'flags': 'json(b.flags)'})}, {DOCUMENT})"
# cross join: SQLite keeps this order, so results come in doc_id, block_index order from the indexes, without a sort
BLOCKS = (
    "snapshot_documents d cross join blocks b on b.doc_id = d.doc_id and b.version = d.version"
    " cross join sections s on s.doc_id = b.doc_id and s.version = b.version and s.ordinal = b.section_ordinal"
)
_NAMED = (
    "json_each(:wanted) w cross join blocks b on b.block_id = w.value"
    " cross join snapshot_documents d on d.doc_id = b.doc_id and d.version = b.version"
    " cross join sections s on s.doc_id = b.doc_id and s.version = b.version and s.ordinal = b.section_ordinal"
)
_sections = msgspec.json.Decoder(tuple[DocId, Section])
_members = msgspec.json.Decoder(tuple[Block, SnapshotDocument])


class BlockReads(Reads):
    """Raises: CollectionUnavailable when a block's text is not what was published."""

    def sections(self, within: Within, doc_ids: Iterable[DocId]) -> dict[DocId, list[Section]]:
        """In document order; without documents that are not within."""
        where, parameters = visible(within)
        rows = self.listed(
            f"json_array(s.doc_id, {_SECTION})",
            "snapshot_documents d cross join sections s on s.doc_id = d.doc_id and s.version = d.version"
            f" where {where} and d.doc_id in (select value from json_each(:wanted)) order by s.doc_id, s.ordinal",
            parameters | {"wanted": array(doc_ids)},
            _sections,
        )
        found: dict[DocId, list[Section]] = {}
        for doc_id, section in rows:
            found.setdefault(doc_id, []).append(section)
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
        return [_checked(to_block(row)) for row in rows]

    def blocks_by_id(self, within: Within, block_ids: Iterable[BlockId]) -> dict[BlockId, Block]:
        """Without those that are not within."""
        return {block_id: block for block_id, (block, _) in self.members_by_id(within, block_ids).items()}

    def members_by_id(
        self, within: Within, block_ids: Iterable[BlockId]
    ) -> dict[BlockId, tuple[Block, SnapshotDocument]]:
        """Blocks and their documents, without those that are not within."""
        where, parameters = visible(within)
        found = self.listed(_MEMBER, f"{_NAMED} where {where}", parameters | {"wanted": array(block_ids)}, _members)
        return {block.block_id: (_checked(block), document) for block, document in found}

    def around(self, within: Within, block: Block, count: int) -> tuple[list[Block], list[Block]]:
        """Up to `count` blocks before and after in the same document version, in document order."""
        blocks = self.blocks(within, block.doc_id, indexes=range(block.index - count, block.index + count + 1))
        same = [b for b in blocks if b.version == block.version]
        return [b for b in same if b.index < block.index], [b for b in same if b.index > block.index]

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


def _checked(block: Block) -> Block:
    """Raises: CollectionUnavailable."""
    if not is_published(block.text.encode(), block.sha256):
        raise changed(block.block_id)
    return block


def is_published(utf8: bytes, sha256: str) -> bool:
    """Whether the text is the one whose hash was published."""
    return hashlib.sha256(utf8).hexdigest() == sha256


def changed(block_id: BlockId) -> CollectionUnavailable:
    return CollectionUnavailable(f"The text of block {block_id} is not the one that was published.", ids=[block_id])
