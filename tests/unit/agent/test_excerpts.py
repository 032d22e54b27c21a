"""Which sentences are quoted for a question, and how much round them."""

import pytest

from api.agent.excerpts import Passage, pick


def picked(question: str, *texts: str, title: str = "Manual") -> list[str]:
    found = [
        Passage(
            block_id=f"abcdefgh.v1#{index}",
            doc_id="abcdefgh",
            title=title,
            section_path="/",
            text=text,
            whole=True,
            rank=index + 1,
        )
        for index, text in enumerate(texts)
    ]
    return [one.text for one in pick(question, found).excerpts]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("第四季度的退货率是多少？", "第三季度的退货率是百分之三。"),
        ("2024年的营业收入是多少？", "2025年的营业收入是五亿元。"),
        ("What was the mean water temperature in 2022?", "The mean water temperature in 2023 was 14 degrees."),
        ("Who won the 2022 World Cup?", "The world cup of coffee was won by Anna Berg."),
        ("第五章规定了什么？", "第四章规定了请假的手续。"),
    ],
)
def test_a_sentence_about_another_time_or_part_is_not_quoted(question: str, text: str) -> None:
    assert picked(question, text) == []


def test_of_two_quarters_the_one_asked_for_is_quoted() -> None:
    text = "第三季度的退货率是百分之三。第四季度的退货率是百分之五。"
    assert picked("第四季度的退货率是多少？", text) == ["第四季度的退货率是百分之五。"]


def test_what_shares_only_a_common_word_is_not_quoted_beside_the_identifier_asked_for() -> None:
    quotes = picked("What does E-17 mean?", "E-17: the door is open.", "The mean value is shown on the right.")
    assert quotes == ["E-17: the door is open."]


@pytest.mark.parametrize(
    ("question", "text", "quote"),
    [
        (
            "为什么泵停产了？",
            "泵于去年停产。原因是密封件无法采购。现在有新的型号。",
            "泵于去年停产。原因是密封件无法采购。",
        ),
        (
            "Why was the pump withdrawn?",
            "The pump was withdrawn last spring. This was due to leaking seals. A new model exists.",
            "The pump was withdrawn last spring. This was due to leaking seals.",
        ),
    ],
)
def test_who_asks_why_gets_the_reason_that_follows(question: str, text: str, quote: str) -> None:
    assert picked(question, text) == [quote]


@pytest.mark.parametrize(
    ("question", "text", "quote"),
    [
        (
            "How is the filter cleaned?",
            "- Open the lid. The filter is cleaned with water.\n  Let it dry.\n- Close the lid.",
            "- Open the lid. The filter is cleaned with water.\n  Let it dry.",
        ),
        ("滤网如何清洗？", "1. 打开盖子。滤网用清水清洗。\n2. 合上盖子。", "1. 打开盖子。滤网用清水清洗。"),
        (
            "滤网的更换周期是多久？",
            "| 部件 | 更换周期 |\n|---|---|\n| 滤网 | 三个月。更换周期见附录。 |\n| 密封件 | 一年 |",
            "| 滤网 | 三个月。更换周期见附录。 |",
        ),
    ],
)
def test_a_list_item_or_table_row_is_quoted_whole(question: str, text: str, quote: str) -> None:
    assert quote in picked(question, text)
