import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.retrieval.fusion import HYBRID_RRF_V1, Fused, Profile, fuse, fuse_scores, keyword_share
from shared.ids import BlockId, DocId
from shared.vectors.port import Hit


def a_hit(block_id: str, score: float = 1.0) -> Hit:
    doc_id, _, rest = block_id.partition(".")
    return Hit(block_id=BlockId(block_id), doc_id=DocId(doc_id), index=int(rest.rpartition("#")[2]), score=score)


def test_the_profile_has_the_numbers_of_the_specification() -> None:
    assert Profile(name="hybrid-rrf-v1", dense=20, keyword=20, k=60, top=5) == HYBRID_RRF_V1


def test_ranks_count_from_one() -> None:
    fused = fuse(([a_hit("aaaaaaaa.v1#0")], []), k=60)

    assert fused == [
        Fused(block_id=BlockId("aaaaaaaa.v1#0"), doc_id=DocId("aaaaaaaa"), index=0, score=1 / 61, ranks=(1, None))
    ]


def test_a_block_in_both_branches_stands_before_the_first_of_one() -> None:
    dense = [a_hit("aaaaaaaa.v1#0"), a_hit("bbbbbbbb.v1#0")]
    keyword = [a_hit("cccccccc.v1#0"), a_hit("bbbbbbbb.v1#0")]

    assert [(one.block_id, one.ranks) for one in fuse((dense, keyword), k=60)] == [
        ("bbbbbbbb.v1#0", (2, 2)),
        ("aaaaaaaa.v1#0", (1, None)),
        ("cccccccc.v1#0", (None, 1)),
    ]


def test_equal_scores_are_ordered_by_document_then_block_number_not_as_text() -> None:
    dense = [a_hit("bbbbbbbb.v1#10"), a_hit("aaaaaaaa.v1#3")]
    keyword = [a_hit("bbbbbbbb.v1#9"), a_hit("aaaaaaaa.v1#20")]

    assert [one.block_id for one in fuse((dense, keyword), k=60)] == [
        "bbbbbbbb.v1#9",
        "bbbbbbbb.v1#10",
        "aaaaaaaa.v1#3",
        "aaaaaaaa.v1#20",
    ]


def test_raw_scores_of_the_branches_do_not_matter() -> None:
    low = fuse(([a_hit("aaaaaaaa.v1#0", -3.0)], [a_hit("bbbbbbbb.v1#0", 1e9)]), k=60)
    high = fuse(([a_hit("aaaaaaaa.v1#0", 5.0)], [a_hit("bbbbbbbb.v1#0", 0.0)]), k=60)

    assert low == high


def test_by_scores_the_first_of_each_branch_is_worth_a_half_and_the_last_nothing() -> None:
    dense = [a_hit("aaaaaaaa.v1#0", 0.9), a_hit("bbbbbbbb.v1#0", 0.875), a_hit("cccccccc.v1#0", 0.8)]
    keyword = [a_hit("bbbbbbbb.v1#0", 30.0), a_hit("dddddddd.v1#0", 10.0)]

    fused = fuse_scores(dense, keyword, keyword_share=1.0)

    assert [(one.block_id, round(one.score, 3), one.ranks) for one in fused] == [
        ("bbbbbbbb.v1#0", 0.875, (2, 1)),
        ("aaaaaaaa.v1#0", 0.5, (1, None)),
        ("cccccccc.v1#0", 0.0, (3, None)),
        ("dddddddd.v1#0", 0.0, (None, 2)),
    ]


def test_a_keyword_branch_that_says_little_does_not_outvote_the_dense_one() -> None:
    dense = [a_hit("aaaaaaaa.v1#0", 0.9), a_hit("bbbbbbbb.v1#0", 0.8)]
    keyword = [a_hit("cccccccc.v1#0", 4.0), a_hit("bbbbbbbb.v1#0", 3.0)]

    fused = fuse_scores(dense, keyword, keyword_share=0.1)

    assert [(one.block_id, round(one.score, 3)) for one in fused] == [
        ("aaaaaaaa.v1#0", 0.5),
        ("cccccccc.v1#0", 0.05),
        ("bbbbbbbb.v1#0", 0.0),
    ]


@pytest.mark.parametrize(
    ("best", "asked", "share"),
    [(8.0, 10.0, 1.0), (20.0, 10.0, 1.0), (4.0, 10.0, 0.25), (0.0, 10.0, 0.0), (0.0, 0.0, 0.0)],
)
def test_the_keyword_branch_counts_fully_only_when_a_block_has_most_of_the_question(
    best: float, asked: float, share: float
) -> None:
    assert keyword_share(best, asked) == share


_branches = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 9), st.floats(-1, 1)), max_size=20, unique_by=lambda t: t[:2]
).map(lambda rows: sorted((a_hit(f"{doc * 8}.v1#{at}", score) for doc, at, score in rows), key=lambda hit: -hit.score))


@given(_branches, _branches, st.floats(0, 1))
def test_fused_scores_stay_between_nothing_and_one_and_name_every_block_once(
    dense: list[Hit], keyword: list[Hit], share: float
) -> None:
    fused = fuse_scores(dense, keyword, keyword_share=share)

    assert all(0 <= one.score <= 1 for one in fused)
    assert sorted(one.block_id for one in fused) == sorted({hit.block_id for hit in (*dense, *keyword)})
    assert fused == sorted(fused, key=lambda one: (-one.score, one.doc_id, one.index, one.block_id))
