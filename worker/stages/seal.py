"""Whether a sealed collection is what the catalog says, and the manifest that states it. spec/03 "Seal"."""

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from shared.ids import BlockId, DocId, SnapshotId
from shared.types.snapshots import ManifestDocument, SnapshotDocument, SnapshotManifest
from shared.vectors.port import Collection, Dense, Filter, Sparse

SAMPLES = 16
_NEAREST = 10
_EQUAL = 2e-3  # engines may store half floats: a vector's cosine with itself is this close to 1

SealCheck = Literal["count", "ids", "own_vector", "rare_term"]


class Problem(Struct, frozen=True, kw_only=True):
    check: SealCheck
    detail: str


class Sample(Struct, frozen=True, kw_only=True):
    """A block that has to find itself."""

    block_id: BlockId
    doc_id: DocId
    doc_blocks: int  # of its document
    dense: Dense | None  # None = not in the cache any more: it came with the base, and is asked for as it is stored
    terms: Sparse


def sample(members: Sequence[SnapshotDocument], *, size: int = SAMPLES) -> dict[DocId, frozenset[int]]:
    """Indices of blocks by document, spread evenly over the whole snapshot."""
    total = sum(member.blocks for member in members)
    count = min(size, total)
    wanted = deque(total * n // count for n in range(count))
    found: dict[DocId, frozenset[int]] = {}
    first = 0
    for member in members:
        inside: set[int] = set()
        while wanted and wanted[0] < first + member.blocks:
            inside.add(wanted.popleft() - first)
        if inside:
            found[member.doc_id] = frozenset(inside)
        first += member.blocks
    return found


def check(collection: Collection, expected: Iterable[BlockId], samples: Sequence[Sample]) -> Problem | None:
    """expected: every block that the catalog has for the snapshot, each once.

    Raises: CollectionUnavailable, UpstreamError.
    """
    wanted = set(expected)
    points = collection.count()
    if points != len(wanted):
        return Problem(check="count", detail=f"{points} points instead of {len(wanted)}")
    strange = wanted.symmetric_difference(collection.block_ids())
    if strange:
        return Problem(check="ids", detail=f"{len(strange)} blocks differ, among them {min(strange)}")
    frequency = Counter(term for one in samples for term in one.terms.indices)
    for one in samples:
        if not _found_by_vector(collection, one):
            return Problem(check="own_vector", detail=f"{one.block_id} is not found by its own vector")
        if one.terms.indices and not _found_by_term(collection, one, frequency):
            return Problem(check="rare_term", detail=f"{one.block_id} is not found by a rare term")
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


def _found_by_vector(collection: Collection, one: Sample) -> bool:
    """It is as near to itself as can be; copies of its text may crowd it out of the first ten."""
    own = collection.dense_of([one.block_id]).get(one.block_id) if one.dense is None else one.dense
    if own is None:
        return False
    hits = collection.dense(own, within=Filter(), limit=_NEAREST)
    equal = [hit for hit in hits if hit.score >= 1 - _EQUAL]
    return len(equal) == _NEAREST or any(hit.block_id == one.block_id for hit in equal)


def _found_by_term(collection: Collection, one: Sample, frequency: Mapping[int, int]) -> bool:
    """By a term that few of the sampled blocks have."""
    rarest = min(one.terms.indices, key=lambda term: (frequency[term], term))
    query = Sparse(indices=(rarest,), values=(1.0,))
    hits = collection.sparse(query, within=Filter(doc_ids=(one.doc_id,)), limit=one.doc_blocks)
    return any(hit.block_id == one.block_id for hit in hits)
