"""Collections in a dict: exact, small, for tests. The arithmetic is the engine's: cosine, and BM25's TF part times its IDF."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from shared.access import EVERYONE
from shared.errors import CollectionUnavailable, Conflict
from shared.ids import BlockId
from shared.vectors.port import Dense, Filter, Hit, Point, Sparse
from shared.vectors.ranking import by_rank


class MemoryVectors:
    """`Vectors` that live as long as the object."""

    index = "memory exact float32 cosine idf"

    def __init__(self) -> None:
        self._sealed: dict[str, tuple[Point, ...]] = {}
        self._building: set[str] = set()

    def build(self, name: str, *, dimensions: int) -> "MemoryBuilder":
        if name in self._sealed or name in self._building:
            raise Conflict(f"collection {name} is sealed or being written", ids=[name])
        self._building.add(name)
        return MemoryBuilder(name, sealed=self._sealed, building=self._building)

    def open(self, name: str, *, files: dict[str, str]) -> "MemoryCollection":
        if name not in self._sealed:
            raise CollectionUnavailable(f"collection {name} is not there", ids=[name])
        return MemoryCollection(self._sealed[name])

    def names(self) -> list[str]:
        return sorted(self._sealed)

    def drop(self, name: str) -> None:
        if name in self._building:
            raise Conflict(f"collection {name} is being written", ids=[name])
        self._sealed.pop(name, None)


class MemoryBuilder:
    def __init__(self, name: str, *, sealed: dict[str, tuple[Point, ...]], building: set[str]) -> None:
        self._name = name
        self._sealed = sealed
        self._building = building
        self._points: dict[BlockId, Point] = {}

    def add(self, points: Sequence[Point]) -> None:
        for point in points:
            self._points.setdefault(point.block_id, point)

    def block_ids(self) -> Iterable[BlockId]:
        return tuple(self._points)

    def seal(self) -> dict[str, str]:
        self._sealed[self._name] = tuple(self._points.values())
        self._building.discard(self._name)
        return {}

    def abandon(self) -> None:
        self._building.discard(self._name)


class MemoryCollection:
    def __init__(self, points: tuple[Point, ...]) -> None:
        self._points = points
        self._dense = [_unit(point.dense) for point in points]
        self._sparse = [dict(zip(point.sparse.indices, point.sparse.values, strict=True)) for point in points]
        self._frequency = Counter(term for weights in self._sparse for term in weights)
        self._with_terms = sum(
            bool(weights) for weights in self._sparse
        )  # the engine's N leaves out points without a term

    def dense(self, query: Dense, *, within: Filter, limit: int) -> list[Hit]:
        unit = _unit(query)
        return self._best({at: float(np.dot(vector, unit)) for at, vector in enumerate(self._dense)}, within, limit)

    def sparse(self, query: Sparse, *, within: Filter, limit: int) -> list[Hit]:
        asked = {
            term: weight * self._idf(term)
            for term, weight in zip(query.indices, query.values, strict=True)
            if term in self._frequency
        }
        scores = {
            at: float(sum(weight * weights[term] for term, weight in asked.items() if term in weights))
            for at, weights in enumerate(self._sparse)
            if not asked.keys().isdisjoint(weights)
        }
        return self._best(scores, within, limit)

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

    def _idf(self, term: int) -> float:
        having = self._frequency[term]
        return math.log(1 + (self._with_terms - having + 0.5) / (having + 0.5))

    def _best(self, scores: dict[int, float], within: Filter, limit: int) -> list[Hit]:
        hits = [
            Hit(block_id=point.block_id, doc_id=point.doc_id, index=point.index, score=score)
            for point, score in ((self._points[at], score) for at, score in scores.items())
            if _admits(within, point)
        ]
        return sorted(hits, key=by_rank)[: max(limit, 0)]


def _admits(within: Filter, point: Point) -> bool:
    in_scope = within.doc_ids is None or point.doc_id in within.doc_ids
    readable = within.access is None or not (within.access | {EVERYONE}).isdisjoint(point.access)
    return in_scope and readable


def _unit(vector: Dense) -> Dense:
    norm = float(np.linalg.norm(vector))
    return vector if norm == 0 else (vector / np.float32(norm)).astype(np.float32)
