"""The embedded engine: one folder of files per collection, no server, no background work.

collections/NAME               sealed; read by any number of processes
collections/.building/NAME     under construction, invisible; its lock beside it as NAME.lock
collections/.building/NAME~    on its way out

Exact search (no graph): deterministic, and quick to publish. Vectors in 32 bits: order is that of the numbers given.
Nothing in the engine releases the interpreter lock, so calls from several threads take turns: 7 ms for a dense search in 100,000 blocks.
IDF is that of the whole collection, also under a filter: a word's rarity must not depend on who asks for it.
"""

import re
import shutil
import uuid
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import cast

import numpy as np
import qdrant_edge as qe

from shared.access import EVERYONE
from shared.errors import CollectionUnavailable, Conflict, StorageError, UpstreamError
from shared.ids import BlockId
from shared.vectors.point_ids import pack, unpack
from shared.vectors.port import Dense, Filter, Hit, Point, Sparse
from shared.vectors.ranking import Found, top
from shared.vectors.sealed import WriterLock, digest_and_sync, sync_folder, verify

_BATCH = 1_000  # points per upsert, ids per retrieve
_PAGE = 10_000  # points per scroll
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


class EdgeVectors:
    """`Vectors` in a folder of this machine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def index(self) -> str:
        return f"qdrant-edge-py {version('qdrant-edge-py')} exact float32 cosine idf"

    def build(self, name: str, *, dimensions: int) -> "EdgeBuilder":
        """Raises: Conflict (sealed already, or another writer), StorageError."""
        building = self._building(name)
        with _storage(f"collection {name} can't be begun"):
            building.parent.mkdir(parents=True, exist_ok=True)
            lock = self._lock(name)
            try:
                if self._place(name).exists():
                    raise Conflict(f"collection {name} is sealed", ids=[name])
                _remove(building)
                return EdgeBuilder(building, self._place(name), lock=lock, dimensions=dimensions)
            except BaseException:
                lock.release()
                raise

    def open(self, name: str, *, files: dict[str, str]) -> "EdgeCollection":
        folder = self._place(name)
        if not folder.is_dir():
            raise CollectionUnavailable(f"collection {name} is not there; import again or restore {folder}", ids=[name])
        verify(folder, files)
        try:
            return EdgeCollection(qe.EdgeShard.load(str(folder)))
        except Exception as error:  # the engine has no exceptions of its own
            raise CollectionUnavailable(f"collection {name} can't be opened: {error}", ids=[name]) from error

    def names(self) -> list[str]:
        if not self._folder.is_dir():
            return []
        return sorted(path.name for path in self._folder.iterdir() if path.is_dir() and _NAME.fullmatch(path.name))

    def drop(self, name: str) -> None:
        """A collection that is open elsewhere stays readable there until closed. Raises: Conflict while it is being written, StorageError."""
        building, sealed = self._building(name), self._place(name)
        if not building.exists() and not sealed.exists():
            return
        with _storage(f"collection {name} can't be removed"):
            building.parent.mkdir(parents=True, exist_ok=True)
            lock = self._lock(name)
            try:
                leaving = building.with_name(f"{name}~")
                _remove(leaving)
                if sealed.exists():
                    sealed.rename(leaving)  # gone at once for every reader, whatever happens to the removal
                    sync_folder(self._folder)
                _remove(leaving)
                _remove(building)
            finally:
                lock.release()

    def _place(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise ValueError(f"not a collection name: {name!r}")
        return self._folder / name

    def _building(self, name: str) -> Path:
        return self._place(name).parent / ".building" / name

    def _lock(self, name: str) -> WriterLock:
        return WriterLock(self._building(name).with_name(f"{name}.lock"), name=name)


class EdgeBuilder:
    def __init__(self, folder: Path, place: Path, *, lock: WriterLock, dimensions: int) -> None:
        self._folder = folder
        self._place = place
        self._lock = lock
        self._added: dict[BlockId, None] = {}  # complete: every build begins with an empty folder
        folder.mkdir()
        with _engine():
            self._shard = qe.EdgeShard.create(str(folder), _config(dimensions))
            for field in ("doc_id", "access"):
                self._shard.update(qe.UpdateOperation.create_field_index(field, qe.PayloadSchemaType.Keyword))

    def add(self, points: Sequence[Point]) -> None:
        """A block that is there already is left alone: replacing it would leave a dead point that IDF still counts.

        Raises: UpstreamError, StorageError.
        """
        new: dict[BlockId, Point] = {}
        for point in points:
            if point.block_id not in self._added:
                new.setdefault(point.block_id, point)
        fresh = list(new.values())
        for at in range(0, len(fresh), _BATCH):
            batch = fresh[at : at + _BATCH]
            with _engine():
                self._shard.update(qe.UpdateOperation.upsert_points([_encode(point) for point in batch]))
            self._added.update(dict.fromkeys(point.block_id for point in batch))

    def block_ids(self) -> Iterable[BlockId]:
        return tuple(self._added)

    def seal(self) -> dict[str, str]:
        """Raises: UpstreamError, StorageError; the lock is free afterwards in any case."""
        try:
            with _engine():
                self._shard.optimize()
                self._shard.flush()
                self._shard.close()
                # The first load applies and removes what small segments keep in journals: after it the files stay as they are.
                qe.EdgeShard.load(str(self._folder)).close()
            with _storage(f"collection {self._place.name} can't be sealed"):
                digests = digest_and_sync(self._folder)
                self._folder.rename(self._place)
                sync_folder(self._place.parent)
                sync_folder(self._folder.parent)
            return digests
        finally:
            self._lock.release()

    def abandon(self) -> None:
        try:
            with _engine():
                self._shard.close()
            with _storage(f"collection {self._place.name} can't be removed"):
                _remove(self._folder)
        finally:
            self._lock.release()


class EdgeCollection:
    def __init__(self, shard: qe.EdgeShard) -> None:
        self._shard = shard

    def dense(self, query: Dense, *, within: Filter, limit: int) -> list[Hit]:
        return self._search(query.tolist(), "dense", within, limit)

    def sparse(self, query: Sparse, *, within: Filter, limit: int) -> list[Hit]:
        return self._search(qe.SparseVector(list(query.indices), list(query.values)), "sparse", within, limit)

    def count(self) -> int:
        with _engine():
            return self._shard.count(qe.CountRequest(exact=True))

    def block_ids(self) -> Iterable[BlockId]:
        offset: qe.PointId | None = None
        while True:
            with _engine():
                records, offset = self._shard.scroll(qe.ScrollRequest(offset=offset, limit=_PAGE, with_payload=False))
            yield from (unpack(cast(uuid.UUID, record.id))[0] for record in records)
            if offset is None:
                return

    def dense_of(self, block_ids: Sequence[BlockId]) -> dict[BlockId, Dense]:
        found: dict[BlockId, Dense] = {}
        for at in range(0, len(block_ids), _BATCH):
            ids: list[qe.PointId] = [pack(block_id) for block_id in block_ids[at : at + _BATCH]]
            with _engine():
                records = self._shard.retrieve(ids, False, ["dense"])
            for record in records:
                vectors = cast(dict[str, list[float]], record.vector)
                found[unpack(cast(uuid.UUID, record.id))[0]] = np.asarray(vectors["dense"], dtype=np.float32)
        return found

    def close(self) -> None:
        with _engine():
            self._shard.close()

    def _search(self, vector: list[float] | qe.SparseVector, using: str, within: Filter, limit: int) -> list[Hit]:
        if within.doc_ids == ():
            return []
        query, conditions = qe.Query.Nearest(vector, using=using), _conditions(within)

        def fetch(count: int) -> list[Found]:
            request = qe.QueryRequest(
                limit=count,
                query=query,
                filter=conditions,
                with_payload=False,
                params=qe.SearchParams(exact=True),
            )
            with _engine():
                return [(point.score, cast(uuid.UUID, point.id)) for point in self._shard.query(request)]

        return top(fetch, limit)


def _config(dimensions: int) -> qe.EdgeConfig:
    no_graph = qe.HnswIndexConfig(m=0, ef_construct=100, full_scan_threshold=10_000)
    return qe.EdgeConfig(
        vectors={"dense": qe.EdgeVectorParams(size=dimensions, distance=qe.Distance.Cosine, hnsw_config=no_graph)},
        sparse_vectors={"sparse": qe.EdgeSparseVectorParams(modifier=qe.Modifier.Idf)},
        hnsw_config=no_graph,
        wal_enabled=False,  # nothing is published before flush, close and rename; with it a second reader is refused
        max_search_threads=1,
    )


def _encode(point: Point) -> qe.Point:
    sparse = qe.SparseVector(list(point.sparse.indices), list(point.sparse.values))
    payload = {"doc_id": point.doc_id, "access": list(point.access)}  # what filters look at
    return qe.Point(pack(point.block_id), {"dense": point.dense.tolist(), "sparse": sparse}, payload)


def _conditions(within: Filter) -> qe.Filter | None:
    must: list[qe.ConditionType] = []
    if within.doc_ids is not None:
        must.append(qe.FieldCondition("doc_id", match=qe.MatchAny(list(within.doc_ids))))
    if within.access is not None:
        must.append(qe.FieldCondition("access", match=qe.MatchAny(sorted({*within.access, EVERYONE}))))
    return qe.Filter(must=must) if must else None


@contextmanager
def _engine() -> Generator[None]:
    """Translate the engine's bare exceptions, once, where they enter the program."""
    try:
        yield
    except Exception as error:  # the engine has no exceptions of its own
        if "No space left" in str(error):
            raise StorageError(f"the disk is full: {error}") from error
        raise UpstreamError("upstream_unavailable", f"embedded vector engine: {error}") from error


@contextmanager
def _storage(what: str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(f"{what}: {error.strerror or error}") from error


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
