"""A collection that begins with another one answers as if it had been built from nothing: same hits, same scores, same order."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from shared.errors import CollectionUnavailable
from shared.ids import BlockId, DocId, block_id
from shared.vectors.memory import MemoryVectors
from shared.vectors.port import Base, Collection, Filter, Hit, Point, Sparse, Vectors
from tests.contract.vectors.points import EVERYTHING, NO_TERMS, a_name, a_point, sealed, sparse, vector

pytestmark = [
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning"),
    pytest.mark.filterwarnings("ignore:Local mode performs exact:UserWarning"),
]

DOCS = ["aaaaaaaa", "bbbbbbbb", "2ccccccc"]
VECTORS = [vector(0.31, 0.95, -0.2), vector(-0.6, 0.17, 0.78), vector(0.87, -0.44, 0.21), vector(0.31, 0.95, -0.21)]
TERMS = range(1, 12)


def a_block(doc: str, version: int, index: int, near: int, terms: dict[int, float], labels: tuple[str, ...]) -> Point:
    made = a_point(doc, index, dense=VECTORS[near], terms=terms_of(terms), labels=labels)
    return replace(made, block_id=block_id(DocId(doc), version, index))


def content(point: Point) -> tuple[object, ...]:
    """Comparable, which a Point with its array is not."""
    return (point.block_id, point.access, point.sparse, point.dense.tobytes())


def terms_of(weights: dict[int, float]) -> Sparse:
    ids = sorted(weights)
    return Sparse(indices=tuple(ids), values=tuple(weights[term] for term in ids))


blocks = st.builds(
    a_block,
    st.sampled_from(DOCS),
    st.integers(1, 2),
    st.integers(0, 9),
    st.integers(0, 3),
    st.dictionaries(st.sampled_from(TERMS), st.floats(0.1, 2.2), max_size=6),
    st.sampled_from([(), ("人事",), ("财务",)]),
)
libraries = st.lists(blocks, max_size=30, unique_by=lambda point: point.block_id)
questions = st.dictionaries(st.sampled_from(TERMS), st.floats(0.5, 3.0), min_size=1, max_size=6).map(terms_of)


def changed(vectors: Vectors, before: Sequence[Point], after: Sequence[Point]) -> Collection:
    """`after`, made of the sealed `before` by taking out and adding what differs."""
    old, new = a_name(), a_name()
    building = vectors.build(old, dimensions=3)
    building.add(before)
    files = building.seal()
    builder = vectors.build(new, dimensions=3, base=Base(name=old, files=files))
    there = {content(point) for point in before} if builder.based_on == old else set[tuple[object, ...]]()
    wanted = {content(point) for point in after}
    builder.remove([point.block_id for point in before if content(point) in there - wanted])
    builder.add([point for point in after if content(point) not in there])
    return vectors.open(new, files=builder.seal())


def answers(collection: Collection, question: Sparse, limit: int) -> list[list[Hit]]:
    scopes = (EVERYTHING, Filter(doc_ids=(DocId("bbbbbbbb"),)), Filter(access=frozenset({"人事"})))
    found = [collection.sparse(question, within=within, limit=limit) for within in scopes]
    return found + [collection.dense(vector(0.4, 0.3, 0.2), within=within, limit=limit) for within in scopes]


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(before=libraries, more=libraries, kept=st.integers(0, 30), question=questions, limit=st.integers(1, 40))
def test_a_changed_collection_is_the_one_that_would_be_built_from_nothing(
    vectors: Vectors, before: list[Point], more: list[Point], kept: int, question: Sparse, limit: int
) -> None:
    after = list({point.block_id: point for point in (*before[:kept], *more)}.values())
    delta, fresh = changed(vectors, before, after), sealed(vectors, sorted(after, key=lambda point: point.block_id))
    assert sorted(delta.block_ids()) == sorted(fresh.block_ids()) == sorted(point.block_id for point in after)
    assert delta.count() == fresh.count()
    assert answers(delta, question, limit) == answers(fresh, question, limit)
    reference = sealed(MemoryVectors(), after)
    assert delta.sparse(question, within=EVERYTHING, limit=limit) == reference.sparse(
        question, within=EVERYTHING, limit=limit
    )


def test_a_block_with_other_labels_is_taken_out_and_put_in_again(vectors: Vectors) -> None:
    secret = a_point("aaaaaaaa", 0, terms=sparse(t1=1.0), labels=("财务",))
    collection = changed(
        vectors,
        [secret, a_point("bbbbbbbb", 0)],
        [a_point("aaaaaaaa", 0, terms=sparse(t1=1.0)), a_point("bbbbbbbb", 0)],
    )
    assert [hit.doc_id for hit in collection.sparse(sparse(t1=1.0), within=Filter(access=frozenset()), limit=5)] == [
        "aaaaaaaa"
    ]
    assert collection.count() == 2


def test_the_base_stays_as_it_was(vectors: Vectors) -> None:
    points = [a_point("aaaaaaaa", index, terms=sparse(t1=1.0)) for index in range(20)]
    name = a_name()
    building = vectors.build(name, dimensions=3)
    building.add(points)
    files = building.seal()
    opened = vectors.open(name, files=files)
    before = opened.sparse(sparse(t1=1.0), within=EVERYTHING, limit=30)
    builder = vectors.build(a_name(), dimensions=3, base=Base(name=name, files=files))
    builder.remove([point.block_id for point in points[:15]])
    builder.add([a_point("bbbbbbbb", index, terms=sparse(t1=2.0)) for index in range(50)])
    builder.seal()
    for collection in (opened, vectors.open(name, files=files)):
        assert collection.sparse(sparse(t1=1.0), within=EVERYTHING, limit=30) == before


def test_taking_out_what_is_not_there_and_adding_what_is_change_nothing(vectors: Vectors) -> None:
    points = [a_point("aaaaaaaa", index, terms=sparse(t1=1.0)) for index in range(3)]
    builder = vectors.build(name := a_name(), dimensions=3)
    builder.add(points)
    builder.remove([BlockId("zzzzzzzz.v1#0"), BlockId("aaaaaaaa.v2#0")])
    builder.add([a_point("aaaaaaaa", 1, terms=sparse(t9=1.0))])
    builder.remove([])
    assert sorted(builder.block_ids()) == sorted(point.block_id for point in points)
    collection = vectors.open(name, files=builder.seal())
    query = sparse(t1=1.0, t9=1.0)
    assert collection.sparse(query, within=EVERYTHING, limit=9) == sealed(vectors, points).sparse(
        query, within=EVERYTHING, limit=9
    )


def test_blocks_without_a_term_come_and_go(vectors: Vectors) -> None:
    empty, one = a_point("aaaaaaaa", 0, terms=NO_TERMS), a_point("bbbbbbbb", 0, terms=sparse(t1=1.0))
    assert changed(vectors, [empty, one], [one]).sparse(sparse(t1=1.0), within=EVERYTHING, limit=5) == sealed(
        vectors, [one]
    ).sparse(sparse(t1=1.0), within=EVERYTHING, limit=5)


@pytest.mark.parametrize("gone", [True, False])
def test_a_base_that_is_not_there_is_said_and_leaves_room_for_a_build_from_nothing(
    vectors: Vectors, gone: bool
) -> None:
    base = Base(name=a_name(), files={"segments/x": "0" * 64})
    if gone:
        vectors.drop(base.name)
    name = a_name()
    try:
        assert vectors.build(name, dimensions=3, base=base).based_on is None
    except CollectionUnavailable:
        assert sealed(vectors, [a_point()], name=name).count() == 1


def test_eight_generations_of_changes_leave_no_trace(vectors: Vectors) -> None:
    random = np.random.default_rng(3)
    name, files = a_name(), dict[str, str]()
    points = {index: a_point("aaaaaaaa", index, terms=sparse(t1=1.0)) for index in range(30)}
    builder = vectors.build(name, dimensions=3)
    builder.add(list(points.values()))
    files = builder.seal()
    for _ in range(8):
        base = Base(name=name, files=files)
        builder = vectors.build(name := a_name(), dimensions=3, base=base)
        there = builder.based_on is not None
        leaving = [int(index) for index in random.choice(sorted(points), size=10, replace=False)]
        builder.remove([points.pop(index).block_id for index in leaving] if there else [])
        coming = {
            index: a_point("aaaaaaaa", index, terms=terms_of({1: 1.0, int(random.integers(2, 9)): 0.7}))
            for index in leaving
        }
        for index in leaving:
            points.pop(index, None)
        points |= coming
        builder.add(list(coming.values() if there else points.values()))
        files = builder.seal()
    query = sparse(t1=1.0, t4=2.0, t5=0.3)
    found = vectors.open(name, files=files).sparse(query, within=EVERYTHING, limit=40)
    assert found == sealed(vectors, list(points.values())).sparse(query, within=EVERYTHING, limit=40)
