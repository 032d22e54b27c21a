"""The evidence ledger: what the model really saw in this run. Only what is in it may be cited. Pure."""

from collections.abc import Collection

from msgspec import Struct, field

from api.tools.contract import SeenBlock
from shared.ids import BlockId, SnapshotId
from shared.types.runs import LedgerEntry, ToolName


def shown_text(entry: LedgerEntry) -> str:
    """What the model saw of an entry: its text under its title, section and table header, which it saw as well."""
    return f"{entry.title}\n{entry.section_path}\n{entry.table_header}\n{entry.seen}"


class Fetch(Struct, frozen=True, kw_only=True):
    """The tool call that showed something. `query`: the sub-question, term or scope it was made for."""

    snapshot_id: SnapshotId
    turn: int
    tool: ToolName
    query: str
    at_ms: int


class Ledger(Struct, frozen=True, kw_only=True):
    """`blocks`: by block, in order of admission; a block stands here once as a whole, or as one or more snippets."""

    blocks: dict[str, tuple[LedgerEntry, ...]] = field(default_factory=dict)

    @property
    def entries(self) -> tuple[LedgerEntry, ...]:
        return tuple(entry for entries in self.blocks.values() for entry in entries)

    def of(self, block_id: str) -> tuple[LedgerEntry, ...]:
        return self.blocks.get(block_id, ())

    def knows(self, block: SeenBlock) -> bool:
        """Whether showing `block` brings nothing new: seen whole before, or the same piece of it."""
        return any(
            entry.extent == "block" or (block.extent == "snippet" and entry.seen == block.seen)
            for entry in self.of(block.block_id)
        )

    def known(self, blocks: tuple[SeenBlock, ...]) -> frozenset[BlockId]:
        return frozenset(block.block_id for block in blocks if self.knows(block))

    def admit(self, blocks: tuple[SeenBlock, ...], fetch: Fetch) -> "Ledger":
        """A ledger that also holds what an admitted result shows; a block now seen whole replaces its snippets."""
        grown = Ledger(blocks=dict(self.blocks))
        for block in blocks:
            if not grown.knows(block):
                before = () if block.extent == "block" else grown.of(block.block_id)
                grown.blocks[block.block_id] = (*before, _entry(block, fetch))
        return grown

    def without(self, block_ids: Collection[str]) -> "Ledger":
        """A ledger that never held these."""
        return Ledger(blocks={name: entries for name, entries in self.blocks.items() if name not in block_ids})


def _entry(block: SeenBlock, fetch: Fetch) -> LedgerEntry:
    return LedgerEntry(
        block_id=block.block_id,
        doc_id=block.doc_id,
        version=block.version,
        title=block.title,
        source_label=block.source_label,
        section_path=block.section_path,
        page_first=block.page_first,
        page_last=block.page_last,
        trust=block.trust,
        updated_at_ms=block.updated_at_ms,
        snapshot_id=fetch.snapshot_id,
        turn=fetch.turn,
        tool=fetch.tool,
        rank=block.rank,
        at_ms=fetch.at_ms,
        extent=block.extent,
        seen=block.seen,
        table_header=block.table_header,
        span_start=block.span_start,
        span_end=block.span_end,
        query=fetch.query,
    )
