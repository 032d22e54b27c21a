"""Imports in every state and documents of every size, made through the catalog's own verbs."""

import hashlib
from typing import Literal

from sqlite_utils import Database

from shared.catalog import imports, leases
from shared.catalog.documents import add_version, content_sha256, ensure_document, next_version
from shared.catalog.sources import ensure_source
from shared.ids import DocId, ImportId, SnapshotId, block_id
from shared.types.documents import ROOT_PATH, Block, DocumentContent, DocumentVersion, Section, Source
from shared.types.imports import ImportRequest, ImportState, SourceSpec

LEASE_MS = 1_000
ME = "worker-1"
NOW = 1_700_000_000_000  # the time at which factories act; LATER is when their leases have run out
LATER = NOW + 5 * LEASE_MS

Held = Literal["held", "run out", "let go"]


def an_import(db: Database, state: ImportState = "queued", *, lease: Held = "held") -> ImportId:
    """An import in `state`. Look at it at LATER for a lease that has run out, at NOW + 1 for one that is held."""
    import_id = imports.create_import(db, ImportRequest(paths=("/资料/手册",)), now_ms=NOW)
    if state == "queued":
        return import_id
    if state == "cancelled":
        imports.cancel(db, import_id, now_ms=NOW)
        return import_id
    leases.claim(db, import_id, ME, now_ms=NOW, lease_ms=LEASE_MS)
    match state:
        case "pausing" | "paused":
            imports.pause(db, import_id, now_ms=NOW)
            if state == "paused":
                leases.settle(db, import_id, ME, now_ms=NOW)
        case "cancelling":
            imports.cancel(db, import_id, now_ms=NOW)
        case "completed":
            leases.complete_unchanged(db, import_id, ME, snapshot_id=SnapshotId("snap_1"), now_ms=NOW)
        case "failed":
            leases.fail(db, import_id, ME, code="no_documents", reason="空的", now_ms=NOW)
        case _:
            if lease == "let go":
                leases.release(db, import_id, ME, now_ms=NOW)
    return import_id


def state_of(db: Database, import_id: ImportId) -> ImportState:
    return imports.get_import(db, import_id, now_ms=NOW).state


def a_source(db: Database, root: str = "/资料", spec: SourceSpec | None = None) -> Source:
    return ensure_source(db, spec or SourceSpec(), kind="folder", root=root, label=root.strip("/"), now_ms=NOW)


def a_document(db: Database, key: str = "手册.md", *, source: Source | None = None) -> DocId:
    return ensure_document(db, (source or a_source(db)).source_id, key, now_ms=NOW)


def content_of(doc: DocId, version: int, texts: tuple[str, ...]) -> DocumentContent:
    blocks: list[Block] = []
    start = 0
    for index, text in enumerate(texts):
        blocks.append(
            Block(
                block_id=block_id(doc, version, index),
                doc_id=doc,
                version=version,
                index=index,
                section_ordinal=0,
                section_path=ROOT_PATH,
                text=text,
                span_start=start,
                span_end=start + len(text),
                tokens=len(text),
                sha256=hashlib.sha256(text.encode()).hexdigest(),
                flags=("table",) if "|" in text else (),
            )
        )
        start += len(text)
    tokens = sum(block.tokens for block in blocks)
    root = Section(
        ordinal=0,
        parent=None,
        path=ROOT_PATH,
        title="",
        depth=0,
        first_sentence=texts[0],
        own_blocks=len(blocks),
        own_tokens=tokens,
        subtree_blocks=len(blocks),
        subtree_tokens=tokens,
    )
    return DocumentContent(
        title="操作手册",
        lang="zh",
        media_type="text/markdown",
        pages=None,
        text="".join(texts),
        sections=(root,),
        blocks=tuple(blocks),
    )


def a_version(
    db: Database, doc: DocId, texts: tuple[str, ...] = ("第一段。", "Second part."), *, number: int | None = None
) -> DocumentVersion:
    made = number or next_version(db, doc)
    content = content_of(doc, made, texts)
    version = DocumentVersion(
        doc_id=doc,
        version=made,
        title=content.title,
        lang=content.lang,
        media_type=content.media_type,
        size_bytes=9,
        original_sha256=hashlib.sha256(content.text.encode()).hexdigest(),
        lineage="p1/c1",
        artifact_sha256=content_sha256(content),
        pages=None,
        sections=1,
        blocks=len(texts),
        tokens=sum(block.tokens for block in content.blocks),
        created_at_ms=NOW,
    )
    add_version(db, version, content)
    return version
