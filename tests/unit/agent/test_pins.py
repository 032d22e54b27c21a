"""What fixes the time, place or amount that a question is about."""

import pytest

from api.agent.pins import pins, unshown


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("第四季度的退货率是多少？", [("quarter", "4")]),
        ("What was sold in Q4?", [("quarter", "4")]),
        ("the fourth quarter", [("quarter", "4")]),
        ("二〇二四年上半年", [("year", "2024"), ("half", "1")]),
        ("FY2022 and 2022/23", [("year", "2022")]),
        ("Who won the 2022 World Cup?", [("year", "2022")]),
        ("三月五日", [("month", "3"), ("day", "3-5")]),
        ("in March", [("month", "3")]),
        ("第十二届大会", [("ordinal", "12 届")]),
        ("於是，1989年的第九屆", [("year", "1989"), ("ordinal", "9 届")]),
        ("第3章讲什么？", [("ordinal", "3 章")]),
        ("chapter 4", [("ordinal", "4 chapter")]),
        ("the 4th edition", [("place", "4")]),
        ("超过500公斤的泵", [("amount", "500 kg")]),
        ("a pump of 2,000 kg", [("amount", "2000 kg")]),
    ],
)
def test_years_quarters_ordinals_dates_and_amounts_are_pins(text: str, found: list[tuple[str, str]]) -> None:
    assert [pin.key for pin in pins(text)] == found


@pytest.mark.parametrize(
    "text",
    [
        "员工工作满一年有几天年假？",
        "一年四季如春",
        "这是第一次吗？",
        "May I ask?",
        "How much flows per second?",
        "E-17",
    ],
)
def test_manners_of_speaking_are_none(text: str) -> None:
    assert pins(text) == ()


@pytest.mark.parametrize(
    ("question", "sentence", "around", "lacks"),
    [
        ("第四季度的退货率", "第三季度退货率为3%。", "第四季度另报。", ["第四季度"]),
        ("第四季度的退货率", "退货率为3%。", "2025年第4季度报告", []),
        ("temperature in 2022", "The mean was 14 degrees in 2023.", "Report 2022", ["2022"]),
        ("temperature in 2022", "The mean was 14 degrees.", "Report 2022", []),
        ("temperature in 2022", "Between 2021 and 2022 it rose.", "", []),
        ("chapter 4", "It is about seals.", "Chapter 3", ["chapter 4"]),
    ],
)
def test_a_sentence_about_another_one_does_not_show_it_whatever_stands_around(
    question: str, sentence: str, around: str, lacks: list[str]
) -> None:
    assert [pin.written for pin in unshown(pins(question), sentence, around)] == lacks
