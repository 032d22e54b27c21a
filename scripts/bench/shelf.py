"""A published snapshot of made-up documents, stored and sealed by the product's own code, without parsers and provider.

Texts are as uneven in words and length as real ones; vectors are arbitrary, but lie in clusters as those of topics do.
"""

import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from hashlib import sha256
from itertools import accumulate, islice
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from scripts.bench.library import BLOCKS_PER_DOCUMENT, Library
from shared.access import index_labels
from shared.catalog.building import NewSnapshot, begin_snapshot, publish
from shared.catalog.db import Database, open_database
from shared.catalog.documents import add_version, content_sha256, ensure_document
from shared.catalog.imports import create_import
from shared.catalog.leases import claim
from shared.catalog.migrations import migrate
from shared.catalog.snapshots import membership_sha256
from shared.catalog.sources import ensure_source
from shared.embeddings.port import Embedded, Vectors
from shared.ids import DocId, block_id, new_snapshot_id
from shared.layout import Layout
from shared.text.terms import KEYWORD_VERSION, passage_terms
from shared.types.documents import ROOT_PATH, Block, DocumentContent, DocumentVersion, Section
from shared.types.imports import ImportRequest, SourceSpec
from shared.types.snapshots import SnapshotDocument
from shared.vectors.edge import EdgeVectors
from shared.vectors.port import Point, Sparse
from worker.stages.seal import manifest

DIMENSIONS = 384  # of the bundled model
SEED = 7
_TOPICS = 200
_NEARNESS = 0.7  # of what a topic's vectors have in common, to their own part
_NOW_MS = 1_790_000_000_000
_AHEAD = 64  # documents prepared before they are stored
_WORKER = "bench"


class Topics:
    """An embedder whose vectors are drawn at random: `embed_query` costs next to nothing."""

    version = "bench:topics"
    dimensions = DIMENSIONS
    max_batch = BLOCKS_PER_DOCUMENT
    max_tokens = 512
    language_axis = None

    def __init__(self) -> None:
        self._centres = _unit(np.random.default_rng(SEED).standard_normal((_TOPICS, DIMENSIONS)))

    def draw(self, source: np.random.Generator, count: int) -> Vectors:
        """Unit rows: those of one document are of one topic."""
        centre = self._centres[source.integers(_TOPICS)]
        noise = _unit(source.standard_normal((count, DIMENSIONS)))
        return _unit(_NEARNESS * centre + noise)

    def embed_passages(self, texts: Sequence[str]) -> Embedded:
        return Embedded(vectors=self.draw(np.random.default_rng(len(texts)), len(texts)), tokens=0)

    async def embed_query(self, text: str) -> Embedded:
        return Embedded(vectors=self.draw(np.random.default_rng(list(text.encode())), 1), tokens=0)

    def close(self) -> None:
        pass


class _Prepared(Struct, frozen=True, kw_only=True):
    number: int
    texts: list[str]
    sparse: list[Sparse]


def publish_shelf(layout: Layout, blocks: int) -> None:
    """Documents of 50 blocks, half of them Chinese, in ten sources of which one has a label; published and active."""
    layout.create()
    topics = Topics()
    vectors = EdgeVectors(layout.collections)
    with closing(open_database(layout.catalog)) as db:
        migrate(db)
        import_id = create_import(db, ImportRequest(paths=(str(layout.root),)), now_ms=_NOW_MS)
        claim(db, import_id, _WORKER, now_ms=_NOW_MS, lease_ms=_NOW_MS)
        snapshot_id = new_snapshot_id(_NOW_MS)
        builder = vectors.build(snapshot_id, dimensions=DIMENSIONS)
        members: list[SnapshotDocument] = []
        source = np.random.default_rng(SEED)
        for prepared in _prepared(blocks):
            member, content = _store(db, prepared)
            members.append(member)
            builder.add(
                [
                    Point(
                        block_id=block.block_id,
                        doc_id=block.doc_id,
                        index=block.index,
                        access=index_labels(member.access),
                        dense=row,
                        sparse=sparse,
                    )
                    for block, row, sparse in zip(
                        content.blocks, topics.draw(source, len(content.blocks)), prepared.sparse, strict=True
                    )
                ]
            )
        members.sort(key=lambda member: member.doc_id)
        new = NewSnapshot(
            snapshot_id=snapshot_id,
            import_id=import_id,
            base_snapshot_id=None,
            members=tuple(members),
            failures=(),
            embedding_version=topics.version,
            dimensions=DIMENSIONS,
            keyword_version=KEYWORD_VERSION,
        )
        begin_snapshot(db, new, worker=_WORKER, now_ms=_NOW_MS)
        facts = manifest(
            new.members,
            snapshot_id=snapshot_id,
            base_snapshot_id=None,
            failed=0,
            embedding_version=topics.version,
            dimensions=DIMENSIONS,
            keyword_version=KEYWORD_VERSION,
            chunker_version="bench",
            index=vectors.index,
            collection_files=builder.seal(),
            build_ms={},
        )
        facts = replace(facts, membership_sha256=membership_sha256(db, snapshot_id))
        publish(db, facts, import_id=import_id, worker=_WORKER, activate=True, now_ms=_NOW_MS)


