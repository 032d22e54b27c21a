"""The embedded engine's own objects: how its shards are made and loaded, how points and filters are put to it, what its errors mean."""

import uuid
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import msgspec
import qdrant_edge as qe
from msgspec import Struct

from shared.access import EVERYONE
from shared.errors import StorageError, UpstreamError
from shared.ids import BlockId
from shared.vectors.keywords import stored
from shared.vectors.point_ids import pack, unpack
from shared.vectors.port import Filter, Point

_PAGE = 10_000  # points per scroll
_SHORT_PAGE = 1_000  # 1 ms, and 2 to compare its points with a query
_SEGMENTS = 64  # fewer are not merged: the same on every machine, and merging costs as much memory as building in one


def create(folder: Path, dimensions: int) -> qe.EdgeShard:
    with engine():
        shard = qe.EdgeShard.create(str(folder), _config(dimensions))
        for field in ("doc_id", "access"):
            shard.update(qe.UpdateOperation.create_field_index(field, qe.PayloadSchemaType.Keyword))
        return shard


def load(folder: Path, dimensions: int) -> qe.EdgeShard:
    with engine():
        return qe.EdgeShard.load(str(folder), _config(dimensions))


def encode(point: Point) -> qe.Point:
    weights = stored(point.sparse)
    sparse = qe.SparseVector(list(weights.indices), list(weights.values))
    payload = {"doc_id": point.doc_id, "access": list(point.access)}  # what filters look at
    return qe.Point(pack(point.block_id), {"dense": point.dense.tolist(), "sparse": sparse}, payload)


def conditions(within: Filter) -> qe.Filter | None:
    must: list[qe.ConditionType] = []
    if within.doc_ids is not None:
        must.append(qe.FieldCondition("doc_id", match=qe.MatchAny(list(within.doc_ids))))
    if within.access is not None:
        must.append(qe.FieldCondition("access", match=qe.MatchAny(sorted({*within.access, EVERYONE}))))
    closed: list[qe.ConditionType] = []
    if within.without:
        closed.append(qe.FieldCondition("doc_id", match=qe.MatchAny(list(within.without))))
    return qe.Filter(must=must, must_not=closed) if must or closed else None


def having(ids: Iterable[uuid.UUID]) -> qe.Filter:
    these: set[qe.PointId] = set(ids)
    return qe.Filter(must=[qe.HasIdCondition(these)])


def block_ids_in(shard: qe.EdgeShard) -> Iterator[BlockId]:
    for page in pages_of(shard, None, size=_PAGE):
        yield from (unpack(packed)[0] for packed in page)


def pages_of(shard: qe.EdgeShard, only: qe.Filter | None, *, size: int = _SHORT_PAGE) -> Iterator[list[uuid.UUID]]:
    """The ids of its points, ascending."""
    offset: qe.PointId | None = None
    while True:
        with engine():
            records, offset = shard.scroll(qe.ScrollRequest(offset=offset, limit=size, filter=only, with_payload=False))
        yield [cast(uuid.UUID, record.id) for record in records]
        if offset is None:
            return


def steps_in_8_bits(folder: Path) -> float:
    """The widest step between two neighbouring 8-bit numbers of any segment's vectors; 0 = every vector is kept in 32 bits only.

    Raises: OSError, msgspec.MsgspecError.
    """
    noted = (msgspec.json.decode(path.read_bytes(), type=_InBytes) for path in folder.rglob("quantized.meta.json"))
    return max((one.alpha for one in noted), default=0.0)


class _InBytes(Struct, frozen=True, kw_only=True):
    """What the engine notes beside vectors in 8 bits: component = offset + alpha * number."""

    alpha: float


@contextmanager
def engine() -> Generator[None]:
    """Translate the engine's bare exceptions, once, where they enter the program."""
    try:
        yield
    except Exception as error:  # the engine has no exceptions of its own
        if "No space left" in str(error):
            raise StorageError("The disk is full: a collection can't be written. Free some space.") from error
        raise UpstreamError("upstream_unavailable", f"embedded vector engine: {error}") from error


def _config(dimensions: int) -> qe.EdgeConfig:
    no_graph = qe.HnswIndexConfig(m=0, ef_construct=100, full_scan_threshold=10_000)
    in_bytes = qe.ScalarQuantizationConfig(qe.ScalarType.Int8, memory=qe.Memory.Cached)
    dense = qe.EdgeVectorParams(
        size=dimensions, distance=qe.Distance.Cosine, hnsw_config=no_graph, quantization_config=in_bytes
    )
    in_files = qe.EdgeSparseVectorParams(memory=qe.Memory.Cached)  # else copied: 140 MB more at 100,000, and no quicker
    return qe.EdgeConfig(
        vectors={"dense": dense},
        sparse_vectors={"sparse": in_files},
        hnsw_config=no_graph,
        wal_enabled=False,  # nothing is published before flush, close and rename; with it a second reader is refused
        max_search_threads=1,
        optimizers=qe.EdgeOptimizersConfig(default_segment_number=_SEGMENTS),
    )
