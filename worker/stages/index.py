"""The collection of a snapshot: begun as a copy of the last one where that is possible, and brought up to date.

A block that comes brings its vector from the cache and its keyword terms; one that stays brings them from the copy.
"""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias, TypeVar

from msgspec import Struct

from shared.access import index_labels
from shared.catalog.building import is_building, member_block_ids
from shared.catalog.db import Database
from shared.catalog.snapshots import get_manifest, snapshot_documents
from shared.embeddings.cache import EmbeddingCache
from shared.errors import CollectionUnavailable, NotFound
from shared.ids import DocId, SnapshotId, block_id
from shared.text.terms import passage_terms
from shared.types.snapshots import SnapshotDocument
from shared.vectors.port import Base, Builder, Dense, Point, Vectors
from worker.faults import fault_point
from worker.stages.embed import BlockText, Target, block_texts
from worker.stages.seal import Sample, SealCheck, check, sample

BATCH = 512  # points that go to the engine at once
T = TypeVar("T")
_log = logging.getLogger(__name__)


class BuildCrashed(Exception):
    """The process that builds ended without an answer, e.g. for want of memory."""


class BuildJob(Struct, frozen=True, kw_only=True):
    """Everything else is in the catalog under the snapshot's id."""

    snapshot_id: SnapshotId
    base: SnapshotId | None  # published, and of the same embedding, keywords and index
    embedding_version: str
    dimensions: int


class Built(Struct, frozen=True, kw_only=True, tag="built"):
    files: dict[str, str]  # relative path -> sha256, as sealed
    build_ms: dict[str, int]  # by step; copy: 0 for one that was built from nothing


class Missing(Struct, frozen=True, kw_only=True, tag="missing"):
    """Some blocks of these documents have no vector in the cache; nothing was sealed."""

    documents: tuple[DocId, ...]


class Unsound(Struct, frozen=True, kw_only=True, tag="unsound"):
    """Sealed, but not what it should be."""

    check: SealCheck
    detail: str


class Abandoned(Struct, frozen=True, kw_only=True, tag="abandoned"):
    """Somebody decided meanwhile that nothing is to come of this snapshot; nothing was sealed."""


BuildResult: TypeAlias = Built | Missing | Unsound | Abandoned
Build: TypeAlias = Callable[
    [BuildJob, Callable[[], None]], BuildResult
]  # the function is called now and then and may raise


class Change(Struct, frozen=True, kw_only=True):
    """What has to be done to one collection so that it becomes another."""

    leaving: tuple[SnapshotDocument, ...]
    coming: tuple[SnapshotDocument, ...]


def change(old: Sequence[SnapshotDocument], new: Sequence[SnapshotDocument]) -> Change:
    """A document with another version, or with other labels in the index, leaves and comes."""
    before, after = {_indexed(member) for member in old}, {_indexed(member) for member in new}
    return Change(
        leaving=tuple(member for member in old if _indexed(member) not in after),
        coming=tuple(member for member in new if _indexed(member) not in before),
    )


def worth_copying(old: Sequence[SnapshotDocument], leaving: Sequence[SnapshotDocument]) -> bool:
    """Unless most of it leaves again."""
    return bool(old) and 2 * _blocks(leaving) <= _blocks(old)


def build(job: BuildJob, *, db: Database, cache: EmbeddingCache, vectors: Vectors) -> BuildResult:
    """Build, seal and check the collection that is named after the snapshot.

    Raises: StorageError, UpstreamError (a vector server).
    """
    watch = _Watch()
    if not is_building(db, job.snapshot_id):
        return Abandoned()  # without copying the base first
    members = snapshot_documents(db, job.snapshot_id)
    builder, todo = _begin(job, members, db=db, vectors=vectors)
    watch.lap("copy")
    try:
        if not is_building(
            db, job.snapshot_id
        ):  # from here on it can't be dropped under the builder, nor its row before it
            builder.abandon()
            return Abandoned()
        missing = _apply(builder, todo, job=job, db=db, cache=cache)
        if missing:
            builder.abandon()
            return Missing(documents=missing)
        fault_point("index:added")
        watch.lap("index")
        files, collection = builder.seal_open()
    except BaseException:
        builder.abandon()
        raise
    fault_point("seal:sealed")
    watch.lap("seal")
    try:
        samples = _samples(members, job.embedding_version, db=db, cache=cache)
        problem = check(collection, member_block_ids(db, job.snapshot_id), samples)
    finally:
        collection.close()
    if problem is not None:
        return Unsound(check=problem.check, detail=problem.detail)
    watch.lap("check")
    return Built(files=files, build_ms=watch.laps_ms)


