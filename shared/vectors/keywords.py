"""What a keyword score is made of: weights in fixed point, and how many points have each term.

score = sum over common terms of (weight in the passage) x (weight in the query x IDF), as BM25 has it. Our own IDF, because the engines'
counts points that were deleted until they are vacuumed away. Fixed point, because engines add up in an order of their own: with passage
weights in steps of 1/256 and query weights in steps of 1/64 every sum below 1,024 is exact in 32 bits, so that equal points have equal
scores, however and in whatever order a collection came to be. On the public question sets the rounding moved nothing (decision 0017).
"""

import math
from array import array
from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Struct

from shared.vectors.port import Sparse

PASSAGE_STEPS = 256
QUERY_STEPS = 64
_PENDING = 4_000_000  # term ids that wait to be counted: 16 MB, some 100 MB while they are sorted
_STORED = np.dtype("<u4")


class _Stored(Struct, frozen=True, kw_only=True):
    format: int = 1
    points: int
    terms: bytes  # little-endian unsigned 32 bit, ascending
    counts: bytes  # the same, one for each term


class Frequencies(Struct, frozen=True, kw_only=True):
    """Of a finished collection."""

    points: int  # those that have any term
    terms: npt.NDArray[np.uint32]  # ascending, unique
    counts: npt.NDArray[np.int64]  # points that have the term, one for each term

    def of(self, terms: Sequence[int]) -> list[int]:
        """How many points have each of them."""
        places = np.searchsorted(self.terms, np.array(terms, np.uint32)).tolist()
        known = len(self.terms)
        return [
            self.counts.item(at) if at < known and self.terms.item(at) == term else 0
            for term, at in zip(terms, places, strict=True)
        ]

    def weighed(self, query: Sparse) -> Sparse:
        """Those of the query's terms that any point has, each times its IDF."""
        found = [
            (term, _fixed(weight * _idf(having, points=self.points), QUERY_STEPS))
            for term, weight, having in zip(query.indices, query.values, self.of(query.indices), strict=True)
            if having
        ]
        return Sparse(indices=tuple(term for term, _ in found), values=tuple(weight for _, weight in found))

    def asked(self, query: Sparse) -> float:
        """The sum of the query's weights times IDF. A term that no point has is the rarest there is, and counts fully."""
        return math.fsum(
            _fixed(weight * _idf(having, points=self.points), QUERY_STEPS)
            for weight, having in zip(query.values, self.of(query.indices), strict=True)
        )

    def encode(self) -> bytes:
        terms, counts = self.terms.astype(_STORED).tobytes(), self.counts.astype(_STORED).tobytes()
        return msgspec.msgpack.encode(_Stored(points=self.points, terms=terms, counts=counts))


NONE = Frequencies(points=0, terms=np.empty(0, np.uint32), counts=np.empty(0, np.int64))


def decode(stored: bytes) -> Frequencies:
    """Raises: msgspec.MsgspecError for what `encode` didn't make."""
    made = msgspec.msgpack.decode(stored, type=_Stored)
    return Frequencies(
        points=made.points,
        terms=np.frombuffer(made.terms, _STORED).astype(np.uint32),
        counts=np.frombuffer(made.counts, _STORED).astype(np.int64),
    )


class Tally:
    """Counts while points come and go. Memory grows with the number of different terms, not with the number of points."""

    def __init__(self, begin: Frequencies = NONE) -> None:
        self._settled = begin
        self._come, self._gone = array("I"), array("I")
        self._points = begin.points

    def add(self, sparse: Sparse) -> None:
        self._come.extend(sparse.indices)
        self._points += bool(sparse.indices)
        self._settle_many()

    def remove(self, indices: Sequence[int]) -> None:
        """The terms of a point that was added before."""
        self._gone.extend(indices)
        self._points -= bool(indices)
        self._settle_many()

    def frequencies(self) -> Frequencies:
        come, came = np.unique(np.frombuffer(self._come, np.uint32), return_counts=True)
        gone, went = np.unique(np.frombuffer(self._gone, np.uint32), return_counts=True)
        terms, places = np.unique(np.concatenate([self._settled.terms, come, gone]), return_inverse=True)
        changes = np.concatenate([self._settled.counts, came, -went])
        counts = np.bincount(places, weights=changes, minlength=len(terms)).astype(np.int64)
        return Frequencies(points=self._points, terms=terms[counts > 0], counts=counts[counts > 0])

    def _settle_many(self) -> None:
        if len(self._come) + len(self._gone) > _PENDING:
            self._settled = self.frequencies()
            self._come, self._gone = array("I"), array("I")


def stored(sparse: Sparse) -> Sparse:
    """A passage's weights as engines get them."""
    steps = np.maximum(np.rint(np.asarray(sparse.values, np.float64) * PASSAGE_STEPS), 1.0)
    return Sparse(indices=sparse.indices, values=tuple((steps / PASSAGE_STEPS).tolist()))


def _idf(having: int, *, points: int) -> float:
    return math.log(1 + (points - having + 0.5) / (having + 0.5))


def _fixed(weight: float, steps: int) -> float:
    """weight: > 0, and it stays so: engines differ about points that score nothing."""
    return max(round(weight * steps), 1) / steps
