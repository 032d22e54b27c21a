"""A block as its own page: where it stands, what is around it, whether it is still current."""

from msgspec import Struct

from shared.ids import BlockId, DocId, SnapshotId
from shared.types.documents import Block, Section
from shared.types.snapshots import SnapshotDocument

NEIGHBOURS = 2


class BlockView(Struct, frozen=True, kw_only=True):
    """One block and its surroundings in the same document version."""

    block: Block
    document: SnapshotDocument  # as `snapshot_id` knows it: title, source, trust, version, updated_at_ms
    section: Section
    snapshot_id: SnapshotId  # the pinned one if it holds the block, else the newest published one that does
    in_active_snapshot: bool
    active_version: int | None  # the document's version in the active snapshot, if the caller may see it
    before: tuple[Block, ...]  # document order, nearest last
    after: tuple[Block, ...]

    @property
    def block_id(self) -> BlockId:
        return self.block.block_id

    @property
    def doc_id(self) -> DocId:
        return self.block.doc_id
