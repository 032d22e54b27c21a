"""The collection of a snapshot: every block of every member, with its vector from the cache and its keyword terms."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from msgspec import Struct

from shared.access import index_labels
from shared.catalog.db import Database
from shared.catalog.snapshots import snapshot_documents
from shared.embeddings.cache import EmbeddingCache
from shared.errors import CollectionUnavailable
from shared.ids import DocId, SnapshotId
from shared.text.terms import passage_terms
from shared.types.snapshots import SnapshotDocument
from shared.vectors.port import Builder, Dense, Point, Vectors
from worker.faults import fault_point
from worker.stages.embed import BlockText, Target, block_texts
from worker.stages.seal import Census, Problem, SealCheck, check, sample

BATCH = 512  # points that go to the engine at once


class BuildCrashed(Exception):
    """The process that builds ended without an answer, e.g. for want of memory."""


class BuildJob(Struct, frozen=True, kw_only=True):
    """Everything else is in the catalog under the snapshot's id."""

    snapshot_id: SnapshotId
    embedding_version: str
    dimensions: int


class Built(Struct, frozen=True, kw_only=True, tag="built"):
    files: dict[str, str]  # relative path -> sha256, as sealed
    build_ms: dict[str, int]  # by step


class Missing(Struct, frozen=True, kw_only=True, tag="missing"):
    """Some blocks of these documents have no vector in the cache; nothing was sealed."""

    documents: tuple[DocId, ...]


class Unsound(Struct, frozen=True, kw_only=True, tag="unsound"):
    """Sealed, but not what it should be."""

    check: SealCheck
    detail: str


BuildResult: TypeAlias = Built | Missing | Unsound
Build: TypeAlias = Callable[
    [BuildJob, Callable[[], None]], BuildResult
]  # the function is called now and then and may raise


def build(job: BuildJob, *, db: Database, cache: EmbeddingCache, vectors: Vectors) -> BuildResult:
    """Build, seal and check the collection that is named after the snapshot.

    Raises: StorageError, UpstreamError (a vector server).
    """
    members = snapshot_documents(db, job.snapshot_id)
    started = time.monotonic()
    census = _census(db, members)
    builder = vectors.build(job.snapshot_id, dimensions=job.dimensions)
    try:
        missing = _fill(builder, members, census, job=job, db=db, cache=cache)
        if missing:
            builder.abandon()
            return Missing(documents=missing)
        fault_point("index:added")
        added = time.monotonic()
        files = builder.seal()
    except BaseException:
        builder.abandon()
        raise
    fault_point("seal:sealed")
    sealed = time.monotonic()
    problem = _checked(vectors, job.snapshot_id, files, census)
    if problem is not None:
        return Unsound(check=problem.check, detail=problem.detail)
    steps = {"index": added - started, "seal": sealed - added, "check": time.monotonic() - sealed}
    return Built(files=files, build_ms={step: round(seconds * 1000) for step, seconds in steps.items()})


def _checked(vectors: Vectors, name: str, files: dict[str, str], census: Census) -> Problem | None:
    try:
        collection = vectors.open(name, files=files)
    except CollectionUnavailable as error:
        return Problem(check="open", detail=error.message)
    try:
        return check(collection, census)
    finally:
        collection.close()


def target_of(member: SnapshotDocument, ordinal: int | None = None) -> Target:
    return Target(doc_id=member.doc_id, version=member.version, title=member.title, ordinal=ordinal)


def _fill(
    builder: Builder,
    members: Sequence[SnapshotDocument],
    census: Census,
    *,
    job: BuildJob,
    db: Database,
    cache: EmbeddingCache,
) -> tuple[DocId, ...]:
    """Add every point; returns the documents that lack vectors."""
    missing: list[DocId] = []
    for member in members:
        texts = block_texts(db, target_of(member))
        known = cache.get(job.embedding_version, list({text.sha256 for text in texts}))
        if any(text.sha256 not in known for text in texts):
            missing.append(member.doc_id)
        if missing:
            continue  # nothing will be sealed: only look for what else is missing
        for batch in _batches(texts):
            points = [_point(text, member, known[text.sha256]) for text in batch]
            builder.add(points)
            census.count(points)
    return tuple(missing)


def _census(db: Database, members: Sequence[SnapshotDocument]) -> Census:
    sampled = sample(members)
    documents = {doc for doc, _ in sampled}
    terms: set[int] = set()
    for member in members:
        if member.doc_id in documents:
            for text in block_texts(db, target_of(member)):
                if (member.doc_id, text.index) in sampled:
                    terms.update(passage_terms(text.text).indices)
    return Census(sampled=sampled, terms=frozenset(terms))


def _point(text: BlockText, member: SnapshotDocument, dense: Dense) -> Point:
    return Point(
        block_id=text.block_id,
        doc_id=member.doc_id,
        index=text.index,
        access=index_labels(member.access),
        dense=dense,
        sparse=passage_terms(text.text),
    )


def _batches(texts: Sequence[BlockText]) -> Iterator[Sequence[BlockText]]:
    for start in range(0, len(texts), BATCH):
        yield texts[start : start + BATCH]
