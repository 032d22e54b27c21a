"""A small real catalog with its collection, without the worker: documents in, a published snapshot out."""

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from msgspec import Struct
from sqlite_utils import Database

from shared.access import index_labels
from shared.blobs import Blobs
from shared.catalog.building import NewSnapshot, begin_snapshot
from shared.catalog.db import open_database, writing
from shared.catalog.documents import add_version, content_sha256, ensure_document, next_version
from shared.catalog.labels import remember_labels
from shared.catalog.migrations import migrate
from shared.catalog.snapshots import activate as activate_snapshot
from shared.catalog.snapshots import membership_sha256
from shared.catalog.sources import ensure_source
from shared.embeddings.port import Embedder
from shared.ids import DocId, ImportId, SnapshotId, block_id, new_snapshot_id
from shared.layout import Layout
from shared.text.context import embedded_text
from shared.text.terms import KEYWORD_VERSION, passage_terms
from shared.types.documents import (
    PATH_SEPARATOR,
    ROOT_PATH,
    Block,
    BlockFlag,
    DocumentContent,
    DocumentVersion,
    Section,
    Trust,
)
from shared.types.imports import SourceSpec
from shared.types.snapshots import FailedDocument, ManifestDocument, SnapshotDocument, SnapshotManifest
from shared.vectors.port import Point, Vectors

NOW_MS = 1_790_000_000_000  # 2026-09-21


class ADocument(Struct, frozen=True, kw_only=True):
    """What a test says about a document. Labels belong to its source: documents of one source share them."""

    key: str
    sections: Mapping[str, Sequence[str]]  # section path -> texts of its blocks, in document order
    title: str = ""  # "" = the key
    source: str = "手册"
    aliases: tuple[str, ...] = ()
    trust: Trust = "internal"
    access: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    lang: str = "zh"
    page: int | None = None  # of every block
    flags: tuple[BlockFlag, ...] = ()  # of every block
    table_header: str = ""  # of every block
    updated_at_ms: int = NOW_MS


class Published(Struct, frozen=True, kw_only=True):
    snapshot_id: SnapshotId
    documents: tuple[SnapshotDocument, ...]  # in the order they were given
    contents: tuple[DocumentContent, ...]

    def doc_id(self, key: str) -> DocId:
        return next(document.doc_id for document in self.documents if document.key == key)

    def blocks(self, key: str | None = None) -> list[Block]:
        """Of one document or of all, by doc_id and index."""
        of = {document.doc_id for document in self.documents if key in (None, document.key)}
        every = [block for content in self.contents for block in content.blocks if block.doc_id in of]
        return sorted(every, key=lambda block: (block.doc_id, block.index))


def a_document(key: str, *texts: str, sections: Mapping[str, Sequence[str]] | None = None, **more: object) -> ADocument:
    """`texts`: blocks of a document without headings."""
    return msgspec.structs.replace(ADocument(key=key, sections=sections or {ROOT_PATH: texts}), **more)


def an_empty_catalog(path: Path) -> None:
    """As a first start makes it, by copying one that was made once: a dozen commits cost more than most tests."""
    if path.exists():
        return
    path.write_bytes(_empty_catalog())


@cache
def _empty_catalog() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "catalog.db"
        db = open_database(path)
        migrate(db)
        db.conn.close()  # the log is part of the file then
        assert [one.name for one in Path(folder).iterdir()] == [path.name]
        return path.read_bytes()


