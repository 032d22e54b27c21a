"""Everything a document or some of its sections say, each block once."""

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from api.retrieval.scope import scope_not_found
from api.tools.contract import Call, DocIdText, EmptyReason, Reply, Text, Tool, describe, iso_time, seen_block
from api.tools.payload import Rows, encoded, sized, too_large
from shared.catalog.reading import CatalogReader
from shared.ids import BlockId, DocId
from shared.types.documents import Block, BlockFlag, Section, Trust
from shared.types.snapshots import SnapshotDocument


class ListBlocksArgs(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    doc_id: Annotated[
        DocIdText, Meta(description="The document to read, by doc_id from list_documents or from a result.")
    ]
    section_paths: (
        Annotated[
            tuple[Text, ...],
            Meta(
                description="Section paths exactly as get_outline shows them, subsections included; absent or empty = the whole document."
            ),
        ]
        | UnsetType
    ) = UNSET


class ListedBlock(Struct, frozen=True, kw_only=True, omit_defaults=True):
    block_id: BlockId
    section_path: str
    page_first: int | None = None
    page_last: int | None = None
    flags: tuple[BlockFlag, ...] = ()
    table_header: str = ""
    text: str


class BlockList(Struct, frozen=True, kw_only=True, omit_defaults=True):
    doc_id: DocId
    title: str
    source_label: str
    version: int
    updated_at: str
    trust: Trust
    total: int  # = len(blocks): all of the scope, always
    blocks: msgspec.Raw  # ListedBlock[], document order
    empty_reason: EmptyReason | None = None


async def list_blocks(args: ListBlocksArgs, call: Call) -> Reply:
    paths = () if args.section_paths is UNSET else args.section_paths
    return await call.pinned.read(lambda catalog: _list(catalog, call, args.doc_id, paths))


def _list(catalog: CatalogReader, call: Call, doc_id: DocId, paths: tuple[str, ...]) -> Reply:
    document, blocks = _read(catalog, call, doc_id, paths)
    reason: EmptyReason | None = None if blocks else "scope_empty"
    rows = Rows(call.most_bytes)
    for block in blocks:
        rows.add(_listed(block))
    if rows.is_full:
        what = sized(len(blocks), "block", rows.size_bytes)
        if not paths:
            remedy, field = "Name some of its sections (section_paths).", "doc_id"
        else:
            remedy = "Name fewer sections, or ones further down, or find the place with search_blocks or scan_term."
            field = "section_paths"
        raise too_large(what, call.most_bytes, remedy=remedy, field=field)
    payload = BlockList(
        doc_id=document.doc_id,
        title=document.title,
        source_label=document.source_label,
        version=document.version,
        updated_at=iso_time(document.updated_at_ms),
        trust=document.trust,
        total=len(blocks),
        blocks=rows.joined(),
        empty_reason=reason,
    )
    seen = tuple(seen_block(block, document, rank=rank) for rank, block in enumerate(blocks, 1))
    return Reply(payload=encoded(payload), seen=seen, empty_reason=reason)


def united(sections: Sequence[Section], paths: Sequence[str]) -> tuple[set[int], list[str]]:
    """Ordinals of the sections with these paths and of all their descendants; the paths that no section has, each once.

    sections: in document order, so that a parent comes before its children.
    """
    known = {section.path for section in sections}
    ordinals: set[int] = set()
    for section in sections:
        if section.path in paths or section.parent in ordinals:
            ordinals.add(section.ordinal)
    return ordinals, [path for path in dict.fromkeys(paths) if path not in known]


def _read(
    catalog: CatalogReader, call: Call, doc_id: DocId, paths: tuple[str, ...]
) -> tuple[SnapshotDocument, list[Block]]:
    within = call.pinned.within(call.scope)
    document = catalog.documents_by_id(within, [doc_id]).get(doc_id)
    if document is None:
        raise scope_not_found("doc_id", [doc_id])
    if not paths:
        return document, catalog.blocks(within, doc_id)
    ordinals, missing = united(catalog.sections(within, [doc_id]).get(doc_id, []), paths)
    if missing:
        raise scope_not_found("section_paths", missing)
    return document, catalog.blocks(within, doc_id, sections=ordinals)


def _listed(block: Block) -> ListedBlock:
    return ListedBlock(
        block_id=block.block_id,
        section_path=block.section_path,
        page_first=block.page_first,
        page_last=block.page_last,
        flags=block.flags,
        table_header=block.table_header,
        text=block.text,
    )


TOOL = Tool(
    descriptor=describe(
        "list_blocks",
        ListBlocksArgs,
        en=(
            "Returns every block of a document, or of the sections named with all their subsections, in original order, each once. "
            "Use it when the answer must be complete (all steps, all conditions, a summary, a comparison) or when a search result "
            "needs its surroundings. "
            "Do not use it on a long document without looking at its size in get_outline: a result that does not fit the context is "
            "refused as a whole. One unknown path fails the whole call. "
            "What it proves: that this is all of that scope, and nothing about the rest."
        ),
        zh=(
            "按原文顺序返回某个文档、或所列章节（含全部下级章节）的每一个块，每块一次。"
            "适用：答案必须完整（全部步骤、全部条件、概括、对比），或检索到的块需要看上下文。"
            "不适用：没先用 get_outline 看大小就读长文档；放不进上下文的结果会整个被拒绝。有一条路径不存在，整个调用就失败。"
            "能证明什么：这就是该范围的全部内容，对范围之外不作说明。"
        ),
    ),
    arguments=ListBlocksArgs,
    run=list_blocks,
)
