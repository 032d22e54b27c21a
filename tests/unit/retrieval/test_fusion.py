from api.retrieval.fusion import HYBRID_RRF_V1, Fused, Profile, fuse
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
