"""What every vector engine answers alike."""

import numpy as np
import pytest

from shared.ids import BlockId, DocId
from shared.text.terms import query_terms
from shared.vectors.port import Filter, Hit, Vectors
from tests.contract.vectors.points import EVERYTHING, NO_TERMS, a_point, sealed, sparse, vector

pytestmark = [
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning"),
    pytest.mark.filterwarnings("ignore:Local mode performs exact:UserWarning"),
]


def ids(hits: list[Hit]) -> list[str]:
    return [hit.block_id for hit in hits]


def in_64ths(weight: float) -> float:
    return round(weight * 64) / 64


def test_dense_hits_come_by_cosine_whatever_the_length_of_the_vectors(vectors: Vectors) -> None:
    collection = sealed(
        vectors,
        [
            a_point("aaaaaaaa", dense=vector(0, 9, 0)),
            a_point("bbbbbbbb", dense=vector(0.1, 0.1, 0)),
            a_point("cccccccc", dense=vector(3, 0, 0)),
        ],
    )
    hits = collection.dense(vector(2, 0.1, 0), within=EVERYTHING, limit=3)
    assert ids(hits) == ["cccccccc.v1#0", "bbbbbbbb.v1#0", "aaaaaaaa.v1#0"]
    assert [hit.score for hit in hits] == pytest.approx([0.99875, 0.74156, 0.04994], abs=1e-4)


def test_a_hit_says_which_block_it_is(vectors: Vectors) -> None:
    collection = sealed(vectors, [a_point("aaaaaaaa", 7)])
    [hit] = collection.dense(vector(1, 0, 0), within=EVERYTHING, limit=5)
    assert hit == Hit(block_id=BlockId("aaaaaaaa.v1#7"), doc_id=DocId("aaaaaaaa"), index=7, score=hit.score)


def test_sparse_scores_are_the_passage_weight_times_idf_of_the_collection(vectors: Vectors) -> None:
    collection = sealed(
        vectors,
        [
            a_point("aaaaaaaa", 0, terms=sparse(t1=1.5, t2=0.5)),
            a_point("aaaaaaaa", 1, terms=sparse(t2=1.0)),
            a_point("aaaaaaaa", 2, terms=sparse(t3=1.0)),
        ],
    )
    hits = collection.sparse(sparse(t1=2.0, t2=1.0), within=EVERYTHING, limit=5)
    weight_1, weight_2 = in_64ths(2.0 * np.log(1 + 2.5 / 1.5)), in_64ths(1.0 * np.log(1 + 1.5 / 2.5))
    assert ids(hits) == ["aaaaaaaa.v1#0", "aaaaaaaa.v1#1"]
    assert [hit.score for hit in hits] == [1.5 * weight_1 + 0.5 * weight_2, weight_2]


def test_what_was_asked_for_counts_words_that_no_block_has_as_the_rarest_of_all(vectors: Vectors) -> None:
    collection = sealed(
        vectors, [a_point("aaaaaaaa", 0, terms=sparse(t1=1.5)), a_point("aaaaaaaa", 1, terms=sparse(t2=1.0))]
    )

    known, unknown = in_64ths(2.0 * np.log(1 + 1.5 / 1.5)), in_64ths(0.5 * np.log(1 + 2.5 / 0.5))

    assert collection.asked(sparse(t1=2.0, t9=0.5)) == known + unknown
    assert collection.asked(NO_TERMS) == 0


def test_a_term_that_every_block_has_still_finds_them(vectors: Vectors) -> None:
    collection = sealed(vectors, [a_point("aaaaaaaa", index, terms=sparse(t1=0.001)) for index in range(200)])
    assert len(collection.sparse(sparse(t1=1.0), within=EVERYTHING, limit=300)) == 200


def test_idf_stays_that_of_the_whole_collection_under_a_filter(vectors: Vectors) -> None:
    common = [a_point("aaaaaaaa", index, terms=sparse(t1=1.0)) for index in range(4)]
    collection = sealed(vectors, [*common, a_point("bbbbbbbb", 0, terms=sparse(t1=1.0, t2=1.0))])
    within = Filter(doc_ids=(DocId("bbbbbbbb"),))
    [narrow] = collection.sparse(sparse(t1=1.0), within=within, limit=5)
    wide = collection.sparse(sparse(t1=1.0), within=EVERYTHING, limit=5)
    assert narrow in wide


def test_a_block_without_any_of_the_terms_is_no_hit(vectors: Vectors) -> None:
    collection = sealed(vectors, [a_point(terms=sparse(t1=1.0)), a_point("bbbbbbbb")])
    assert collection.sparse(sparse(t9=1.0), within=EVERYTHING, limit=5) == []
    assert collection.sparse(NO_TERMS, within=EVERYTHING, limit=5) == []
    assert ids(collection.sparse(sparse(t1=1.0, t9=1.0), within=EVERYTHING, limit=5)) == ["aaaaaaaa.v1#0"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("快照怎样切换", "aaaaaaaa.v1#0"),
        ("臺北的圖書館", "aaaaaaaa.v1#1"),
        ("ERR_TIMEOUT", "aaaaaaaa.v1#2"),
        ("2.1.3", "aaaaaaaa.v1#3"),
        ("how do retries work", "aaaaaaaa.v1#4"),
        ("GB/T 7714", "aaaaaaaa.v1#5"),
    ],
)
def test_a_question_in_words_finds_the_block_with_those_words(vectors: Vectors, query: str, expected: str) -> None:
    texts = [
        "新快照发布之后，活动指针在一次事务里切换过去。",
        "台北市立图书馆每周一休馆。",
        "连接失败时返回 err_timeout，不重试。",
        "从 v2.1.3 起支持流式输出。",
        "A retry is made once, after the time the provider asked for.",
        "参考文献按 GB/T 7714—2015 著录。",
        "其他内容与此无关。",
    ]
    collection = sealed(vectors, [a_point(index=index, text=text) for index, text in enumerate(texts)])
    assert ids(collection.sparse(query_terms(query), within=EVERYTHING, limit=1)) == [expected]


