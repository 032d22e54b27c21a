"""The embedded engine: one folder of files per collection, no server, no background work.

collections/NAME               sealed; read by any number of processes
collections/.building/NAME     under construction, invisible; its lock beside it as NAME.lock
collections/.building/NAME~    on its way out

Every vector is looked at (no graph): deterministic, and quick to publish. Segments that are large enough for it to matter are looked
through in 8 bits first, and the best of that, many times the limit, compared in 32. Where these lie so close together that rounding to 8 bits
may have kept a better one out (BLUR), everything is compared in 32 bits. Scores and order are those of the numbers given (decision 0023).
Nothing in the engine releases the interpreter lock, so calls from several threads take turns: 3 ms for a dense search in 100,000 blocks.
So many equal scores that fetching them all would take longer are looked through page by page, in the order of hits (decision 0139).
Keyword weights are in fixed point and IDF is ours, kept beside the engine's files (keywords.py): the engine's own counts deleted points.
IDF is that of the whole collection, also under a filter: a word's rarity must not depend on who asks for it.
"""

import re
import shutil
import uuid
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import cast

import numpy as np
import qdrant_edge as qe
from msgspec import MsgspecError, structs

from shared.errors import CollectionUnavailable, Conflict, UpstreamError
from shared.ids import BlockId, DocId
from shared.vectors.keywords import NONE, Frequencies, Tally, decode
from shared.vectors.point_ids import pack, unpack
from shared.vectors.port import Base, Dense, Filter, Hit, Point, Sparse, TakesLonger
from shared.vectors.ranking import Found, out_of, top
from shared.vectors.sealed import WriterLock, copy_verified, digest_and_sync, require_room, storing, sync_folder, verify
from shared.vectors.shard import (
    block_ids_in,
    conditions,
    create,
    encode,
    engine,
    having,
    load,
    pages_of,
    steps_in_8_bits,
)

_FREQUENCIES = "frequencies.msgpack"
_BUILDING, _LOCK, _LEAVING = ".building", ".lock", "~"
_BATCH = 1_000  # points per upsert, ids per retrieve
_SEGMENT = (
    50_000  # points: optimising one takes up to 1 GB, all at once would take 1.7 GB at 100,000 and more and more beyond
)
BLUR = 5  # steps of the 8 bits: 8.6 standard deviations of how much two blocks' rounding errors differ (decision 0023)
_QUICKLY = qe.SearchParams(quantization=qe.QuantizationSearchParams(rescore=True))
_EXACTLY = qe.SearchParams(quantization=qe.QuantizationSearchParams(ignore=True))
_MANY = 100  # documents: of fewer the engine finds the points quickly
_WIDE = 8
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


