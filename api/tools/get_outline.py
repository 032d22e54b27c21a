"""How documents are built: their sections, without their text."""

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from api.tools.contract import Call, DocIdText, Reply, Tool, describe, iso_time
from api.tools.narrowing import narrowed
from api.tools.payload import Rows, encoded, sized, too_large
from shared.catalog.reading import CatalogReader
from shared.ids import DocId
from shared.types.documents import Section, Trust
from shared.types.snapshots import SnapshotDocument


class GetOutlineArgs(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    doc_ids: Annotated[
        tuple[DocIdText, ...],
        Meta(
            min_length=1,
            description="Documents to outline, by doc_id from list_documents or from a result; at least one.",
        ),
    ]


class OutlinedSection(Struct, frozen=True, kw_only=True):
    path: str
    ordinal: int
    depth: int
    own_blocks: int
    own_tokens: int
    subtree_blocks: int
    subtree_tokens: int
    first_sentence: str


class OutlinedDocument(Struct, frozen=True, kw_only=True):
    doc_id: DocId
    title: str
    source_label: str
    version: int
    updated_at: str
    trust: Trust
    total: int  # = len(sections)
    sections: tuple[OutlinedSection, ...]


class Outlines(Struct, frozen=True, kw_only=True):
    total: int  # = len(documents)
    documents: msgspec.Raw  # OutlinedDocument[]


async def get_outline(args: GetOutlineArgs, call: Call) -> Reply:
    doc_ids = tuple(dict.fromkeys(args.doc_ids))

    def read(catalog: CatalogReader) -> Reply:
        within = narrowed(catalog, call, doc_ids)
        documents, sections = catalog.documents_by_id(within, doc_ids), catalog.sections(within, doc_ids)
        rows = Rows(call.most_bytes)
        for doc_id in doc_ids:
            rows.add(_outlined(documents[doc_id], sections.get(doc_id, [])))
        if rows.is_full:
            what = sized(len(doc_ids), "outline", rows.size_bytes)
            # one document's can't be had in parts
            remedy = "Name fewer documents." if len(doc_ids) > 1 else "Find its parts with search_blocks or scan_term."
            raise too_large(what, call.most_bytes, remedy=remedy, field="doc_ids")
        return Reply(payload=encoded(Outlines(total=len(doc_ids), documents=rows.joined())))

    return await call.pinned.read(read)


def _outlined(document: SnapshotDocument, sections: list[Section]) -> OutlinedDocument:
    return OutlinedDocument(
        doc_id=document.doc_id,
        title=document.title,
        source_label=document.source_label,
        version=document.version,
        updated_at=iso_time(document.updated_at_ms),
        trust=document.trust,
        total=len(sections),
        sections=tuple(
            OutlinedSection(
                path=section.path,
                ordinal=section.ordinal,
                depth=section.depth,
                own_blocks=section.own_blocks,
                own_tokens=section.own_tokens,
                subtree_blocks=section.subtree_blocks,
                subtree_tokens=section.subtree_tokens,
                first_sentence=section.first_sentence,
            )
            for section in sections
        ),
    )


TOOL = Tool(
    descriptor=describe(
        "get_outline",
        GetOutlineArgs,
        en=(
            "Shows the sections of one or more documents in their order, with sizes and the first sentence of each. "
            "Use it before reading a long document, to choose section paths for list_blocks and to see how much they would cost. "
            "Do not use it as a source: it has no block ids, nothing in it can be cited, and headings are not statements. "
            "What it proves: how a document is divided, not what it says."
        ),
        zh=(
            "按原文顺序给出一个或多个文档的章节，附各章节的大小和首句。"
            "适用：读长文档之前先看结构，为 list_blocks 选章节路径，并估计要读多少。"
            "不适用：当作依据；其中没有块编号，不能引用，标题也不等于结论。"
            "能证明什么：文档怎样划分，而不是文档说了什么。"
        ),
    ),
    arguments=GetOutlineArgs,
    run=get_outline,
)
