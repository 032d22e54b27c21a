"""A question set through the product's own code: parser children, chunk, heading context, terms, a sealed collection, hybrid search."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct, structs

from api.retrieval.fusion import HYBRID_RRF_V1, SHIPPED, Fused, Profile
from api.retrieval.hybrid import hybrid_search
from api.retrieval.profiles import SearchProfile
from api.retrieval.tally import Tally
from api.retrieval.threads import Threads
from scripts.bench.judge import Block
from scripts.bench.questions import QuestionSet
from scripts.bench.vectors import Lookup, Vectors
from shared.access import index_labels
from shared.ids import DocId, ImportId, SnapshotId, SourceId, doc_id
from shared.settings import QdrantSettings
from shared.text.context import embedded_text
from shared.text.terms import KEYWORD_VERSION, passage_terms
from shared.types.documents import DocumentContent
from shared.types.snapshots import Snapshot
from shared.vectors.open import open_vectors
from shared.vectors.port import Collection, Filter, Point
from worker.parsers import Parsed, ParserPool
from worker.stages.chunk import chunk

DEPTH = 20  # blocks in a ranking
_SNAPSHOT = SnapshotId("snap_bench")
_LARGEST = 400 / 256  # the shipped proportion of largest and target size
PROFILES: Mapping[str, Profile] = {
    "keyword only": structs.replace(HYBRID_RRF_V1, dense=0),
    "dense only": structs.replace(HYBRID_RRF_V1, keyword=0),
    "dense only, across languages": structs.replace(HYBRID_RRF_V1, keyword=0, across_languages=True),
    HYBRID_RRF_V1.name: HYBRID_RRF_V1,
    SHIPPED.name: SHIPPED,
}


class Ranked(Struct, frozen=True, kw_only=True):
    """What a stack made of a question set."""

    blocks: tuple[Block, ...]
    rankings: tuple[tuple[str, ...], ...]  # block ids, best first, one for each question
    ms: tuple[float, ...]  # of each search, without the question's embedding


class _Document(Struct, frozen=True, kw_only=True):
    path: Path
    id: DocId
    content: DocumentContent


def ours(questions: QuestionSet, vectors: Vectors, *, block_tokens: int) -> dict[str, Ranked]:
    """By profile."""
    documents = _documents(questions.documents, block_tokens)
    blocks = [(document, block) for document in documents for block in document.content.blocks]
    texts = [embedded_text(document.content.title, block) for document, block in blocks]
    points = [
        Point(
            block_id=block.block_id,
            doc_id=block.doc_id,
            index=block.index,
            access=index_labels(()),
            dense=vector,
            sparse=passage_terms(text),
        )
        for (_, block), text, vector in zip(blocks, texts, vectors.passages(texts), strict=True)
    ]
    asked = [question.question for question in questions.questions]
    embedder = Lookup(vectors.embedder, asked, vectors.questions(asked))
    languages = frozenset(document.content.lang for document in documents)
    judged = tuple(Block(block.block_id, document.path.name, block.text) for document, block in blocks)
    with TemporaryDirectory(prefix="citebound-bench-") as folder:
        engine = open_vectors(QdrantSettings(), Path(folder))
        builder = engine.build(_SNAPSHOT, dimensions=embedder.dimensions)
        builder.add(points)
        collection = engine.open(_SNAPSHOT, files=builder.seal())
        try:
            return asyncio.run(_search(asked, judged, collection, languages, embedder))
        finally:
            collection.close()


async def _search(
    asked: Sequence[str],
    blocks: tuple[Block, ...],
    collection: Collection,
    languages: frozenset[str],
    embedder: Lookup,
) -> dict[str, Ranked]:
    snapshot = _snapshot(embedder, blocks=len(blocks))
    threads = Threads(Path("no catalog is read"))
    found: dict[str, Ranked] = {}
    for name, profile in PROFILES.items():
        rankings: list[tuple[str, ...]] = []
        spent: list[float] = []
        for question in asked:
            began = time.perf_counter_ns()
            best = await hybrid_search(
                question,
                within=Filter(),
                snapshot=snapshot,
                collection=collection,
                languages=languages,
                embedder=embedder,
                threads=threads,
                profile=SearchProfile(fusion=structs.replace(profile, top=DEPTH)),
                refine=_as_they_are,
                tally=Tally(),
            )
            spent.append((time.perf_counter_ns() - began) / 1e6)
            rankings.append(tuple(one.block_id for one in best))
        found[name] = Ranked(blocks=blocks, rankings=tuple(rankings), ms=tuple(spent))
    await threads.close()
    return found


async def _as_they_are(fused: Sequence[Fused]) -> Sequence[Fused]:
    return fused


def _documents(paths: Sequence[Path], block_tokens: int) -> list[_Document]:
    pool = ParserPool(timeout_s=120, memory_mb=2048)

    def parse(path: Path) -> Parsed:
        return pool.parse(path, name=path.name)

    try:
        with ThreadPoolExecutor(2) as threads:
            parsed = list(threads.map(parse, paths))
    finally:
        pool.close()
    return [_chunked(path, one, block_tokens) for path, one in zip(paths, parsed, strict=True)]


def _chunked(path: Path, parsed: Parsed, block_tokens: int) -> _Document:
    document = doc_id(SourceId(path.parent.as_posix()), path.name)
    content = chunk(
        parsed, doc_id=document, version=1, target_tokens=block_tokens, max_tokens=round(block_tokens * _LARGEST)
    )
    return _Document(path=path, id=document, content=content)


def _snapshot(embedder: Lookup, *, blocks: int) -> Snapshot:
    return Snapshot(
        snapshot_id=_SNAPSHOT,
        state="ready",
        import_id=ImportId("imp_bench"),
        base_snapshot_id=None,
        created_at_ms=0,
        published_at_ms=0,
        documents=1,
        blocks=blocks,
        embedding_version=embedder.version,
        dimensions=embedder.dimensions,
        keyword_version=KEYWORD_VERSION,
        manifest_sha256=None,
        failure=None,
    )
