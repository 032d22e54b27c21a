"""The blocks most likely to answer a question."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from api.retrieval.fusion import Fused
from api.retrieval.refine import disagreement
from api.tools.contract import Call, DocIdText, EmptyReason, Reply, Text, Tool, describe, iso_time, seen_block
from api.tools.narrowing import is_all_of_it, narrowed, nothing_to_find
from api.tools.payload import encoded
from shared.catalog.reading import CatalogReader, Within
from shared.ids import BlockId, DocId
from shared.types.documents import Block, BlockFlag, Trust
from shared.types.snapshots import SnapshotDocument

MAX_QUERY = 1_000  # code points: what the bundled model embeds in a second; nobody searches for a whole page at once


class SearchBlocksArgs(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: Annotated[
        Text,
        Meta(
            max_length=MAX_QUERY,
            description=(
                "What is looked for, understandable on its own: names instead of pronouns, one matter at a time;"
                f" at most {MAX_QUERY} characters."
            ),
        ),
    ]
    doc_ids: (
        Annotated[
            tuple[DocIdText, ...],
            Meta(
                min_length=1,
                description="Search these documents only; at least one, or absent = all allowed documents.",
            ),
        ]
        | UnsetType
    ) = UNSET


class FoundBlock(Struct, frozen=True, kw_only=True, omit_defaults=True):
    block_id: BlockId
    doc_id: DocId
    title: str
    source_label: str
    section_path: str
    page_first: int | None = None
    page_last: int | None = None
    version: int
    updated_at: str
    trust: Trust
    flags: tuple[BlockFlag, ...] = ()
    table_header: str = ""
    text: str


class FoundBlocks(Struct, frozen=True, kw_only=True, omit_defaults=True):
    blocks: tuple[FoundBlock, ...]  # best first
    empty_reason: EmptyReason | None = None


async def search_blocks(args: SearchBlocksArgs, call: Call) -> Reply:
    def scope(catalog: CatalogReader) -> tuple[Within, EmptyReason | None]:
        within = narrowed(catalog, call, args.doc_ids)
        return within, nothing_to_find(catalog, call, within)

    within, reason = call.pinned.within(), None
    if not is_all_of_it(call, args.doc_ids):
        within, reason = await call.pinned.read(scope)  # before any embedding is bought
    if reason is not None:
        return _replied((), reason)
    best = await call.pinned.search(args.query, doc_ids=within.doc_ids, tally=call.tally)

    def read(catalog: CatalogReader) -> Reply:
        rows = _read(catalog, within, best)
        return _replied(rows, None if rows else "no_match")

    return await call.pinned.read(read)


def _replied(rows: Sequence[tuple[Block, SnapshotDocument]], reason: EmptyReason | None) -> Reply:
    found = FoundBlocks(blocks=tuple(_found(block, document) for block, document in rows), empty_reason=reason)
    return Reply(
        payload=encoded(found),
        seen=tuple(seen_block(block, document, rank=rank) for rank, (block, document) in enumerate(rows, 1)),
        empty_reason=reason,
    )


def _read(catalog: CatalogReader, within: Within, best: tuple[Fused, ...]) -> list[tuple[Block, SnapshotDocument]]:
    """In rank order. The catalog applies scope and access once more: it, not the collection, decides what may be shown."""
    named = frozenset(one.doc_id for one in best)
    within = replace(within, doc_ids=named if within.doc_ids is None else named & within.doc_ids)
    found = catalog.members_by_id(within, [one.block_id for one in best])
    if any(one.block_id not in found for one in best):
        raise disagreement(within.snapshot_id)
    return [found[one.block_id] for one in best]


def _found(block: Block, document: SnapshotDocument) -> FoundBlock:
    return FoundBlock(
        block_id=block.block_id,
        doc_id=block.doc_id,
        title=document.title,
        source_label=document.source_label,
        section_path=block.section_path,
        page_first=block.page_first,
        page_last=block.page_last,
        version=block.version,
        updated_at=iso_time(document.updated_at_ms),
        trust=document.trust,
        flags=block.flags,
        table_header=block.table_header,
        text=block.text,
    )


TOOL = Tool(
    descriptor=describe(
        "search_blocks",
        SearchBlocksArgs,
        en=(
            "Finds up to five blocks that may answer a question, by meaning and by words, best first, with full text. "
            "Use it first for most questions, once per separate matter, with a query that can be understood on its own; "
            "search again with other words when the first try misses. "
            "Do not use it to count, to list everything or to show that something is absent: use list_blocks for whole sections "
            "and scan_term for a literal string. "
            "What it proves: only what the returned texts say. They are candidates, a miss proves nothing. "
            "When texts disagree, compare updated_at, version and trust."
        ),
        zh=(
            "按含义和词语查找最多五个可能回答问题的块，由好到差，附全文。"
            "适用：多数问题先用它；每件事单独查一次，查询要脱离上下文也能看懂；没找到就换一种说法再查。"
            "不适用：计数、穷举或证明“没有”；要完整章节用 list_blocks，要查某个原样字符串用 scan_term。"
            "能证明什么：只有返回的文字本身。它们只是候选，没查到不能证明不存在。"
            "几处说法不一致时，比较 updated_at、version 和 trust。"
        ),
    ),
    arguments=SearchBlocksArgs,
    run=search_blocks,
)
