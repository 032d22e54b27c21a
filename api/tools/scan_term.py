"""Every block that contains a literal string, inside that block: a string that the border of two blocks cuts is not found (0022)."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from api.retrieval.scan import occurrences, snippet
from api.tools.contract import (
    Call,
    DocIdText,
    EmptyReason,
    Reply,
    SeenBlock,
    Text,
    Tool,
    describe,
    iso_time,
    seen_block,
)
from api.tools.narrowing import narrowed, nothing_to_find
from shared.catalog.reading import CatalogReader
from shared.ids import BlockId, DocId
from shared.text.fold import fold
from shared.types.documents import Block, BlockFlag, Trust
from shared.types.snapshots import SnapshotDocument


class ScanTermArgs(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    term: Annotated[
        Text,
        Meta(description="The string to find, letter by letter; case does not matter, space around it is cut off."),
    ]
    doc_ids: (
        Annotated[
            tuple[DocIdText, ...],
            Meta(
                min_length=1, description="Scan these documents only; at least one, or absent = all allowed documents."
            ),
        ]
        | UnsetType
    ) = UNSET


class ScannedBlock(Struct, frozen=True, kw_only=True, omit_defaults=True):
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
    count: int  # non-overlapping occurrences in the whole block
    snippet: str  # verbatim, around the first one


class Scan(Struct, frozen=True, kw_only=True, omit_defaults=True):
    term: str  # as scanned for
    total: int  # = len(blocks)
    total_count: int  # occurrences in all of them
    blocks: tuple[ScannedBlock, ...]  # by doc_id, then document order
    empty_reason: EmptyReason | None = None


async def scan_term(args: ScanTermArgs, call: Call) -> Reply:
    term = args.term.strip()
    scan, seen = await call.pinned.read(lambda catalog: _scan(catalog, call, term, args.doc_ids))
    return Reply(payload=scan, seen=seen, empty_reason=scan.empty_reason)


def _scan(
    catalog: CatalogReader, call: Call, term: str, doc_ids: tuple[DocId, ...] | UnsetType
) -> tuple[Scan, tuple[SeenBlock, ...]]:
    within = narrowed(catalog, call, doc_ids)
    folded_term = fold(term)
    documents: dict[DocId, SnapshotDocument] = {}
    blocks: list[ScannedBlock] = []
    seen: list[SeenBlock] = []
    for some in catalog.containing(within, folded_term):
        unknown = {block.doc_id for block, _ in some}.difference(documents)
        documents |= catalog.documents_by_id(within, unknown)
        for block, folded in some:
            at = occurrences(block.text, folded, folded_term)
            if at is None:
                continue
            document, span = documents[block.doc_id], snippet(block.text, at.start, at.end)
            blocks.append(_scanned(block, document, at.count, span))
            seen.append(seen_block(block, document, rank=len(blocks), snippet=span))
    scan = Scan(
        term=term,
        total=len(blocks),
        total_count=sum(block.count for block in blocks),
        blocks=tuple(blocks),
        empty_reason=None if blocks else nothing_to_find(catalog, call, within) or "no_match",
    )
    return scan, tuple(seen)


def _scanned(block: Block, document: SnapshotDocument, count: int, span: tuple[int, int]) -> ScannedBlock:
    return ScannedBlock(
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
        count=count,
        snippet=block.text[slice(*span)],
    )


TOOL = Tool(
    descriptor=describe(
        "scan_term",
        ScanTermArgs,
        en=(
            "Finds every block that contains a literal string, with a snippet and the number of occurrences in each. "
            "Use it for names, numbers, error codes, clause numbers and defined terms, to count occurrences, and to check "
            "whether a string occurs at all. "
            "Do not use it for ideas or paraphrases: it knows no synonyms, inflections or other spellings, only case is ignored. "
            "Common words give very long results; name documents to narrow it. "
            "What it proves: that the string is there, or, with zero hits, that this very string is inside no block, which does not "
            "mean that the matter is not covered. It looks inside one block at a time: blocks are cut between sentences, and only a "
            "piece without any stop that is longer than the largest block may be cut anywhere, so look for a short part of a long "
            "string. A snippet locates; read the section before relying on what surrounds it."
        ),
        zh=(
            "找出包含某个原样字符串的所有块，附每块的片段和出现次数。"
            "适用：人名、数字、错误码、条款号、术语，统计出现次数，或核对某个字符串到底有没有。"
            "不适用：查找意思或换一种说法的内容；它不懂同义词、词形变化和异体写法，只忽略大小写。常见词的结果会很长，请指定文档缩小范围。"
            "能证明什么：该字符串存在；若为零，只证明任何一块之内都没有这个字符串，不代表没有相关内容。"
            "只在每一块之内查找：块在句子之间切分，只有中间没有停顿、比最大的块还长的一段才可能在任意处切开，长字符串请查其中较短的一段。片段只用于定位，要依据其上下文请先读该章节。"
        ),
    ),
    arguments=ScanTermArgs,
    run=scan_term,
)
