import uuid
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.ids import BlockId, DocId, block_id
from shared.vectors.point_ids import pack, unpack
from shared.vectors.port import TakesLonger
from shared.vectors.ranking import STEP, Found, by_rank, out_of, top

docs = st.text("abcdefghijklmnopqrstuvwxyz234567", min_size=8, max_size=8).map(DocId)
in_one_snapshot = st.builds(block_id, docs, st.just(1), st.integers(0, 50))  # one version per document
PLACES = [pack(block_id(DocId("aaaaaaaa"), 1, at)) for at in range(6_100)]
blocks = st.builds(block_id, docs, st.integers(1, 2**32 - 1), st.integers(0, 2**32 - 1))


@given(blocks)
def test_a_packed_block_id_comes_back_whole(block: BlockId) -> None:
    doc, _, rest = block.partition(".v")
    assert unpack(pack(block)) == (block, doc, int(rest.partition("#")[2]))


@given(st.lists(st.tuples(docs, st.integers(0, 2**32 - 1)), max_size=20))
def test_packed_ids_sort_like_document_and_index(places: list[tuple[DocId, int]]) -> None:
    packed = [pack(block_id(doc, 1, index)) for doc, index in places]
    assert [unpack(one)[1:] for one in sorted(packed)] == sorted(places)


@pytest.mark.parametrize(
    "text", ["", "aaaaaaaa", "aaaaaaaaa.v1#0", ".v1#0", "aaaaaaaa.v1#-1", "aaaaaaaa.v#", "文.v1#0"]
)
def test_what_is_no_block_id_is_refused(text: str) -> None:
    with pytest.raises((ValueError, OverflowError)):
        pack(BlockId(text))


@given(
    st.lists(st.tuples(st.sampled_from([0.5, 0.25, 0.125]), in_one_snapshot.map(pack)), max_size=120),
    st.integers(0, 130),
    st.randoms(),
)
def test_the_first_hits_do_not_depend_on_how_the_engine_orders_equal_scores(
    library: list[Found], limit: int, random: Random
) -> None:
    shuffled = sorted(random.sample(library, len(library)), key=lambda found: -found[0])
    asked: list[int] = []

    def engine(count: int) -> list[tuple[float, uuid.UUID]]:
        asked.append(count)
        return shuffled[:count]

    expected = sorted(top(lambda count: library if count else [], 10_000), key=by_rank)[:limit]
    assert top(engine, limit) == expected
    assert len(asked) <= 3


@given(
    st.lists(st.sampled_from([(0.75, 3), (0.5, 40), (0.25, 6_000)]), max_size=4, unique=True),
    st.sampled_from([1, 50, 700]),
    st.integers(0, 2**32).map(Random),
)
@settings(max_examples=12)
def test_thousands_of_equals_are_looked_through_in_order_and_no_further_than_needed(
    groups: list[tuple[float, int]], limit: int, random: Random
) -> None:
    scores = [score for score, count in groups for _ in range(count)]
    random.shuffle(scores)
    library = list(zip(scores, PLACES, strict=False))
    ranked = sorted(library, key=lambda found: (-found[0], random.random()))
    asked: list[int] = []
    pages: list[int] = []

    def engine(count: int) -> list[Found]:
        asked.append(count)
        return ranked[:count]

    def in_order() -> Iterator[list[Found]]:
        for at in range(0, len(library), 1_000):
            pages.append(at)
            yield sorted(library[at : at + 1_000], reverse=True)

    expected = sorted(library, key=lambda found: (-found[0], found[1]))[:limit]
    assert [(hit.score, hit.index) for hit in top(engine, limit, in_order=in_order())] == [
        (score, unpack(packed)[2]) for score, packed in expected
    ]
    assert max(asked) <= 5_000
    assert not pages or pages[-1] <= max(unpack(packed)[2] for _, packed in expected)


def test_what_must_be_decided_briefly_is_or_is_said_to_take_longer() -> None:
    found = [(0.5, pack(block_id(DocId("aaaaaaaa"), 1, at))) for at in range(99)]

    assert [hit.index for hit in top(lambda count: found[:5][:count], 2, briefly=True)] == [0, 1]
    with pytest.raises(TakesLonger):
        top(lambda count: found[:count], 2, briefly=True)


def test_the_best_of_all_say_which_are_the_best_of_some_documents_unless_others_may_come_before() -> None:
    scores = {
        ("aaaaaaaa", 0): 9.0,
        ("bbbbbbbb", 0): 8.0,
        ("aaaaaaaa", 1): 7.0,
        ("bbbbbbbb", 1): 7.0,
        ("aaaaaaaa", 2): 6.0,
    }
    found = [(score, pack(block_id(DocId(doc), 1, index))) for (doc, index), score in scores.items()]
    only_b = frozenset({DocId("bbbbbbbb")})

    def first(limit: int, *, asked: int) -> list[tuple[str, int]] | None:
        hits = out_of(found[:asked], limit, asked=asked, doc_ids=only_b)
        return None if hits is None else [(hit.doc_id, hit.index) for hit in hits]

    assert first(1, asked=3) == [("bbbbbbbb", 0)]
    assert first(2, asked=3) is None  # too few of them
    assert first(2, asked=4) is None  # another with the same score may follow
    assert first(2, asked=5) == [("bbbbbbbb", 0), ("bbbbbbbb", 1)]
    assert first(3, asked=6) == [("bbbbbbbb", 0), ("bbbbbbbb", 1)]  # there were no more than five


def test_scores_that_differ_by_a_processors_last_bits_only_are_equal_before_the_list_is_cut() -> None:
    last_bit = STEP / 16
    scores = {"cccccccc": 0.75, "bbbbbbbb": 0.5 + last_bit, "aaaaaaaa": 0.5, "dddddddd": 0.5 - last_bit}
    found = [(score, pack(block_id(DocId(doc), 1, 0))) for doc, score in scores.items()]

    assert [(hit.doc_id, hit.score) for hit in top(lambda count: found[:count], 2)] == [
        ("cccccccc", 0.75),
        ("aaaaaaaa", 0.5),
    ]
    assert out_of(found[:3], 2, asked=3) is None  # the fourth is equal to the second


def test_what_was_chosen_by_blurred_scores_holds_only_where_none_that_was_left_out_can_be_as_good() -> None:
    found = [(score, pack(block_id(DocId("aaaaaaaa"), 1, at))) for at, score in enumerate((0.75, 0.5, 0.25))]

    assert [hit.index for hit in out_of(found, 2, asked=3, blur=0.125) or ()] == [0, 1]
    assert out_of(found, 2, asked=3, blur=0.25) is None
    assert [hit.index for hit in out_of(found, 2, asked=4, blur=0.25) or ()] == [0, 1]  # there are no more
