"""Which documents there are."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from api.tools.contract import Call, EmptyReason, Reply, Text, Tool, describe, iso_time
from api.tools.narrowing import nothing_to_find
from api.tools.payload import Rows, encoded, sized, too_large
from shared.catalog.reading import CatalogReader
from shared.ids import DocId
from shared.types.documents import Trust
from shared.types.snapshots import SnapshotDocument


class ListDocumentsArgs(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    source: (
        Annotated[Text, Meta(description="Name or alias of a source, in any case; absent = all sources.")] | UnsetType
    ) = UNSET
    lang: (
        Annotated[Text, Meta(description='Language code such as "zh" or "en"; absent = all languages.')] | UnsetType
    ) = UNSET
    title_contains: (
        Annotated[Text, Meta(description="Part of the document's own title, in any case; absent = all titles.")]
        | UnsetType
    ) = UNSET


class ListedDocument(Struct, frozen=True, kw_only=True):
    doc_id: DocId
    title: str
    source_label: str
    aliases: tuple[str, ...]  # of the source
    lang: str
    version: int
    updated_at: str
    trust: Trust
    sections: int
    blocks: int


class DocumentList(Struct, frozen=True, kw_only=True, omit_defaults=True):
    total: int  # = len(documents)
    documents: msgspec.Raw  # ListedDocument[]
    empty_reason: EmptyReason | None = None


async def list_documents(args: ListDocumentsArgs, call: Call) -> Reply:
    return await call.pinned.read(lambda catalog: _list(catalog, call, args))


def _list(catalog: CatalogReader, call: Call, args: ListDocumentsArgs) -> Reply:
    within = call.pinned.within(call.scope)
    found = catalog.documents(
        within,
        source=args.source.strip() if args.source is not UNSET else None,
        lang=args.lang.strip() if args.lang is not UNSET else None,
        title_contains=args.title_contains.strip() if args.title_contains is not UNSET else None,
    )
    rows = Rows(call.most_bytes)
    for document in found:
        rows.add(_listed(document))
    if rows.is_full:
        what = sized(len(found), "document", rows.size_bytes)
        raise too_large(what, call.most_bytes, remedy="Name a source, a language or a part of the title.")
    reason = None if found else nothing_to_find(catalog, call, within) or "no_match"
    payload = DocumentList(total=len(found), documents=rows.joined(), empty_reason=reason)
    return Reply(payload=encoded(payload), empty_reason=reason)


def _listed(document: SnapshotDocument) -> ListedDocument:
    return ListedDocument(
        doc_id=document.doc_id,
        title=document.title,
        source_label=document.source_label,
        aliases=document.aliases,
        lang=document.lang,
        version=document.version,
        updated_at=iso_time(document.updated_at_ms),
        trust=document.trust,
        sections=document.sections,
        blocks=document.blocks,
    )


TOOL = Tool(
    descriptor=describe(
        "list_documents",
        ListDocumentsArgs,
        en=(
            "Lists the documents of the knowledge base: id, title, source, language, version, time, size. "
            "Use it to learn which documents exist, to turn a name the user mentions into a doc_id, or to see which of several "
            "versions or sources is newer or more official. "
            "Do not use it to find out what documents say: it looks at names, never at contents. "
            "What it proves: which documents exist. An empty list says nothing about whether a topic is covered."
        ),
        zh=(
            "列出知识库中的文档：编号、标题、来源、语言、版本、更新时间和规模。"
            "适用：想知道有哪些文档、把用户提到的名称对应到 doc_id、比较几个来源谁更新或更权威。"
            "不适用：了解文档写了什么；它只看名称，不看正文。"
            "能证明什么：哪些文档存在。列表为空不代表某个主题没有内容。"
        ),
    ),
    arguments=ListDocumentsArgs,
    run=list_documents,
)