def _store(db: Database, prepared: _Prepared) -> tuple[SnapshotDocument, DocumentContent]:
    where = prepared.number % 10
    labels = ("board",) if where == 9 else ()
    source = ensure_source(
        db,
        SourceSpec(access=labels, trust="internal"),
        kind="folder",
        root=f"/bench/{where}",
        label=f"资料 {where}",
        now_ms=_NOW_MS,
    )
    key = f"{prepared.number}.md"
    doc_id = ensure_document(db, source.source_id, key, now_ms=_NOW_MS)
    content = _content(doc_id, prepared)
    version = DocumentVersion(
        doc_id=doc_id,
        version=1,
        title=content.title,
        lang=content.lang,
        media_type=content.media_type,
        size_bytes=len(content.text.encode()),
        original_sha256=sha256(content.text.encode()).hexdigest(),
        lineage="bench",
        artifact_sha256=content_sha256(content),
        pages=None,
        sections=1,
        blocks=len(content.blocks),
        tokens=content.sections[0].subtree_tokens,
        created_at_ms=_NOW_MS,
    )
    add_version(db, version, content)
    member = SnapshotDocument(
        doc_id=doc_id,
        version=1,
        title=version.title,
        source_id=source.source_id,
        source_label=source.label,
        key=key,
        aliases=source.aliases,
        lang=version.lang,
        trust=source.trust,
        access=source.access,
        tags=source.tags,
        media_type=version.media_type,
        updated_at_ms=_NOW_MS,
        sections=1,
        blocks=version.blocks,
        tokens=version.tokens,
        artifact_sha256=version.artifact_sha256,
    )
    return member, content


def _content(doc_id: DocId, prepared: _Prepared) -> DocumentContent:
    ends = list(accumulate(map(len, prepared.texts)))
    blocks = tuple(
        Block(
            block_id=block_id(doc_id, 1, index),
            doc_id=doc_id,
            version=1,
            index=index,
            section_ordinal=0,
            section_path=ROOT_PATH,
            text=text,
            span_start=ends[index] - len(text),
            span_end=ends[index],
            tokens=256,
            sha256=sha256(text.encode()).hexdigest(),
        )
        for index, text in enumerate(prepared.texts)
    )
    root = Section(
        ordinal=0,
        parent=None,
        path=ROOT_PATH,
        title="",
        depth=0,
        first_sentence=prepared.texts[0][:40],
        own_blocks=len(blocks),
        own_tokens=256 * len(blocks),
        subtree_blocks=len(blocks),
        subtree_tokens=256 * len(blocks),
    )
    chinese = prepared.number % 2 == 0
    return DocumentContent(
        title=f"手册 {prepared.number}" if chinese else f"Manual {prepared.number}",
        lang="zh" if chinese else "en",
        media_type="text/markdown",
        pages=None,
        text="".join(prepared.texts),
        sections=(root,),
        blocks=blocks,
    )


def _unit(rows: npt.NDArray[np.float64]) -> Vectors:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def _prepared(blocks: int) -> Iterator[_Prepared]:
    """What costs most, texts and their terms, in a process beside."""
    jobs = (
        (at // BLOCKS_PER_DOCUMENT, min(BLOCKS_PER_DOCUMENT, blocks - at))
        for at in range(0, blocks, BLOCKS_PER_DOCUMENT)
    )
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_begin) as pool:
        while some := list(islice(jobs, _AHEAD)):
            yield from pool.map(_prepare, some, chunksize=8)


_library: list[Library] = []


def _begin() -> None:
    _library.append(Library(Path(), seed=SEED))


def _prepare(job: tuple[int, int]) -> _Prepared:
    number, blocks = job
    source = random.Random(number)
    texts = [
        _library[0].paragraph(source, chinese=number % 2 == 0, length=source.uniform(0.5, 1.5)) + "\n"
        for _ in range(blocks)
    ]
    return _Prepared(number=number, texts=texts, sparse=[passage_terms(text) for text in texts])
