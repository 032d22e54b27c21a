"""Points to fill collections with, and the one-line building of a collection."""

import secrets
from collections.abc import Sequence

import numpy as np

from shared.access import index_labels
from shared.ids import DocId, block_id
from shared.text.terms import passage_terms
from shared.vectors.port import Collection, Dense, Filter, Point, Sparse, Vectors

EVERYTHING = Filter()
NO_TERMS = Sparse(indices=(), values=())


def vector(*numbers: float) -> Dense:
    return np.asarray(numbers, dtype=np.float32)


def sparse(**weights: float) -> Sparse:
    """sparse(t7=1.5): term 7 with weight 1.5."""
    pairs = sorted((int(name.removeprefix("t")), weight) for name, weight in weights.items())
    return Sparse(indices=tuple(term for term, _ in pairs), values=tuple(weight for _, weight in pairs))


def a_point(
    doc: str = "aaaaaaaa",
    index: int = 0,
    *,
    dense: Dense | None = None,
    terms: Sparse = NO_TERMS,
    labels: tuple[str, ...] = (),
    text: str | None = None,
) -> Point:
    return Point(
        block_id=block_id(DocId(doc), 1, index),
        doc_id=DocId(doc),
        index=index,
        access=index_labels(labels),
        dense=vector(1, 0, 0) if dense is None else dense,
        sparse=terms if text is None else passage_terms(text),
    )


def a_name() -> str:
    return f"test-{secrets.token_hex(6)}"


def sealed(vectors: Vectors, points: Sequence[Point], *, name: str | None = None, dimensions: int = 3) -> Collection:
    name = name or a_name()
    builder = vectors.build(name, dimensions=dimensions)
    builder.add(points)
    return vectors.open(name, files=builder.seal())
