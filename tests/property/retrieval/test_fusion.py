"""Fusion is a total order, whatever the branches return."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from api.retrieval.fusion import fuse
from shared.ids import DocId, block_id
from shared.vectors.port import Hit


def _hit(doc: str, version: int, index: int, score: float) -> Hit:
    return Hit(block_id=block_id(DocId(doc), version, index), doc_id=DocId(doc), index=index, score=score)


HITS = st.builds(
    _hit, st.sampled_from(["aaaaaaaa", "bbbbbbbb"]), st.integers(1, 2), st.integers(0, 11), st.floats(-1, 40)
)
BRANCHES = st.lists(st.lists(HITS, max_size=20), min_size=1, max_size=4)


@given(BRANCHES)
def test_every_block_of_any_branch_comes_exactly_once(branches: list[list[Hit]]) -> None:
    fused = [one.block_id for one in fuse(branches, k=60)]

    assert len(fused) == len(set(fused))
    assert set(fused) == {hit.block_id for branch in branches for hit in branch}


@given(BRANCHES)
def test_no_two_places_are_interchangeable(branches: list[list[Hit]]) -> None:
    keys = [(-one.score, one.doc_id, one.index, one.block_id) for one in fuse(branches, k=60)]

    assert all(first < second for first, second in pairwise(keys))


@given(BRANCHES, st.data())
def test_the_order_of_the_branches_changes_nothing_but_the_columns(
    branches: list[list[Hit]], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(branches))))
    shuffled = fuse([branches[at] for at in order], k=60)

    assert [(one.block_id, one.score, tuple(one.ranks[at] for at in order)) for one in fuse(branches, k=60)] == [
        (one.block_id, one.score, one.ranks) for one in shuffled
    ]


@given(BRANCHES)
def test_a_better_place_in_every_branch_is_a_better_place_in_the_result(branches: list[list[Hit]]) -> None:
    fused = fuse(branches, k=60)
    places = {one.block_id: at for at, one in enumerate(fused)}

    for one in fused:
        for other in fused:
            pairs = list(zip(one.ranks, other.ranks, strict=True))
            if all(a is not None and (b is None or a < b) for a, b in pairs):
                assert places[one.block_id] < places[other.block_id]
