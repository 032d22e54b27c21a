import math

import pytest

from scripts.bench.judge import Block, Judge, Scores, bare, difference, holds, interval, scores
from scripts.bench.questions import Gold, Question


@pytest.mark.parametrize(
    ("block", "quote", "held"),
    [
        ("前文。雨燕卫星探测到了一次伽玛射线暴发。后文", "雨燕卫星探测到了一次伽玛射线暴发。", True),
        ("**Swift** detected a\nburst", "Swift detected a burst", True),
        ("射线暴发。后文还有很多", "雨燕卫星探测到了射线暴发。", False),  # an end, but less than half of it
        ("卫星探测到了射线暴发。后文还有很多", "雨燕卫星探测到了射线暴发。", True),
        ("前文。雨燕卫星探测到了", "雨燕卫星探测到了射线暴发。", True),
        ("卫星探测到了射", "雨燕卫星探测到了射线暴发。", True),  # lies inside
        ("卫星", "雨燕卫星探测到了射线暴发。", False),
        ("something else", "Swift detected a burst", False),
        ("", "Swift", False),
    ],
)
def test_a_block_is_relevant_with_the_quote_or_half_of_it(block: str, quote: str, held: bool) -> None:
    assert holds(bare(block), bare(quote)) is held


def test_only_blocks_of_the_quotes_document_are_relevant() -> None:
    judge = Judge([Block("a#0", "甲.md", "主轴承每250小时润滑"), Block("b#0", "乙.md", "主轴承每250小时润滑")])
    question = Question("q", "多久润滑？", (Gold("甲.md", "每250小时润滑"),), "zh", "single")

    assert judge.relevant(question) == [frozenset({"a#0"})]


def test_one_quote_at_rank_three() -> None:
    assert scores([frozenset({"c"})], ["a", "b", "c", "d"]) == Scores(
        recall_5=1.0, recall_20=1.0, ndcg_10=1 / math.log2(4), mrr=1 / 3
    )


def test_a_quote_counts_once_however_many_blocks_hold_it() -> None:
    assert scores([frozenset({"a", "b"})], ["a", "b"]) == Scores(recall_5=1.0, recall_20=1.0, ndcg_10=1.0, mrr=1.0)


def test_one_block_with_both_quotes_is_the_best_there_can_be() -> None:
    gold = [frozenset({"a", "b"}), frozenset({"a", "c"})]

    assert scores(gold, ["a", "b", "c"]).ndcg_10 == 1.0
    assert scores(gold, ["b", "a", "c"]).ndcg_10 < 1.0


def test_half_found_and_nothing_found() -> None:
    gold = [frozenset({"a"}), frozenset({"z"})]

    assert scores(gold, ["x", "a"]).recall_5 == 0.5
    assert scores(gold, []) == Scores(recall_5=0.0, recall_20=0.0, ndcg_10=0.0, mrr=0.0)


def test_a_quote_that_no_block_of_the_stack_holds_counts_against_it() -> None:
    assert scores([frozenset({"a"}), frozenset()], ["a"]).ndcg_10 == pytest.approx(1 / (1 + 1 / math.log2(3)))


def test_ranks_behind_twenty_do_not_count() -> None:
    late = [f"x{number}" for number in range(20)] + ["a"]

    assert scores([frozenset({"a"})], late).recall_20 == 0


def test_an_interval_is_the_same_each_time_and_holds_the_mean() -> None:
    values = [float(number % 3 == 0) for number in range(90)]
    mean, low, high = interval(values)

    assert (mean, low, high) == interval(values)
    assert low < mean < high
    assert difference(values, values) == (0.0, 0.0, 0.0)
