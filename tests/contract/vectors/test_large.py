"""A segment large enough for the engine to look through it in 8 bits gives what comparing every vector in 32 bits gives."""

from pathlib import Path

import numpy as np
import pytest

from shared.ids import DocId
from shared.vectors.edge import EdgeVectors
from shared.vectors.port import Dense, Filter
from shared.vectors.ranking import STEP
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


@pytest.mark.parametrize(("alike", "apart"), [(22_000, 0.01), (22_000, 0.03), (2_000, 0.004)])
def test_no_block_is_left_out_among_many_that_are_nearly_alike(alike: int, apart: float, tmp_path: Path) -> None:
    source = np.random.default_rng(5)
    form = _unit(source.standard_normal((1, DIMENSIONS)))
    others = source.standard_normal((len(DOCUMENTS) * EACH - alike, DIMENSIONS))
    rows = _unit(np.concatenate([form + apart * source.standard_normal((alike, DIMENSIONS)), others]))
    points = [a_point(DOCUMENTS[at // EACH], at % EACH, dense=row) for at, row in enumerate(rows)]
    collection = sealed(EdgeVectors(tmp_path / "collections"), points, name="alike", dimensions=DIMENSIONS)
    some = tuple(DocId(name) for name in DOCUMENTS[::3])
    in_some = [at for at in range(len(rows)) if DOCUMENTS[at // EACH] in some]

    for query in _unit(form + apart * source.standard_normal((8, DIMENSIONS))):
        for within, among in ((EVERYTHING, list(range(len(rows)))), (Filter(doc_ids=some), in_some)):
            hits = collection.dense(query, within=within, limit=20)
            found = [DOCUMENTS.index(hit.doc_id) * EACH + hit.index for hit in hits]
            assert set(found) <= set(among)
            assert len(set(found)) == 20
            best = np.sort(rows[among] @ query)[::-1][:20]
            assert np.allclose(np.sort(rows[found] @ query)[::-1], best, rtol=0, atol=2 * STEP)
    collection.close()


def _best(rows: Dense, query: Dense, within: "range | list[int]", limit: int) -> list[tuple[str, int]]:
    scores = np.round(rows[within] @ query / STEP)  # equal vectors are equal, whatever the order of adding up
    order = sorted(range(len(within)), key=lambda place: (-scores[place], within[place]))[:limit]
    return [(DOCUMENTS[within[place] // EACH], within[place] % EACH) for place in order]


def _unit(rows: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> Dense:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
