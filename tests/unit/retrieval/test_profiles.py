"""Profiles: their names, the reranker's order, what a preference moves and what not."""

import pytest
from msgspec.structs import replace

from api.retrieval.fusion import HYBRID_RRF_V1, HYBRID_SCORES_V2, Fused
from api.retrieval.profiles import (
    DAY_MS,
    Ranked,
    Reranking,
    SearchProfile,
    check_preference,
    counts_scores,
    fused_order,
    preference_order,
    reach,
    rerank_order,
)
from shared.errors import InvalidArgument
from shared.ids import BlockId, DocId, SourceId
from shared.types.documents import Trust
from shared.types.snapshots import SnapshotDocument

NOW_MS = 1_790_000_000_000
BY_RANKS = reach(HYBRID_RRF_V1, by_scores=False)


def a_candidate(doc: str, rank: int) -> Fused:
    """As found by both branches on the same rank."""
    return Fused(block_id=BlockId(f"{doc}.v1#0"), doc_id=DocId(doc), index=0, score=2 / (60 + rank), ranks=(rank, rank))


def a_member(doc: str, *, days_old: int = 0, trust: Trust = "internal") -> SnapshotDocument:
    return SnapshotDocument(
        doc_id=DocId(doc),
        version=1,
        title="年假规定",
        source_id=SourceId("s"),
        source_label="手册",
        key=doc,
        aliases=(),
        lang="zh",
        trust=trust,
        access=(),
        tags=(),
        media_type="text/markdown",
        updated_at_ms=NOW_MS - days_old * DAY_MS,
        sections=1,
        blocks=1,
        tokens=1,
        artifact_sha256="",
    )


def order(prefer: str, *members: SnapshotDocument, equal: bool = False) -> str:
    """The documents' letters, best first; they come in the order given, each found on that rank by both branches.

    equal: all were found on the first rank.
    """
    ranked = [
        Ranked(candidate=(one := a_candidate(member.doc_id, 1 if equal else rank)), score=one.score, before=rank)
        for rank, member in enumerate(members, 1)
    ]
    documents = {member.doc_id: member for member in members}
    chosen = check_preference(prefer)
    assert chosen is not None
    return "".join(one.candidate.doc_id for one in preference_order(ranked, chosen, documents, reach=BY_RANKS))


@pytest.mark.parametrize(
    ("profile", "name"),
    [
        (SearchProfile(), "hybrid-scores-v2"),
        (SearchProfile(prefer="newer"), "hybrid-scores-v2+newer-v1"),
        (SearchProfile(prefer="trusted"), "hybrid-scores-v2+trusted-v1"),
        (
            SearchProfile(rerank=Reranking(model="bge-reranker-v2-m3", depth=20), prefer="newer"),
            "hybrid-scores-v2+rerank:bge-reranker-v2-m3@20+newer-v1",
        ),
    ],
)
def test_a_name_says_everything_that_decides_the_order(profile: SearchProfile, name: str) -> None:
    assert profile.name == name


def test_a_preference_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(InvalidArgument) as caught:
        check_preference("最新")
    assert caught.value.field == "prefer"
    assert "newer, trusted" in caught.value.message
    assert check_preference(None) is None


def test_the_newer_version_of_a_fact_comes_before_the_older_one_that_fits_as_well() -> None:
    assert order("newer", a_member("a", days_old=100), a_member("b")) == "ba"


def test_what_hardly_fits_is_not_lifted_by_being_new() -> None:
    old = [a_member(doc, days_old=365) for doc in "abcdefghijklmnopqrs"]
    assert order("newer", *old, a_member("z")).index("z") == 15
    assert order("newer", *old, a_member("z"))[0] == "a"


def test_hours_make_nothing_newer() -> None:
    later = replace(a_member("b"), updated_at_ms=NOW_MS + DAY_MS - 1)
    assert order("newer", a_member("a"), later, equal=True) == "ab"


def test_old_documents_are_still_told_from_older_ones() -> None:
    assert (
        order("newer", a_member("a", days_old=3650), a_member("b", days_old=3649), a_member("z"), equal=True) == "zba"
    )


def test_trust_counts_by_tier() -> None:
    tiers: tuple[Trust, ...] = ("user_upload", "web", "third_party", "internal", "official")
    members = [a_member(doc, trust=tier) for doc, tier in zip("abcde", tiers, strict=True)]
    assert order("trusted", *members, equal=True) == "edcba"
    assert order("trusted", a_member("a", trust="web"), a_member("b", trust="official")) == "ba"


def test_a_rerankers_order_replaces_that_of_the_fusion_and_ties_keep_it() -> None:
    candidates = [a_candidate(doc, rank) for rank, doc in enumerate("abcde", 1)]
    ranked = rerank_order(candidates, [-1.0, 5.5, -1.0], profile=HYBRID_RRF_V1)
    assert [(one.candidate.doc_id, one.before) for one in ranked] == [
        ("b", 2),
        ("a", 1),
        ("c", 3),
        ("d", 4),
        ("e", 5),
    ]
    assert [one.score for one in ranked] == [2 / (60 + rank) for rank in range(1, 6)]


def by_scores(*found: tuple[str, float, int]) -> str:
    """The documents' letters, best first. found: document, fused score, days old; best first."""
    fused = [replace(a_candidate(doc, 1), score=score) for doc, score, _ in found]
    fused += [replace(a_candidate("z", 1), score=0.0, block_id=BlockId(f"z.v1#{n}")) for n in range(20)]
    documents = {DocId(doc): a_member(doc, days_old=days) for doc, _, days in (*found, ("z", 0.0, 0))}
    assert counts_scores(HYBRID_SCORES_V2, len(fused))
    most = reach(HYBRID_SCORES_V2, by_scores=True)
    ranked = fused_order(fused, profile=HYBRID_SCORES_V2)
    return "".join(one.candidate.doc_id for one in preference_order(ranked, "newer", documents, reach=most))


def test_where_scores_count_a_preference_moves_by_how_far_apart_they_are() -> None:
    assert by_scores(("a", 0.95, 365), ("b", 0.90, 0)).startswith("ba")
    assert by_scores(("a", 0.95, 365), ("b", 0.60, 0)).startswith("ab")
    assert by_scores(("a", 0.95, 3650), ("b", 0.60, 0)).startswith("ab")


def test_scores_of_a_handful_are_stretched_and_their_ranks_count() -> None:
    fused = [replace(a_candidate(doc, 1), score=score) for doc, score in (("a", 1.0), ("b", 0.0))]
    assert not counts_scores(HYBRID_SCORES_V2, len(fused))
    assert [one.score for one in fused_order(fused, profile=HYBRID_SCORES_V2)] == [2 / 61, 2 / 62]
