"""Thousands of blocks that score the same, as uniform rows do: the first in order, and no look at the engine that takes long."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from shared.ids import DocId
from shared.vectors.edge import EdgeVectors
from shared.vectors.memory import MemoryVectors
from shared.vectors.port import Collection, Dense, Filter, Hit, Point, Sparse, TakesLonger
from tests.contract.vectors.points import EVERYTHING, a_point, sealed, sparse

DIMENSIONS = 16
DOCUMENTS = [f"row{number:05d}" for number in range(14)]
EACH = 500
ROW = np.random.default_rng(3).standard_normal(DIMENSIONS).astype(np.float32)
ASKED = sparse(t1=1.0)
SCOPES = {
    "everything": EVERYTHING,
    "labels": Filter(access=frozenset({"仓库"})),
    "closed": Filter(without=(DocId(DOCUMENTS[0]), DocId(DOCUMENTS[1]))),
    "documents": Filter(doc_ids=tuple(DocId(doc) for doc in DOCUMENTS[1:])),
}
Branch = Callable[[Collection, Filter, bool], list[Hit]]


def by_meaning(collection: Collection, within: Filter, briefly: bool) -> list[Hit]:
    return collection.dense(ROW, within=within, limit=50, briefly=briefly)


def by_keywords(collection: Collection, within: Filter, briefly: bool) -> list[Hit]:
    return collection.sparse(ASKED, within=within, limit=50, briefly=briefly)


@pytest.fixture(scope="module")
def rows() -> list[Point]:
    """Some better ones, and from the last document to the first nothing but equals; each has neighbours without the word."""
    better, other = ROW + 0.01, -ROW
    points = [_row(doc, at, ROW, ASKED) for doc in reversed(DOCUMENTS) for at in range(EACH)]
    points += [_row(DOCUMENTS[7], EACH + at, better, sparse(t1=2.0)) for at in range(3)]
    return points + [_row(doc, EACH + 9, other, sparse(t2=1.0)) for doc in DOCUMENTS]


def _row(doc: str, index: int, dense: Dense, terms: Sparse) -> Point:
    return a_point(doc, index, dense=dense, terms=terms, labels=() if doc in DOCUMENTS[3:] else ("财务",))


@pytest.fixture(scope="module")
def reference(rows: list[Point]) -> Collection:
    return sealed(MemoryVectors(), rows, dimensions=DIMENSIONS)


@pytest.fixture(scope="module")
def embedded(rows: list[Point], tmp_path_factory: pytest.TempPathFactory) -> Collection:
    folder: Path = tmp_path_factory.mktemp("collections")
    return sealed(EdgeVectors(folder), rows, dimensions=DIMENSIONS)


@pytest.mark.parametrize("within", SCOPES.values(), ids=SCOPES)
@pytest.mark.parametrize("branch", [by_meaning, by_keywords])
def test_the_first_of_thousands_of_equals_are_those_of_the_reference(
    branch: Branch, within: Filter, reference: Collection, embedded: Collection
) -> None:
    found = branch(embedded, within, False)
    assert _places(found) == _places(branch(reference, within, False))
    assert len(found) == 50
    with pytest.raises(TakesLonger):
        branch(embedded, within, True)


@pytest.mark.parametrize("branch", [by_meaning, by_keywords])
def test_what_one_look_decides_is_the_same_when_it_is_asked_briefly(branch: Branch, embedded: Collection) -> None:
    few = Filter(doc_ids=(DocId("nothing1"),))
    assert branch(embedded, few, True) == branch(embedded, few, False) == []
    [nearest] = embedded.dense(ROW + 0.01, within=EVERYTHING, limit=1, briefly=True)
    [wordiest] = embedded.sparse(ASKED, within=EVERYTHING, limit=1, briefly=True)
    assert (nearest.index, wordiest.index) == (EACH, EACH)


def _places(hits: list[Hit]) -> list[tuple[str, int]]:
    return [(hit.doc_id, hit.index) for hit in hits]
