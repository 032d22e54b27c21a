"""A segment large enough for the engine to look through it in 8 bits gives what comparing every vector in 32 bits gives."""

from pathlib import Path

import numpy as np

from shared.ids import DocId
from shared.vectors.edge import EdgeVectors
from shared.vectors.port import Dense, Filter
from tests.contract.vectors.points import EVERYTHING, a_point, sealed, sparse

DIMENSIONS = 384
DOCUMENTS = [f"doc{number:05d}" for number in range(440)]
EACH = 50  # 34 MB: more than the engine leaves unquantised


def test_order_and_scores_are_those_of_the_numbers_given(tmp_path: Path) -> None:
    source = np.random.default_rng(11)
    topics = source.standard_normal((20, DIMENSIONS))
    rows = _unit(
        topics[source.integers(20, size=len(DOCUMENTS) * EACH)]
        + source.standard_normal((len(DOCUMENTS) * EACH, DIMENSIONS))
    )
    rows[5_000:5_300] = rows[4_999]  # a paragraph that stands in many places
    points = [a_point(DOCUMENTS[at // EACH], at % EACH, dense=row, terms=sparse(t1=1.0)) for at, row in enumerate(rows)]
    folder = tmp_path / "collections"
    collection = sealed(EdgeVectors(folder), points, name="large", dimensions=DIMENSIONS)
    some = [DocId(name) for name in DOCUMENTS[::3]]  # so many that the best of all are looked at first

    assert list(folder.rglob("*quantized*")), "nothing was put into 8 bits: the test has to be larger"
    for query in (*_unit(topics[:6] + source.standard_normal((6, DIMENSIONS))), rows[4_999]):
        for limit in (5, 20):
            hits = collection.dense(query, within=EVERYTHING, limit=limit)
            assert [(hit.doc_id, hit.index) for hit in hits] == _best(rows, query, range(len(rows)), limit)
        within = [at for at in range(len(rows)) if DocId(DOCUMENTS[at // EACH]) in some]
        hits = collection.dense(query, within=Filter(doc_ids=tuple(some)), limit=20)
        assert [(hit.doc_id, hit.index) for hit in hits] == _best(rows, query, within, 20)
        assert np.allclose([hit.score for hit in hits], sorted(rows[within] @ query)[::-1][:20], atol=1e-5)
    collection.close()


def _best(rows: Dense, query: Dense, within: "range | list[int]", limit: int) -> list[tuple[str, int]]:
    scores = np.round(rows[within] @ query, 6)  # equal vectors are equal, whatever the order of adding up
    order = sorted(range(len(within)), key=lambda place: (-scores[place], within[place]))[:limit]
    return [(DOCUMENTS[within[place] // EACH], within[place] % EACH) for place in order]


def _unit(rows: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> Dense:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
