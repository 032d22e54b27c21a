"""How a collection is built, sealed, opened and dropped, whatever the engine."""

import pytest

from shared.errors import CiteboundError, CollectionUnavailable, Conflict, UpstreamError
from shared.vectors.port import Vectors
from tests.contract.vectors.points import EVERYTHING, a_name, a_point, sealed, sparse, vector

pytestmark = [
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning"),
    pytest.mark.filterwarnings("ignore:Local mode performs exact:UserWarning"),
]


def test_a_sealed_collection_holds_every_block_once(vectors: Vectors) -> None:
    points = [a_point("aaaaaaaa", index) for index in range(25)]
    collection = sealed(vectors, points)
    assert collection.count() == 25
    assert sorted(collection.block_ids()) == sorted(point.block_id for point in points)


def test_an_empty_collection_answers(vectors: Vectors) -> None:
    collection = sealed(vectors, [])
    assert collection.count() == 0
    assert list(collection.block_ids()) == []
    assert collection.dense(vector(1, 0, 0), within=EVERYTHING, limit=5) == []
    assert collection.sparse(sparse(t1=1.0), within=EVERYTHING, limit=5) == []


def test_adding_a_block_again_changes_neither_count_nor_scores(vectors: Vectors) -> None:
    points = [a_point("aaaaaaaa", index, terms=sparse(t1=1.0) if index else sparse(t2=1.0)) for index in range(9)]
    once = sealed(vectors, points)
    name = a_name()
    builder = vectors.build(name, dimensions=3)
    for _ in range(3):
        builder.add([*points, *points[::-1]])
    assert sorted(builder.block_ids()) == sorted(point.block_id for point in points)
    again = vectors.open(name, files=builder.seal())
    query = sparse(t1=1.0, t2=1.0)
    assert again.count() == once.count() == 9
    assert again.sparse(query, within=EVERYTHING, limit=9) == once.sparse(query, within=EVERYTHING, limit=9)


def test_what_is_not_sealed_is_invisible(vectors: Vectors) -> None:
    name = a_name()
    builder = vectors.build(name, dimensions=3)
    builder.add([a_point()])
    assert name not in vectors.names()
    with pytest.raises(CollectionUnavailable):
        vectors.open(name, files={})
    files = builder.seal()
    assert name in vectors.names()
    assert vectors.open(name, files=files).count() == 1


def test_an_abandoned_build_leaves_room_for_a_new_one(vectors: Vectors) -> None:
    name = a_name()
    builder = vectors.build(name, dimensions=3)
    builder.add([a_point("aaaaaaaa")])
    builder.abandon()
    assert name not in vectors.names()
    assert list(sealed(vectors, [a_point("bbbbbbbb")], name=name).block_ids()) == ["bbbbbbbb.v1#0"]


def test_what_was_begun_and_not_sealed_is_told_until_it_is_sealed_or_dropped(vectors: Vectors) -> None:
    sealed_one, abandoned_one = a_name(), a_name()
    first, second = vectors.build(sealed_one, dimensions=3), vectors.build(abandoned_one, dimensions=3)
    assert {sealed_one, abandoned_one} <= set(vectors.unfinished())
    first.seal()
    second.abandon()
    assert not {sealed_one, abandoned_one} & set(vectors.unfinished())


def test_a_sealed_name_is_not_built_again(vectors: Vectors) -> None:
    name = a_name()
    sealed(vectors, [a_point()], name=name)
    with pytest.raises(Conflict):
        vectors.build(name, dimensions=3)
    assert name in vectors.names()


def test_two_writers_never_mix_in_one_collection(vectors: Vectors) -> None:
    """Either the second is refused, or the first is: never both go on."""
    name = a_name()
    first = vectors.build(name, dimensions=3)
    first.add([a_point("aaaaaaaa")])
    try:
        second = vectors.build(name, dimensions=3)
    except Conflict:
        expected, files = "aaaaaaaa.v1#0", first.seal()
    else:
        second.add([a_point("bbbbbbbb")])
        expected, files = "bbbbbbbb.v1#0", second.seal()
        with pytest.raises((Conflict, UpstreamError, ValueError)):  # ValueError: qdrant-client's local mode
            first.seal()
    assert list(vectors.open(name, files=files).block_ids()) == [expected]


def test_a_dropped_collection_is_gone_and_dropping_again_is_nothing(vectors: Vectors) -> None:
    kept, name = a_name(), a_name()
    sealed(vectors, [a_point()], name=kept)
    sealed(vectors, [a_point()], name=name)
    vectors.drop(name)
    vectors.drop(name)
    assert name not in vectors.names()
    assert kept in vectors.names()
    with pytest.raises(CollectionUnavailable):
        vectors.open(name, files={})


def test_a_dropped_name_can_be_built_again(vectors: Vectors) -> None:
    name = a_name()
    sealed(vectors, [a_point("aaaaaaaa")], name=name)
    vectors.drop(name)
    assert list(sealed(vectors, [a_point("bbbbbbbb")], name=name).block_ids()) == ["bbbbbbbb.v1#0"]


def test_the_manifest_learns_which_engine_and_parameters(vectors: Vectors) -> None:
    assert "cosine" in vectors.index
    assert "float32" in vectors.index


def test_a_query_of_another_dimension_is_refused(vectors: Vectors) -> None:
    collection = sealed(vectors, [a_point()])
    with pytest.raises((CiteboundError, ValueError)):
        collection.dense(vector(1, 0), within=EVERYTHING, limit=5)


def test_what_is_sealed_and_kept_open_is_what_is_opened_later(vectors: Vectors) -> None:
    points = [a_point("aaaaaaaa", index, terms=sparse(t1=1.0 + index)) for index in range(12)]
    name = a_name()
    builder = vectors.build(name, dimensions=3)
    builder.add(points)
    files, kept = builder.seal_open()
    opened = vectors.open(name, files=files)
    for collection in (kept, opened):
        assert sorted(collection.block_ids()) == sorted(point.block_id for point in points)
    expected = opened.sparse(sparse(t1=1.0), within=EVERYTHING, limit=5)
    assert kept.sparse(sparse(t1=1.0), within=EVERYTHING, limit=5) == expected
    kept.close()
    assert vectors.open(name, files=files).sparse(sparse(t1=1.0), within=EVERYTHING, limit=5) == expected