def target_of(member: SnapshotDocument, ordinal: int | None = None) -> Target:
    return Target(doc_id=member.doc_id, version=member.version, title=member.title, ordinal=ordinal)


class _Watch:
    def __init__(self) -> None:
        self._since = time.monotonic()
        self.laps_ms: dict[str, int] = {}

    def lap(self, step: str) -> None:
        now = time.monotonic()
        self.laps_ms[step] = round((now - self._since) * 1000)
        self._since = now


def _begin(
    job: BuildJob, members: Sequence[SnapshotDocument], *, db: Database, vectors: Vectors
) -> tuple[Builder, Change]:
    """A builder, and what is left to do with it."""
    old = [] if job.base is None else snapshot_documents(db, job.base)
    todo = change(old, members)
    if job.base is not None and worth_copying(old, todo.leaving):
        try:
            base = Base(name=job.base, files=get_manifest(db, job.base).collection_files)
            builder = vectors.build(job.snapshot_id, dimensions=job.dimensions, base=base)
        except (CollectionUnavailable, NotFound) as error:
            _log.warning("snapshot_id=%s is built from nothing: %s", job.snapshot_id, error.message)
        else:
            fault_point("index:copied")
            return builder, todo if builder.based_on == job.base else change([], members)
    return vectors.build(job.snapshot_id, dimensions=job.dimensions), change([], members)


def _apply(builder: Builder, todo: Change, *, job: BuildJob, db: Database, cache: EmbeddingCache) -> tuple[DocId, ...]:
    """Take out and add; returns the documents that lack vectors."""
    for member in todo.leaving:
        for batch in _batches([block_id(member.doc_id, member.version, index) for index in range(member.blocks)]):
            builder.remove(batch)
    missing: list[DocId] = []
    for member in todo.coming:
        texts = block_texts(db, target_of(member))
        known = cache.get(job.embedding_version, list({text.sha256 for text in texts}))
        if any(text.sha256 not in known for text in texts):
            missing.append(member.doc_id)
        if missing:
            continue  # nothing will be sealed: only look for what else is missing
        for batch in _batches(texts):
            builder.add([_point(text, member, known[text.sha256]) for text in batch])
    return tuple(missing)


def _samples(
    members: Sequence[SnapshotDocument], embedding_version: str, *, db: Database, cache: EmbeddingCache
) -> list[Sample]:
    wanted = sample(members)
    samples: list[Sample] = []
    for member in members:
        if member.doc_id not in wanted:
            continue
        texts = block_texts(db, target_of(member), only=wanted[member.doc_id])
        known = cache.get(embedding_version, [text.sha256 for text in texts])
        samples += [
            Sample(
                block_id=text.block_id,
                doc_id=member.doc_id,
                doc_blocks=member.blocks,
                dense=known.get(text.sha256),
                terms=passage_terms(text.text),
            )
            for text in texts
        ]
    return samples


def _point(text: BlockText, member: SnapshotDocument, dense: Dense) -> Point:
    return Point(
        block_id=text.block_id,
        doc_id=member.doc_id,
        index=text.index,
        access=index_labels(member.access),
        dense=dense,
        sparse=passage_terms(text.text),
    )


def _indexed(member: SnapshotDocument) -> tuple[DocId, int, tuple[str, ...]]:
    return (member.doc_id, member.version, index_labels(member.access))


def _blocks(members: Sequence[SnapshotDocument]) -> int:
    return sum(member.blocks for member in members)


def _batches(things: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(things), BATCH):
        yield things[start : start + BATCH]
