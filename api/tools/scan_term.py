"""Every block that contains a literal string, inside that block: a string that the border of two blocks cuts is not found (0022)."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from api.retrieval.scan import occurrences, snippet
from api.tools.contract import Call, DocIdText, EmptyReason, Reply, SeenBlock, Text, Tool, describe, iso_time
from api.tools.narrowing import narrowed, nothing_to_find
from api.tools.payload import Rows, encoded, too_large
from shared.catalog.reading import CatalogReader
from shared.catalog.scan_reads import Scan, ScannedBlock
from shared.errors import TooLarge
from shared.ids import BlockId, DocId
from shared.text.fold import fold
from shared.types.documents import BlockFlag, Trust

_LEAST_BYTES = 150  # a hit, its names alone
_flags = msgspec.json.Decoder(tuple[BlockFlag, ...])


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


class FoundBlock(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
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


class TermScan(Struct, frozen=True, kw_only=True, omit_defaults=True):
    term: str  # as scanned for
    total: int  # = len(blocks)
    total_count: int  # occurrences in all of them
    blocks: msgspec.Raw  # FoundBlock[], by doc_id, then document order
    empty_reason: EmptyReason | None = None


async def scan_term(args: ScanTermArgs, call: Call) -> Reply:
    term = args.term.strip()
    return await call.pinned.read(lambda catalog: _scan(catalog, call, term, args.doc_ids))


def _scan(catalog: CatalogReader, call: Call, term: str, doc_ids: tuple[DocId, ...] | UnsetType) -> Reply:
    within = narrowed(catalog, call, doc_ids)
    folded_term = fold(term)
    scan = catalog.scan(within, folded_term)
    room = call.most_bytes // _LEAST_BYTES
    if scan.is_exact and (scan.ceiling or 0) > room and scan.at_most() > room:
        raise _too_large(call, f"{scan.at_most():,} blocks have the term")
    rows, seen = Rows(call.most_bytes), list[SeenBlock]()
    total_count = 0
    for block in scan.blocks:
        text = block.utf8.decode()
        at = occurrences(text, text if block.folded is None else block.folded, folded_term)
        if at is None:
            continue
        total_count += at.count
        first, last = snippet(text, at.start, at.end)
        shown = _seen(block, text[first:last], first, rank=len(seen) + 1)
        rows.add(_found(block, shown, at.count))
        if rows.is_full:
            raise _too_large(call, f"it was full after {_share(len(seen), scan)}")
        seen.append(shown)
    reason = None if seen else nothing_to_find(catalog, call, within) or "no_match"
    payload = TermScan(term=term, total=len(seen), total_count=total_count, blocks=rows.joined(), empty_reason=reason)
    return Reply(payload=encoded(payload), seen=tuple(seen), empty_reason=reason)


def _found(block: ScannedBlock, shown: SeenBlock, count: int) -> FoundBlock:
    return FoundBlock(
        block_id=block.block_id,
        doc_id=block.doc_id,
        title=block.title,
        source_label=block.source_label,
        section_path=block.section_path,
        page_first=block.page_first,
        page_last=block.page_last,
        version=block.version,
        updated_at=iso_time(block.updated_at_ms),
        trust=block.trust,
        flags=() if block.flags == "[]" else _flags.decode(block.flags),
        count=count,
        snippet=shown.seen,
    )


def _seen(block: ScannedBlock, text: str, first: int, *, rank: int) -> SeenBlock:
    return SeenBlock(
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
        extent="snippet",
        seen=text,
        span_start=block.span_start + first,
        span_end=block.span_start + first + len(text),
        rank=rank,
    )


def _share(count: int, scan: Scan) -> str:
    if scan.ceiling is None:
        return f"{count:,} blocks with the term, and there are more"
    return f"{count:,} of {'' if scan.is_exact else 'up to '}{scan.at_most():,} blocks with the term"


def _too_large(call: Call, what: str) -> TooLarge:
    return too_large(what, call.most_bytes, remedy="Name documents (doc_ids), or look for a longer term.", field="term")


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
