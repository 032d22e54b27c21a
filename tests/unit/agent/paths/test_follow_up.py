"""Follow-up questions made to stand alone by words: pronouns and ellipses, Chinese and English."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.agent.paths.follow_up import MAX_ENTITIES, carried, entities_of, leans, remembered
from api.tools.search_blocks import MAX_QUERY


@pytest.mark.parametrize(
    ("last", "question", "alone"),
    [
        ("年假有几天？", "那病假呢？", "病假有几天？"),
        ("年假有几天？", "病假呢", "病假有几天？"),
        ("X-200 的额定功率是多少？", "它的寿命有多长？", "X-200的寿命有多长？"),
        ("请问循环泵由谁负责？", "它多久检修一次？", "循环泵多久检修一次？"),
        ("What is the rated power of the X-200?", "How long does it last?", "How long does X-200 last?"),
        ("What is the rated power of the X-200?", "And what is its weight?", "And what is X-200's weight?"),
        (
            "How many days of annual leave are there?",
            "What about sick leave?",
            "How many days of annual leave are there? What about sick leave?",
        ),
        ("员工的病假有几天？", "那年假呢？", "员工的年假有几天？"),
        ("循环泵的寿命有多长？", "过滤器呢？", "循环泵的寿命有多长？ 过滤器呢？"),
        ("循环泵的寿命有多长？", "它多久检修一次？", "循环泵多久检修一次？"),
        ("年假有几天？", "为什么？", "年假有几天？ 为什么？"),
    ],
)
def test_what_a_follow_up_leans_on_is_put_into_it(last: str, question: str, alone: str) -> None:
    assert carried(question, last=last, entities=entities_of(last)) == alone


@pytest.mark.parametrize(
    "question",
    [
        "年假有几天？",
        "循环泵的寿命有多长？",
        "What limits the service life of the pump?",
        "Is it true that the pump lasts ten years?",
        "Which documents say that the pump failed?",
        "What does this manual say about the seal?",
    ],
)
def test_a_question_that_stands_alone_is_left_alone(question: str) -> None:
    assert not leans(question)
    assert carried(question, last="年假有几天？", entities=["年假"]) == question


def test_a_pronoun_means_what_was_named_last_where_the_last_question_names_nothing() -> None:
    assert carried("它的寿命有多长？", last="多少钱？", entities=["X-100", "X-200"]) == "X-200的寿命有多长？"


@pytest.mark.parametrize(
    ("last", "question", "alone"),
    [
        ("泵的保修期是多久？", "它由谁负责？", "泵由谁负责？"),
        ("车在哪里停？", "它的租金是多少？", "车的租金是多少？"),
        ("门由谁检修？", "这个多久检修一次？", "门多久检修一次？"),
        ("泵的外壳是什么材料？", "这种材料能否耐高温？", "泵的外壳是什么材料？ 这种材料能否耐高温？"),
        ("我有几天年假？", "它的依据是什么？", "ZX-9的依据是什么？"),
    ],
)
def test_a_pronoun_means_what_the_last_question_was_about_not_what_was_named_before(
    last: str, question: str, alone: str
) -> None:
    assert carried(question, last=last, entities=["ZX-9"]) == alone


def test_a_very_long_question_before_leaves_room_for_this_one() -> None:
    alone = carried("为什么？", last="长" * 20_000, entities=[])
    assert alone.endswith("为什么？")
    assert len(alone) < MAX_QUERY


def test_the_entities_of_a_conversation_are_each_kept_once_the_latest_last() -> None:
    known = remembered((), "X-200 的功率是多少？", "《安全手册》与 X-300 也适用。")
    assert known[-2:] == ("安全手册", "X-300")
    assert remembered(known, "再说 X-200")[-1] == "X-200"
    assert len(remembered((), *(f"P-{n} 的价格" for n in range(50)))) == MAX_ENTITIES


@given(st.text(max_size=200), st.text(max_size=200), st.lists(st.text(max_size=10), max_size=3))
def test_carrying_over_never_fails_and_never_loses_a_question_that_stands_alone(
    question: str, last: str, entities: list[str]
) -> None:
    alone = carried(question, last=last, entities=entities)
    assert leans(question) or alone == question
