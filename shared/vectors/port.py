"""What the product needs of a vector engine: build a collection, seal it, query it, drop it.

A collection is named after its snapshot and never written again once sealed.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from shared.ids import BlockId, DocId

Dense = npt.NDArray[np.float32]


class Sparse(Struct, frozen=True, kw_only=True):
    """Term ids (unsigned 32 bit, ascending, unique) and weights > 0; the collection multiplies by IDF."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


class Point(Struct, frozen=True, kw_only=True):
    block_id: BlockId
    doc_id: DocId
    index: int  # block index inside the document
    access: tuple[str, ...]  # shared.access.index_labels
    dense: Dense  # shape (dimensions,)
    sparse: Sparse


class Base(Struct, frozen=True, kw_only=True):
    """A sealed collection to begin with."""

    name: str
    files: dict[str, str]  # as seal() returned them


class Filter(Struct, frozen=True, kw_only=True):
    """All parts hold (and); None = no restriction. Applied inside the engine before candidates are picked."""

    doc_ids: tuple[DocId, ...] | None = None
    access: frozenset[str] | None = None  # the caller's labels; EVERYONE is added by the adapter
    without: tuple[DocId, ...] = ()  # closed to the caller since the collection was made


class Hit(Struct, frozen=True, kw_only=True):
    block_id: BlockId
    doc_id: DocId
    index: int
    score: float  # raw, higher is better


class TakesLonger(Exception):
    """One look doesn't decide a search that was asked `briefly`, e.g. because more blocks score the same than it fetched."""


class Collection(Protocol):
    """A sealed collection, open for reading. Safe to use from several threads.

    Hits come by score desc, doc_id, index: stable whatever the order of insertion (adapters over-fetch at ties).
    briefly: the same hits after one look at the engine, or TakesLonger. No engine call keeps the interpreter's lock for more than some ms.
    Raises: CollectionUnavailable, UpstreamError.
    """

    @property
    def is_remote(self) -> bool: ...  # its calls wait for others; else they compute, and keep the interpreter's lock
    def dense(self, query: Dense, *, within: Filter, limit: int, briefly: bool = False) -> list[Hit]: ...
    def sparse(self, query: Sparse, *, within: Filter, limit: int, briefly: bool = False) -> list[Hit]: ...
    def asked(
        self, query: Sparse
    ) -> float: ...  # the sum of the query's weights times IDF, terms that no point has included
    def count(self) -> int: ...
    def block_ids(self) -> Iterable[BlockId]: ...  # every point once, any order
    def dense_of(self, block_ids: Sequence[BlockId]) -> dict[BlockId, Dense]: ...  # stored vectors (cosine-normalised)
    def close(self) -> None: ...


class Builder(Protocol):
    """A collection under construction, invisible to readers until sealed. One writer."""

    @property
    def based_on(self) -> str | None: ...  # the collection whose points it began with; None = it began empty

    def add(self, points: Sequence[Point]) -> None:
        """A block that is there already is left alone."""
        ...

    def remove(self, block_ids: Sequence[BlockId]) -> None:
        """Nothing happens to one that isn't there. Sealed, it makes no difference that it ever was."""
        ...

    def block_ids(self) -> Iterable[BlockId]: ...  # every point once, any order
    def seal(self) -> dict[str, str]:
        """Optimise, flush, fsync and make readable under its name. Returns relative path -> sha256 of files that never change again ({} for a server)."""
        ...

    def seal_open(self) -> tuple[dict[str, str], Collection]:
        """`seal`, and the collection as it was sealed: for the checks of whoever made it, who needn't read every file once more."""
        ...

    def abandon(self) -> None:
        """Close without sealing; what was added may be thrown away."""
        ...


class Vectors(Protocol):
    @property
    def index(self) -> str: ...  # adapter and parameters, for the manifest

    def build(self, name: str, *, dimensions: int, base: Base | None = None) -> Builder:
        """Start (or start afresh) a collection, with the points of `base` where the adapter can (see Builder.based_on), else empty.

        Hits, scores and their order depend on the points that are there when it is sealed, and on nothing before that.
        Raises: Conflict if a sealed one has that name; CollectionUnavailable if `base` isn't what it was when it was sealed.
        """
        ...

    def open(self, name: str, *, files: dict[str, str]) -> Collection:
        """`files` as seal() returned them; a missing or changed one raises CollectionUnavailable naming it."""
        ...

    def names(self) -> list[str]: ...  # sealed collections
    def unfinished(self) -> list[str]:
        """Begun and not sealed, or half removed; by somebody still at work on it, or by a process that is gone."""
        ...

    def drop(self, name: str) -> None: ...  # sealed or not; nothing happens if absent
