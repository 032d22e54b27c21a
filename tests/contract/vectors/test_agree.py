"""The adapters give the same hits in the same order for the same random library."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.ids import DocId
from shared.vectors.memory import MemoryVectors
from shared.vectors.port import Dense, Filter, Hit, Point, Sparse, Vectors
from tests.contract.vectors.points import NO_TERMS, a_point, sealed, sparse, vector

pytestmark = [
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning"),
    pytest.mark.filterwarnings("ignore:Local mode performs exact:UserWarning"),
]

# Cosines that are equal on paper alone may differ in the last bit from engine to engine; keyword scores may not.
DENSE = [vector(0.31, 0.95, -0.2), vector(-0.6, 0.17, 0.78), vector(0.87, -0.44, 0.21), vector(0.05, 0.5, 0.86)]
SPARSE = [
    NO_TERMS,
    sparse(t1=1.13),
    sparse(t1=0.71, t2=1.91),
    sparse(t2=0.83, t3=1.37, t4000000000=0.59),
    sparse(t3=1.77, t5=0.47),
]
DOCS = ["aaaaaaaa", "bbbbbbbb", "2ccccccc", "zzzzzzzz"]


def a_block(doc: str, index: int, dense: Dense, terms: Sparse, labels: tuple[str, ...]) -> Point:
    return a_point(doc, index, dense=dense, terms=terms, labels=labels)


def a_filter(docs: list[str] | None, access: frozenset[str] | None, without: list[str]) -> Filter:
    return Filter(
        doc_ids=None if docs is None else tuple(map(DocId, docs)), access=access, without=tuple(map(DocId, without))
    )


labels = st.sampled_from([(), ("人事",), ("财务",), ("人事", "财务")])
blocks = st.builds(
    a_block, st.sampled_from(DOCS), st.integers(0, 12), st.sampled_from(DENSE), st.sampled_from(SPARSE), labels
)
libraries = st.lists(blocks, max_size=25, unique_by=lambda point: point.block_id)
scopes = st.none() | st.lists(st.sampled_from(DOCS), unique=True)
filters = st.builds(
    a_filter,
    scopes,
    st.none() | st.frozensets(st.sampled_from(["人事", "财务", "研发"])),
    st.lists(st.sampled_from(DOCS), unique=True, max_size=2),
)


def answers(
    vectors: Vectors, library: list[Point], within: Filter, limit: int
) -> tuple[list[list[Hit]], list[list[Hit]]]:
    collection = sealed(vectors, library)
    dense = [collection.dense(query, within=within, limit=limit) for query in (DENSE[0], vector(0.4, 0.3, 0.2))]
    keyword = [collection.sparse(query, within=within, limit=limit) for query in (SPARSE[3], SPARSE[4])]
    return dense, keyword


@settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(library=libraries, within=filters, limit=st.integers(1, 26))
def test_every_adapter_answers_like_the_one_in_memory(
    vectors: Vectors, library: list[Point], within: Filter, limit: int
) -> None:
    expected_dense, expected_keyword = answers(MemoryVectors(), library, within, limit)
    dense, keyword = answers(vectors, library[::-1], within, limit)
    assert keyword == expected_keyword
    for one, another in zip(expected_dense, dense, strict=True):
        assert [hit.block_id for hit in another] == [hit.block_id for hit in one]
        assert [hit.score for hit in another] == pytest.approx([hit.score for hit in one], abs=2e-6)
