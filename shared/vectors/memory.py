"""Collections in a dict: exact, small, for tests. The arithmetic is the engines': cosine, and BM25 in fixed point."""

from collections.abc import Iterable, Sequence

import numpy as np

from shared.access import EVERYONE
from shared.errors import CollectionUnavailable, Conflict
from shared.ids import BlockId
from shared.vectors.keywords import Tally, stored
from shared.vectors.port import Base, Dense, Filter, Hit, Point, Sparse
from shared.vectors.ranking import by_rank, rounded


class MemoryVectors:
    """`Vectors` that live as long as the object."""

    index = "memory exact float32 cosine fixed-point idf"

    def __init__(self) -> None:
        self._sealed: dict[str, tuple[Point, ...]] = {}
        self._building: set[str] = set()

    def build(self, name: str, *, dimensions: int, base: Base | None = None) -> "MemoryBuilder":
        if name in self._sealed or name in self._building:
            raise Conflict(f"collection {name} is sealed or being written", ids=[name])
        if base is not None and base.name not in self._sealed:
            raise CollectionUnavailable(f"collection {base.name} is not there", ids=[base.name])
        self._building.add(name)
        return MemoryBuilder(name, sealed=self._sealed, building=self._building, based_on=base and base.name)

    def open(self, name: str, *, files: dict[str, str]) -> "MemoryCollection":
        if name not in self._sealed:
            raise CollectionUnavailable(f"collection {name} is not there", ids=[name])
        return MemoryCollection(self._sealed[name])

    def names(self) -> list[str]:
        return sorted(self._sealed)

    def unfinished(self) -> list[str]:
        return sorted(self._building)

    def drop(self, name: str) -> None:
        if name in self._building:
            raise Conflict(f"collection {name} is being written", ids=[name])
        self._sealed.pop(name, None)


class MemoryBuilder:
    def __init__(
        self, name: str, *, sealed: dict[str, tuple[Point, ...]], building: set[str], based_on: str | None
    ) -> None:
        self.based_on = based_on
        self._name = name
        self._sealed = sealed
        self._building = building
        begin = () if based_on is None else sealed[based_on]
        self._points = {point.block_id: point for point in begin}

    def add(self, points: Sequence[Point]) -> None:
        for point in points:
            self._points.setdefault(point.block_id, point)

    def remove(self, block_ids: Sequence[BlockId]) -> None:
        for block_id in block_ids:
            self._points.pop(block_id, None)

    def block_ids(self) -> Iterable[BlockId]:
        return tuple(self._points)

    def seal(self) -> dict[str, str]:
        self._sealed[self._name] = tuple(self._points.values())
        self._building.discard(self._name)
        return {}

    def seal_open(self) -> tuple[dict[str, str], "MemoryCollection"]:
        return self.seal(), MemoryCollection(self._sealed[self._name])

    def abandon(self) -> None:
        self._building.discard(self._name)


class MemoryCollection:
    is_remote = False

    def __init__(self, points: tuple[Point, ...]) -> None:
        self._points = points
        self._dense = [_unit(point.dense) for point in points]
        self._sparse = [
            dict(zip(weights.indices, weights.values, strict=True))
            for weights in (stored(point.sparse) for point in points)
        ]
        tally = Tally()
        for point in points:
            tally.add(point.sparse)
        self._frequencies = tally.frequencies()

    def dense(self, query: Dense, *, within: Filter, limit: int, briefly: bool = False) -> list[Hit]:
        unit = _unit(query)
        return self._best({at: float(np.dot(vector, unit)) for at, vector in enumerate(self._dense)}, within, limit)

    def sparse(self, query: Sparse, *, within: Filter, limit: int, briefly: bool = False) -> list[Hit]:
        weighed = self._frequencies.weighed(query)
        asked = dict(zip(weighed.indices, weighed.values, strict=True))
        scores = {
            at: float(sum(weight * weights[term] for term, weight in asked.items() if term in weights))
            for at, weights in enumerate(self._sparse)
            if not asked.keys().isdisjoint(weights)
        }
        return self._best(scores, within, limit)

    def asked(self, query: Sparse) -> float:
        return self._frequencies.asked(query)

    def count(self) -> int:
        return len(self._points)

    def block_ids(self) -> Iterable[BlockId]:
        return (point.block_id for point in self._points)

    def dense_of(self, block_ids: Sequence[BlockId]) -> dict[BlockId, Dense]:
        wanted = set(block_ids)
        return {
            point.block_id: vector
            for point, vector in zip(self._points, self._dense, strict=True)
            if point.block_id in wanted
        }

    def close(self) -> None:
        pass

    def _best(self, scores: dict[int, float], within: Filter, limit: int) -> list[Hit]:
        hits = [
            Hit(block_id=point.block_id, doc_id=point.doc_id, index=point.index, score=rounded(score))
            for point, score in ((self._points[at], score) for at, score in scores.items())
            if _admits(within, point)
        ]
        return sorted(hits, key=by_rank)[: max(limit, 0)]


def _admits(within: Filter, point: Point) -> bool:
    in_scope = (within.doc_ids is None or point.doc_id in within.doc_ids) and point.doc_id not in within.without
    readable = within.access is None or not (within.access | {EVERYONE}).isdisjoint(point.access)
    return in_scope and readable


def _unit(vector: Dense) -> Dense:
    norm = float(np.linalg.norm(vector))
    return vector if norm == 0 else (vector / np.float32(norm)).astype(np.float32)