def publish(
    layout: Layout,
    documents: Iterable[ADocument],
    *,
    vectors: Vectors,
    embedder: Embedder,
    failed: Sequence[FailedDocument] = (),
    activate: bool = True,
    now_ms: int = NOW_MS,
    keyword_version: str = KEYWORD_VERSION,
) -> Published:
    """Write new versions of the documents and publish a snapshot of exactly these. `keyword_version`: as it says of itself."""
    layout.create()
    an_empty_catalog(layout.catalog)
    db = open_database(layout.catalog)
    try:
        written = [_write(db, document) for document in documents]
        members, contents = tuple(member for member, _ in written), tuple(content for _, content in written)
        snapshot_id = new_snapshot_id(now_ms)
        begin_snapshot(
            db,
            NewSnapshot(
                snapshot_id=snapshot_id,
                import_id=ImportId("imp_of_a_test"),
                base_snapshot_id=None,
                members=members,
                failures=tuple(failed),
                embedding_version=embedder.version,
                dimensions=embedder.dimensions,
                keyword_version=keyword_version,
            ),
            worker="",
            now_ms=now_ms,
        )
        builder = vectors.build(snapshot_id, dimensions=embedder.dimensions)
        for member, content in written:
            builder.add(_points(member, content, embedder))
        manifest = _manifest(snapshot_id, members, builder.seal(), vectors, embedder, failed=len(failed))
        _seal(db, msgspec.structs.replace(manifest, keyword_version=keyword_version), now_ms=now_ms)
        if activate:
            activate_snapshot(db, snapshot_id, cause="test", now_ms=now_ms)
    finally:
        db.close()
    return Published(snapshot_id=snapshot_id, documents=members, contents=contents)


def keep_originals(layout: Layout, published: Published) -> None:
    """Store what `publish` says the versions were made of: their text."""
    for content in published.contents:
        Blobs(layout.originals).put(content.text.encode(), lasting=False)


def content_of(document: ADocument, doc_id: DocId, version: int) -> DocumentContent:
    """Blocks tile the text; a section's parent is the one whose path it extends; the root section encloses nothing."""
    paths = list(document.sections)
    blocks: list[Block] = []
    at = 0
    for ordinal, path in enumerate(paths):
        for text in document.sections[path]:
            blocks.append(
                Block(
                    block_id=block_id(doc_id, version, len(blocks)),
                    doc_id=doc_id,
                    version=version,
                    index=len(blocks),
                    section_ordinal=ordinal,
                    section_path=path,
                    text=text,
                    table_header=document.table_header,
                    page_first=document.page,
                    page_last=document.page,
                    span_start=at,
                    span_end=at + len(text),
                    tokens=len(text),
                    sha256=hashlib.sha256(text.encode()).hexdigest(),
                    flags=document.flags,
                )
            )
            at += len(text)
    return DocumentContent(
        title=document.title or document.key,
        lang=document.lang,
        media_type="text/markdown",
        pages=document.page,
        text="".join(block.text for block in blocks),
        sections=tuple(_section(paths, ordinal, blocks) for ordinal in range(len(paths))),
        blocks=tuple(blocks),
    )


def _section(paths: list[str], ordinal: int, blocks: list[Block]) -> Section:
    path = paths[ordinal]
    parents = [other for other in paths if path.startswith(other + PATH_SEPARATOR)]
    own = [block for block in blocks if block.section_ordinal == ordinal]
    below = {ordinal} | {other for other, name in enumerate(paths) if name.startswith(path + PATH_SEPARATOR)}
    subtree = [block for block in blocks if block.section_ordinal in below]
    return Section(
        ordinal=ordinal,
        parent=paths.index(parents[-1]) if parents else None,
        path=path,
        title=path.rpartition(PATH_SEPARATOR)[2],
        depth=0 if path == ROOT_PATH else path.count(PATH_SEPARATOR) + 1,
        first_sentence=own[0].text[:40] if own else "",
        own_blocks=len(own),
        own_tokens=sum(block.tokens for block in own),
        subtree_blocks=len(subtree),
        subtree_tokens=sum(block.tokens for block in subtree),
    )