class EdgeVectors:
    """`Vectors` in a folder of this machine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def index(self) -> str:
        return f"qdrant-edge-py {version('qdrant-edge-py')} int8 rescored float32 cosine fixed-point idf"

    def build(self, name: str, *, dimensions: int, base: Base | None = None) -> "EdgeBuilder":
        """Raises: Conflict (sealed already, or another writer), CollectionUnavailable (the base), StorageError, UpstreamError."""
        building = self._building(name)
        with storing(f"collection {name} can't be begun"):
            building.parent.mkdir(parents=True, exist_ok=True)
            lock = self._lock(name)
            try:
                if self._place(name).exists():
                    raise Conflict(f"collection {name} is sealed", ids=[name])
                _remove(building)
                if base is None:
                    building.mkdir()
                    return EdgeBuilder(create(building, dimensions), building, self._place(name), lock=lock)
                copy_verified(self._place(base.name), building, base.files)
                return EdgeBuilder(
                    load(building, dimensions),
                    building,
                    self._place(name),
                    lock=lock,
                    based_on=base.name,
                    begin=_frequencies(building, base.name),
                )
            except BaseException:
                lock.release()
                raise

    def open(self, name: str, *, files: dict[str, str]) -> "EdgeCollection":
        """Raises: CollectionUnavailable; StorageError when the disk is full, which says nothing about the collection."""
        folder = self._place(name)
        if not folder.is_dir():
            raise CollectionUnavailable(f"collection {name} is not there", ids=[name])
        verify(folder, files)
        frequencies = _frequencies(folder, name)
        require_room(folder)
        try:
            with engine():
                return EdgeCollection(qe.EdgeShard.load(str(folder)), frequencies, step=steps_in_8_bits(folder))
        except UpstreamError as error:
            raise CollectionUnavailable(f"collection {name} can't be opened: {error.message}", ids=[name]) from error

    def names(self) -> list[str]:
        if not self._folder.is_dir():
            return []
        return sorted(path.name for path in self._folder.iterdir() if path.is_dir() and _NAME.fullmatch(path.name))

    def unfinished(self) -> list[str]:
        """A lock that a killed builder left counts: dropping the name takes it away."""
        building = self._folder / _BUILDING
        if not building.is_dir():
            return []
        names = {path.name.removesuffix(_LOCK).removesuffix(_LEAVING) for path in building.iterdir()}
        return sorted(name for name in names if _NAME.fullmatch(name))

    def drop(self, name: str) -> None:
        """A collection that is open elsewhere stays readable there until closed. Raises: Conflict while it is being written, StorageError."""
        building, sealed = self._building(name), self._place(name)
        leaving = building.with_name(f"{name}{_LEAVING}")
        lock_file = building.with_name(f"{name}{_LOCK}")
        if not any(path.exists() for path in (building, sealed, leaving, lock_file)):
            return
        with storing(f"collection {name} can't be removed"):
            building.parent.mkdir(parents=True, exist_ok=True)
            lock = self._lock(name)
            try:
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
        return self._place(name).parent / _BUILDING / name

    def _lock(self, name: str) -> WriterLock:
        return WriterLock(self._building(name).with_name(f"{name}{_LOCK}"), name=name)


class EdgeBuilder:
    def __init__(
        self,
        shard: qe.EdgeShard,
        folder: Path,
        place: Path,
        *,
        lock: WriterLock,
        based_on: str | None = None,
        begin: Frequencies = NONE,
    ) -> None:
        self.based_on = based_on
        self._shard = shard
        self._folder = folder
        self._place = place
        self._lock = lock
        self._tally = Tally(begin)
        self._since_optimised = 0

    def add(self, points: Sequence[Point]) -> None:
        """A block that is there already is left alone. Raises: UpstreamError, StorageError."""
        for at in range(0, len(points), _BATCH):
            batch = {pack(point.block_id): point for point in reversed(points[at : at + _BATCH])}
            with engine():
                for record in self._shard.retrieve(list(batch), False, False):
                    del batch[cast(uuid.UUID, record.id)]
                self._shard.update(qe.UpdateOperation.upsert_points([encode(point) for point in batch.values()]))
            for point in batch.values():
                self._tally.add(point.sparse)
            self._since_optimised += len(batch)
            if self._since_optimised >= _SEGMENT:
                self._optimise()

    def remove(self, block_ids: Sequence[BlockId]) -> None:
        """Raises: UpstreamError, StorageError."""
        for at in range(0, len(block_ids), _BATCH):
            ids: list[qe.PointId] = [pack(block_id) for block_id in block_ids[at : at + _BATCH]]
            with engine():
                leaving = self._shard.retrieve(ids, False, ["sparse"])
                self._shard.update(qe.UpdateOperation.delete_points([record.id for record in leaving]))
            for record in leaving:
                vectors = cast(dict[str, qe.SparseVector], record.vector)
                self._tally.remove(vectors["sparse"].indices if "sparse" in vectors else ())

    def block_ids(self) -> Iterable[BlockId]:
        return block_ids_in(self._shard)

    def _optimise(self) -> None:
        with engine():
            self._shard.optimize()
            self._shard.flush()
        self._since_optimised = 0

    def seal(self) -> dict[str, str]:
        """Raises: UpstreamError, StorageError; the lock is free afterwards in any case."""
        digests, collection = self.seal_open()
        collection.close()
        return digests

    def seal_open(self) -> tuple[dict[str, str], "EdgeCollection"]:
        """Raises: as `seal`."""
        try:
            with engine():
                self._shard.optimize()
                self._shard.flush()
                self._shard.close()
                # The first load applies and removes what small segments keep in journals: after it the files stay as they are.
                self._shard = qe.EdgeShard.load(str(self._folder))
                step = steps_in_8_bits(self._folder)
            frequencies = self._tally.frequencies()
            with storing(f"collection {self._place.name} can't be sealed"):
                (self._folder / _FREQUENCIES).write_bytes(frequencies.encode())
                digests = digest_and_sync(self._folder)
                self._folder.rename(self._place)
                sync_folder(self._place.parent)
                sync_folder(self._folder.parent)
            return digests, EdgeCollection(self._shard, frequencies, step=step)
        finally:
            self._lock.release()

    def abandon(self) -> None:
        try:
            with suppress(Exception):  # what is thrown away needn't be written out first: the disk may be full
                self._shard.close()
            with storing(f"collection {self._place.name} can't be removed"):
                _remove(self._folder)
        finally:
            self._lock.release()


class EdgeCollection:
    is_remote = False

    def __init__(self, shard: qe.EdgeShard, frequencies: Frequencies, *, step: float) -> None:
        """step: of the 8 bits that its vectors are kept in too, the widest; 0 = of none of them."""
        self._shard = shard
        self._frequencies = frequencies
        self._blur = BLUR * step
        self._wide: tuple[tuple[DocId, ...], bool] = ((), False)  # the last scope, and what was found of it

    def dense(self, query: Dense, *, within: Filter, limit: int, briefly: bool = False) -> list[Hit]:
        return self._search(query.tolist(), "dense", within, limit, briefly=briefly)

    def sparse(self, query: Sparse, *, within: Filter, limit: int, briefly: bool = False) -> list[Hit]:
        weighed = self._frequencies.weighed(query)
        if not weighed.indices:
            return []
        vector = qe.SparseVector(list(weighed.indices), list(weighed.values))
        return self._search(vector, "sparse", within, limit, briefly=briefly)

    def asked(self, query: Sparse) -> float:
        return self._frequencies.asked(query)

    def count(self) -> int:
        with engine():
            return self._shard.count(qe.CountRequest(exact=True))

    def block_ids(self) -> Iterable[BlockId]:
        return block_ids_in(self._shard)

    def dense_of(self, block_ids: Sequence[BlockId]) -> dict[BlockId, Dense]:
        found: dict[BlockId, Dense] = {}
        for at in range(0, len(block_ids), _BATCH):
            ids: list[qe.PointId] = [pack(block_id) for block_id in block_ids[at : at + _BATCH]]
            with engine():
                records = self._shard.retrieve(ids, False, ["dense"])
            for record in records:
                vectors = cast(dict[str, list[float]], record.vector)
                found[unpack(cast(uuid.UUID, record.id))[0]] = np.asarray(vectors["dense"], dtype=np.float32)
        return found

    def close(self) -> None:
        with engine():
            self._shard.close()

    def _search(
        self, vector: list[float] | qe.SparseVector, using: str, within: Filter, limit: int, *, briefly: bool
    ) -> list[Hit]:
        if limit <= 0 or within.doc_ids == ():
            return []
        query = qe.Query.Nearest(vector, using=using)

        def ask(count: int, only: qe.Filter | None, params: qe.SearchParams = _EXACTLY) -> list[Found]:
            request = qe.QueryRequest(limit=count, query=query, filter=only, with_payload=False, params=params)
            with engine():
                return [(point.score, cast(uuid.UUID, point.id)) for point in self._shard.query(request)]

        only = conditions(within)

        blur = self._blur if using == "dense" else 0.0
        wide = within.doc_ids is not None and self._is_wide(within.doc_ids)
        if wide or blur:
            asked = limit * _WIDE
            found = ask(asked, conditions(structs.replace(within, doc_ids=None)) if wide else only, _QUICKLY)
            some = frozenset(within.doc_ids or ()) if wide else None
            hits = out_of(found, limit, asked=asked, doc_ids=some, blur=blur)
            if hits is not None:
                return hits
            if briefly:
                raise TakesLonger
        pages = (ask(len(page), having(page)) for page in pages_of(self._shard, only))
        return top(lambda count: ask(count, only), limit, in_order=pages, briefly=briefly)

    def _is_wide(self, doc_ids: tuple[DocId, ...]) -> bool:
        """Whether so many points are in scope that finding them costs more than looking at all: the best of all then hold enough of them."""
        if len(doc_ids) < _MANY:
            return False
        asked_before, answer = self._wide
        if asked_before is not doc_ids:  # both branches of a search come with the same scope
            of_these = qe.CountRequest(filter=conditions(Filter(doc_ids=doc_ids)), exact=False)
            with engine():
                answer = self._shard.count(of_these) * _WIDE > 2 * self._shard.count(qe.CountRequest(exact=False))
            self._wide = (doc_ids, answer)
        return answer


def _frequencies(folder: Path, name: str) -> Frequencies:
    try:
        return decode((folder / _FREQUENCIES).read_bytes())
    except (OSError, MsgspecError) as error:
        raise CollectionUnavailable(
            f"collection {name} has no readable {_FREQUENCIES}, e.g. because an earlier version built it",
            ids=[name, _FREQUENCIES],
        ) from error


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
