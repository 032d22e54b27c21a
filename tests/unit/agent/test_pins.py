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
        ("第三季度的退货率", "退货率为2.3%，比第二季度的3.1%有所下降。", "第三季度报告", []),
        ("第二季度的退货率", "退货率为2.3%，比第二季度的3.1%有所下降。", "第三季度报告", []),
        ("第二季度的净利润", "净利润上升。", "第三季度的收入高于第二季度。", ["第二季度"]),
        ("2023年的收入", "收入从2022年的三亿元增至五亿元。", "2023年度报告", []),
        ("2023年的收入", "与2022年相比，收入增长了。", "2023年度报告", []),
        ("2023年的收入", "收入为五亿元（2022年：三亿元）。", "2023年度报告", []),
        ("2023年的收入", "公司于2022年上市。", "2023年度报告", ["2023"]),
        ("第3版的启动时间", "启动时间为三秒，比第2版短。", "第3版说明", []),
        ("returns in the third quarter", "It was 2.3%, down from 3.1% in the second quarter.", "Third quarter", []),
        ("returns in Q3 2023", "They fell to 2.3% from 3.1% in Q2 2022.", "Q3 2023", []),
        ("revenue in 2023", "It was higher than in 2022.", "Report 2023", []),
        ("start-up time of version 4.2", "It is 3 s, compared with 5 s in version 4.1.", "Version 4.2", []),
        ("revenue in 2022", "It rose by a tenth.", "In 2023 it was higher than in 2022.", ["2022"]),
        ("temperature in january", "It is 9 degrees.", "July", ["january"]),
    ],
)
def test_a_sentence_about_another_one_does_not_show_it_whatever_stands_around(
    question: str, sentence: str, around: str, lacks: list[str]
) -> None:
    assert [pin.written for pin in unshown(pins(question), sentence, (around,))] == lacks
