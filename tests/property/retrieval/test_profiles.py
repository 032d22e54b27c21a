"""A preference and a reranker put candidates in another order; they add none, lose none, and change nothing without a reason."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from api.retrieval.fusion import HYBRID_RRF_V1, Fused, fuse
from api.retrieval.profiles import DAY_MS, PREFERENCES, Preference, Ranked, preference_order, reach, rerank_order
from shared.ids import DocId
from shared.types.snapshots import SnapshotDocument
from tests.property.retrieval.test_fusion import BRANCHES
from tests.unit.retrieval.test_profiles import NOW_MS, a_member

FUSED = BRANCHES.map(lambda branches: fuse(branches, k=60))
TRUST = st.sampled_from(["official", "internal", "third_party", "web", "user_upload"])
MEMBERS = st.fixed_dictionaries(
    {
        DocId(doc): st.builds(a_member, st.just(doc), days_old=st.integers(0, 5000), trust=TRUST)
        for doc in ("aaaaaaaa", "bbbbbbbb")
    }
)
PREFER = st.sampled_from(PREFERENCES)


def ranked(fused: list[Fused]) -> list[Ranked]:
    return [Ranked(candidate=one, score=one.score, before=rank) for rank, one in enumerate(fused, 1)]


def preferred(
    fused: list[Fused], prefer: Preference, members: dict[DocId, SnapshotDocument], *, by_scores: bool = False
) -> list[Fused]:
    most = reach(HYBRID_RRF_V1, by_scores=by_scores)
    return [one.candidate for one in preference_order(ranked(fused), prefer, members, reach=most)]


@given(FUSED, PREFER, MEMBERS)
def test_a_preference_adds_and_loses_no_candidate(
    fused: list[Fused], prefer: Preference, members: dict[DocId, SnapshotDocument]
) -> None:
    assert sorted(one.block_id for one in preferred(fused, prefer, members)) == sorted(one.block_id for one in fused)


@given(FUSED, PREFER, st.integers(0, DAY_MS - 1), TRUST)
def test_where_all_are_equally_new_and_trusted_the_order_is_that_of_the_fusion(
    fused: list[Fused], prefer: Preference, apart_ms: int, trust: str
) -> None:
    members = {
        DocId("aaaaaaaa"): a_member("aaaaaaaa", trust=trust),  # type: ignore[arg-type]
        DocId("bbbbbbbb"): replace(a_member("bbbbbbbb", trust=trust), updated_at_ms=NOW_MS + apart_ms),  # type: ignore[arg-type]
    }
    assert preferred(fused, prefer, members) == fused
    assert preferred(fused, prefer, members, by_scores=True) == fused


@given(FUSED, PREFER, MEMBERS)
def test_blocks_of_one_document_never_change_places(
    fused: list[Fused], prefer: Preference, members: dict[DocId, SnapshotDocument]
) -> None:
    found = preferred(fused, prefer, members)
    for doc_id in members:
        assert [one for one in found if one.doc_id == doc_id] == [one for one in fused if one.doc_id == doc_id]


@given(FUSED, MEMBERS)
def test_what_is_no_newer_never_overtakes(fused: list[Fused], members: dict[DocId, SnapshotDocument]) -> None:
    found = preferred(fused, "newer", members)
    place = {one.block_id: at for at, one in enumerate(found)}
    for at, front in enumerate(fused):
        for behind in fused[at + 1 :]:
            if members[behind.doc_id].updated_at_ms <= members[front.doc_id].updated_at_ms:
                assert place[front.block_id] < place[behind.block_id]


@given(FUSED, st.data())
def test_a_reranker_orders_its_depth_and_leaves_the_rest_behind_it_as_it_was(
    fused: list[Fused], data: st.DataObject
) -> None:
    depth = data.draw(st.integers(0, len(fused)))
    scores = data.draw(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=depth, max_size=depth))
    found = rerank_order(fused, scores, profile=HYBRID_RRF_V1)

    assert sorted(one.before for one in found) == list(range(1, len(fused) + 1))
    assert [one.candidate for one in found[depth:]] == fused[depth:]
    keys = [(-scores[one.before - 1], one.before) for one in found[:depth]]
    assert keys == sorted(keys)
    assert [one.candidate for one in found] == [fused[one.before - 1] for one in found]