def test_scope_and_access_hold_together_before_candidates_are_picked(vectors: Vectors) -> None:
    near, far = vector(1, 0, 0), vector(0.5, 1, 0)
    collection = sealed(
        vectors,
        [
            *(a_point("aaaaaaaa", index, dense=near, labels=("财务",)) for index in range(50)),
            a_point("bbbbbbbb", 0, dense=far, labels=("财务", "人事")),
            a_point("cccccccc", 0, dense=far),
            a_point("dddddddd", 0, dense=far, labels=("研发",)),
        ],
    )

    def found(within: Filter) -> set[str]:
        return {hit.doc_id for hit in collection.dense(near, within=within, limit=3)}

    assert found(Filter(access=frozenset({"人事"}))) == {"bbbbbbbb", "cccccccc"}
    assert found(Filter(access=frozenset())) == {"cccccccc"}
    assert found(Filter(doc_ids=(DocId("dddddddd"), DocId("bbbbbbbb")))) == {"bbbbbbbb", "dddddddd"}
    assert found(Filter(doc_ids=(DocId("dddddddd"), DocId("aaaaaaaa")), access=frozenset({"研发"}))) == {"dddddddd"}
    assert found(Filter(doc_ids=(DocId("aaaaaaaa"),), access=frozenset({"研发"}))) == set()
    assert found(Filter(without=(DocId("cccccccc"), DocId("zzzzzzzz")))) == found(Filter()) - {"cccccccc"}
    assert found(Filter(access=frozenset({"人事"}), without=(DocId("bbbbbbbb"),))) == {"cccccccc"}
    assert found(Filter(doc_ids=())) == set()
    assert found(Filter(doc_ids=(DocId("zzzzzzzz"),))) == set()


def test_a_scope_of_thousands_of_documents_is_answered(vectors: Vectors) -> None:
    collection = sealed(vectors, [a_point("aaaaaaaa"), a_point("bbbbbbbb")])
    scope = tuple(DocId(f"doc{number:05d}") for number in range(5_000))
    hits = collection.dense(vector(1, 0, 0), within=Filter(doc_ids=(*scope, DocId("bbbbbbbb"))), limit=5)
    assert ids(hits) == ["bbbbbbbb.v1#0"]


@pytest.mark.parametrize("order", [1, -1, 7])
def test_equal_scores_come_by_document_and_index_whatever_the_order_of_insertion(vectors: Vectors, order: int) -> None:
    names = [(doc, index) for doc in ("2zzzzzzz", "aaaaaaaa", "bbbbbbbb") for index in range(20)]
    points = [a_point(doc, index, terms=sparse(t1=1.0)) for doc, index in names]
    shuffled = (
        points[::order]
        if abs(order) == 1
        else sorted(points, key=lambda point: (point.index * order % 20, point.doc_id))
    )
    collection = sealed(vectors, [*shuffled, a_point("cccccccc", dense=vector(0, 1, 0), terms=sparse(t2=1.0))])
    expected = [f"{doc}.v1#{index}" for doc, index in names]
    for limit in (1, 3, 19, 20, 21, 60):
        assert ids(collection.dense(vector(1, 0, 0), within=EVERYTHING, limit=limit)) == expected[:limit]
        assert ids(collection.sparse(sparse(t1=1.0), within=EVERYTHING, limit=limit)) == expected[:limit]


def test_a_smaller_limit_gives_the_beginning_of_a_larger_one(vectors: Vectors) -> None:
    choices = [vector(1, 0, 0), vector(1, 1, 0), vector(0, 1, 1)]
    points = [a_point(f"{'abc'[index % 3] * 8}", index, dense=choices[index * 5 % 3]) for index in range(40)]
    collection = sealed(vectors, points)
    everything = collection.dense(vector(1, 0.2, 0), within=EVERYTHING, limit=100)
    assert len(everything) == 40
    for limit in range(41):
        assert collection.dense(vector(1, 0.2, 0), within=EVERYTHING, limit=limit) == everything[:limit]


def test_stored_vectors_come_back_at_unit_length_for_the_blocks_that_exist(vectors: Vectors) -> None:
    collection = sealed(vectors, [a_point("aaaaaaaa", 0, dense=vector(3, 4, 0)), a_point("aaaaaaaa", 1)])
    found = collection.dense_of([BlockId("aaaaaaaa.v1#0"), BlockId("aaaaaaaa.v9#0")])
    assert list(found) == ["aaaaaaaa.v1#0"]
    assert found[BlockId("aaaaaaaa.v1#0")].tolist() == pytest.approx([0.6, 0.8, 0.0], abs=1e-6)
    assert found[BlockId("aaaaaaaa.v1#0")].dtype == np.float32
    assert collection.dense_of([]) == {}