def _write(db: Database, document: ADocument) -> tuple[SnapshotDocument, DocumentContent]:
    source = ensure_source(
        db,
        SourceSpec(aliases=document.aliases, trust=document.trust, access=document.access, tags=document.tags),
        kind="folder",
        root=f"/{document.source}",
        label=document.source,
        now_ms=NOW_MS,
    )
    doc_id = ensure_document(db, source.source_id, document.key, now_ms=NOW_MS)
    number = next_version(db, doc_id)
    content = content_of(document, doc_id, number)
    version = DocumentVersion(
        doc_id=doc_id,
        version=number,
        title=content.title,
        lang=content.lang,
        media_type=content.media_type,
        size_bytes=len(content.text.encode()),
        original_sha256=hashlib.sha256(content.text.encode()).hexdigest(),
        lineage="test",
        artifact_sha256=content_sha256(content),
        pages=content.pages,
        sections=len(content.sections),
        blocks=len(content.blocks),
        tokens=sum(block.tokens for block in content.blocks),
        created_at_ms=document.updated_at_ms,
    )
    add_version(db, version, content)
    member = SnapshotDocument(
        doc_id=doc_id,
        version=number,
        title=version.title,
        source_id=source.source_id,
        source_label=source.label,
        key=document.key,
        aliases=source.aliases,
        lang=version.lang,
        trust=source.trust,
        access=source.access,
        tags=source.tags,
        media_type=version.media_type,
        updated_at_ms=version.created_at_ms,
        sections=version.sections,
        blocks=version.blocks,
        tokens=version.tokens,
        artifact_sha256=version.artifact_sha256,
    )
    return member, content


def _points(member: SnapshotDocument, content: DocumentContent, embedder: Embedder) -> list[Point]:
    points: list[Point] = []
    for first in range(0, len(content.blocks), embedder.max_batch):
        blocks = content.blocks[first : first + embedder.max_batch]
        texts = [embedded_text(content.title, block) for block in blocks]
        rows = embedder.embed_passages(texts).vectors
        points += [
            Point(
                block_id=block.block_id,
                doc_id=block.doc_id,
                index=block.index,
                access=index_labels(member.access),
                dense=row,
                sparse=passage_terms(text),
            )
            for block, text, row in zip(blocks, texts, rows, strict=True)
        ]
    return points


def _manifest(
    snapshot_id: SnapshotId,
    members: Sequence[SnapshotDocument],
    files: dict[str, str],
    vectors: Vectors,
    embedder: Embedder,
    *,
    failed: int,
) -> SnapshotManifest:
    return SnapshotManifest(
        snapshot_id=snapshot_id,
        base_snapshot_id=None,
        documents=tuple(
            ManifestDocument(
                doc_id=member.doc_id,
                version=member.version,
                artifact_sha256=member.artifact_sha256,
                sections=member.sections,
                blocks=member.blocks,
            )
            for member in sorted(members, key=lambda member: member.doc_id)
        ),
        failed=failed,
        sections=sum(member.sections for member in members),
        blocks=sum(member.blocks for member in members),
        embedding_version=embedder.version,
        dimensions=embedder.dimensions,
        keyword_version=KEYWORD_VERSION,
        chunker_version="test",
        index=vectors.index,
        collection_files=files,
        build_ms={},
    )


def _seal(db: Database, manifest: SnapshotManifest, *, now_ms: int) -> None:
    stated = msgspec.structs.replace(manifest, membership_sha256=membership_sha256(db, manifest.snapshot_id))
    text = msgspec.json.encode(stated, order="deterministic").decode()
    with writing(db) as connection:
        connection.execute(
            "update snapshots set state = ?, manifest = ?, manifest_sha256 = ?, published_at_ms = ? where snapshot_id = ?",
            (
                "ready_partial" if manifest.failed else "ready",
                text,
                hashlib.sha256(text.encode()).hexdigest(),
                now_ms,
                manifest.snapshot_id,
            ),
        )
        remember_labels(connection, manifest.snapshot_id)


def nest(root: Path, name: str, depth: int) -> None:
    """`depth` folders in one another with a file in the last; no path could name it."""
    at = os.open(root, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=at)
        inner = os.open(name, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = inner
    file = os.open("深.md", os.O_WRONLY | os.O_CREAT, dir_fd=at)
    os.write(file, "# 深处\n深处有一份文档。".encode())
    os.close(file)
    os.close(at)
