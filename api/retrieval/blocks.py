"""A block as its own page: where it stands, what is around it, whether it is still current."""

from typing import Literal

from msgspec import Struct

from shared.catalog.reading import CatalogReader, Within
from shared.errors import NotFound
from shared.ids import BlockId, DocId, SnapshotId
from shared.types.documents import Block, Section
from shared.types.snapshots import SnapshotDocument

NEIGHBOURS = 2


class BlockView(Struct, frozen=True, kw_only=True):
    """One block and its surroundings in the same document version."""

    source: Literal["snapshot"] = "snapshot"  # else shared.types.runs.StoredQuote
    block: Block
    document: SnapshotDocument  # as `snapshot_id` knows it: title, source, trust, version, updated_at_ms
    section: Section
    snapshot_id: SnapshotId  # the preferred one if it holds the block, else the active one, else the newest that does
    in_active_snapshot: bool
    active_version: int | None  # the document's version in the active snapshot, if the caller may see it
    before: tuple[Block, ...]  # document order, nearest last
    after: tuple[Block, ...]


def block_view(
    catalog: CatalogReader,
    block_id: str,
    *,
    snapshot_id: SnapshotId | None,
    labels: frozenset[str] | None,
    neighbours: int = NEIGHBOURS,
) -> BlockView:
    """Blocking. A block of any published snapshot, `snapshot_id` preferred, then the active one.

    labels: the caller's. They must be enough in the snapshot that shows the block and, if the document is in the preferred
    or in the active snapshot, there too: labels that were tightened since hold for old versions as well.
    Raises: NotFound, the same for what does not exist and for what the caller may not see.
    """
    holders = catalog.snapshots_with(block_id)
    if not holders:
        raise _unknown(block_id)
    active = catalog.active()
    shown_in = next((one for one in (snapshot_id, active) if one in holders and one is not None), holders[0])
    within = Within(snapshot_id=shown_in, labels=labels)
    block = catalog.blocks_by_id(within, [BlockId(block_id)]).get(BlockId(block_id))
    if block is None or any(_hidden(catalog, block.doc_id, labels, one) for one in (snapshot_id, active) if one):
        raise _unknown(block_id)
    before, after = catalog.around(within, block, neighbours)
    current = None if active is None else _member(catalog, block.doc_id, labels, active)
    return BlockView(
        block=block,
        document=catalog.documents_by_id(within, [block.doc_id])[block.doc_id],
        section=catalog.sections(within, [block.doc_id])[block.doc_id][block.section_ordinal],
        snapshot_id=shown_in,
        in_active_snapshot=active in holders,
        active_version=None if current is None else current.version,
        before=tuple(before),
        after=tuple(after),
    )


def _member(
    catalog: CatalogReader, doc_id: DocId, labels: frozenset[str] | None, snapshot_id: SnapshotId
) -> SnapshotDocument | None:
    return catalog.documents_by_id(Within(snapshot_id=snapshot_id, labels=labels), [doc_id]).get(doc_id)


def _hidden(catalog: CatalogReader, doc_id: DocId, labels: frozenset[str] | None, snapshot_id: SnapshotId) -> bool:
    """Whether the document is in that snapshot, but not for this caller."""
    return (
        _member(catalog, doc_id, labels, snapshot_id) is None
        and _member(catalog, doc_id, None, snapshot_id) is not None
    )


def _unknown(block_id: str) -> NotFound:
    return NotFound("There is no such block.", field="block_id", ids=[block_id])
