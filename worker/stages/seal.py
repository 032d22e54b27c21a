"""Whether a sealed collection is what the catalog says, and the manifest that states it. spec/03 "Seal"."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from shared.ids import BlockId, DocId, SnapshotId
from shared.types.snapshots import ManifestDocument, SnapshotDocument, SnapshotManifest
from shared.vectors.port import Collection, Filter, Point, Sparse

SAMPLES = 16
_NEAREST = 10
_EQUAL = 2e-3  # engines may store half floats: a vector's cosine with itself is this close to 1

SealCheck = Literal["open", "count", "ids", "own_vector", "rare_term"]


class Problem(Struct, frozen=True, kw_only=True):
    check: SealCheck
    detail: str


class Census:
    """What went into a collection, counted on the way: every id, the sampled points, how many points have their terms."""

    def __init__(self, *, sampled: frozenset[tuple[DocId, int]], terms: frozenset[int]) -> None:
        self._sampled = sampled
        self._terms = terms
        self.ids: set[BlockId] = set()
        self.samples: list[Point] = []
        self.frequency: Counter[int] = Counter()

    def count(self, points: Sequence[Point]) -> None:
        for point in points:
            self.ids.add(point.block_id)
            self.frequency.update(self._terms.intersection(point.sparse.indices))
            if (point.doc_id, point.index) in self._sampled:
                self.samples.append(point)


def sample(members: Sequence[SnapshotDocument], *, size: int = SAMPLES) -> frozenset[tuple[DocId, int]]:
    """Blocks (document, index) spread evenly over the whole snapshot."""
    total = sum(member.blocks for member in members)
    count = min(size, total)
    wanted = [total * n // count for n in range(count)]
    found: set[tuple[DocId, int]] = set()
    first = 0
    for member in members:
        while wanted and wanted[0] < first + member.blocks:
            found.add((member.doc_id, wanted.pop(0) - first))
        first += member.blocks
    return frozenset(found)


def check(collection: Collection, census: Census) -> Problem | None:
    """Raises: CollectionUnavailable, UpstreamError."""
    points = collection.count()
    if points != len(census.ids):
        return Problem(check="count", detail=f"{points} points instead of {len(census.ids)}")
    strange = census.ids.symmetric_difference(collection.block_ids())
    if strange:
        return Problem(check="ids", detail=f"{len(strange)} blocks differ, among them {min(strange)}")
    for point in census.samples:
        if not _found_by_vector(collection, point):
            return Problem(check="own_vector", detail=f"{point.block_id} is not found by its own vector")
        if point.sparse.indices and not _found_by_term(collection, point, census.frequency):
            return Problem(check="rare_term", detail=f"{point.block_id} is not found by its rarest term")
    return None


def manifest(
    members: Sequence[SnapshotDocument],
    *,
    snapshot_id: SnapshotId,
    base_snapshot_id: SnapshotId | None,
    failed: int,
    embedding_version: str,
    dimensions: int,
    keyword_version: str,
    chunker_version: str,
    index: str,
    collection_files: dict[str, str],
    build_ms: dict[str, int],
) -> SnapshotManifest:
    documents = [
        ManifestDocument(
            doc_id=member.doc_id,
            version=member.version,
            artifact_sha256=member.artifact_sha256,
            sections=member.sections,
            blocks=member.blocks,
        )
        for member in members
    ]
    return SnapshotManifest(
        snapshot_id=snapshot_id,
        base_snapshot_id=base_snapshot_id,
        documents=tuple(sorted(documents, key=lambda document: document.doc_id)),
        failed=failed,
        sections=sum(document.sections for document in documents),
        blocks=sum(document.blocks for document in documents),
        embedding_version=embedding_version,
        dimensions=dimensions,
        keyword_version=keyword_version,
        chunker_version=chunker_version,
        index=index,
        collection_files=collection_files,
        build_ms=build_ms,
    )


def _found_by_vector(collection: Collection, point: Point) -> bool:
    """It is as near to itself as can be; copies of its text may crowd it out of the first ten."""
    hits = collection.dense(point.dense, within=Filter(), limit=_NEAREST)
    equal = [hit for hit in hits if hit.score >= 1 - _EQUAL]
    return len(equal) == _NEAREST or any(hit.block_id == point.block_id for hit in equal)


def _found_by_term(collection: Collection, point: Point, frequency: Mapping[int, int]) -> bool:
    rarest = min(point.sparse.indices, key=lambda term: (frequency[term], term))
    query = Sparse(indices=(rarest,), values=(1.0,))
    hits = collection.sparse(query, within=Filter(doc_ids=(point.doc_id,)), limit=frequency[rarest])
    return any(hit.block_id == point.block_id for hit in hits)
