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


@pytest.mark.parametrize(
    ("question", "text", "quote"),
    [
        (
            "第三季度的退货率是多少？",
            "2023年第三季度营业收入为4.82亿元。退货率为2.3%，比第二季度的3.1%有所下降。",
            "退货率为2.3%，比第二季度的3.1%有所下降。",
        ),
        (
            "What was the return rate in the third quarter of 2023?",
            "In the third quarter of 2023 revenue grew. The return rate was 2.3%, down from 3.1% in the second quarter.",
            "The return rate was 2.3%, down from 3.1% in the second quarter.",
        ),
    ],
)
def test_a_sentence_that_compares_with_another_quarter_answers_for_its_own(
    question: str, text: str, quote: str
) -> None:
    assert quote in picked(question, text)


@pytest.mark.parametrize(
    ("question", "text", "dropped"),
    [
        (
            "2024年的净利润是多少？",
            "2023年营业收入为五亿元。净利润为六千万元。公司计划在2024年进入东南亚市场。",
            "净利润为六千万元。",
        ),
        (
            "What was the profit in 2024?",
            "Revenue in 2023 was 5 million. The profit was 1 million. A new market is planned for 2024.",
            "The profit was 1 million.",
        ),
    ],
)
def test_a_year_that_only_another_sentence_names_is_not_the_year_of_a_figure(
    question: str, text: str, dropped: str
) -> None:
    assert dropped not in picked(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("英国国会与比特币有什么关系？", "英国国会由上议院和下议院组成。英国国会的关系很复杂。"),
        ("谁签署了与格兰富的协议？", "与海登的协议由李建华签署。"),
        ("莎莉公司的前身是什么？", "长江公司的前身是一家船厂。"),
        (
            "Who approved the supply agreement with Grundfos?",
            "The supply agreement with Halden was approved by the board.",
        ),
        ("What is the relation between parliament and bitcoin?", "Parliament has two houses in relation to the crown."),
    ],
)
def test_what_never_names_the_subject_of_a_question_is_not_quoted(question: str, text: str) -> None:
    assert picked(question, text) == []


@pytest.mark.parametrize("question", ["猎鹰项目什么时候开始的？", "猎鹰项目谁负责的？", "猎鹰项目是从哪一年开始的？"])
def test_a_question_that_ends_in_a_particle_names_nobody_by_it(question: str) -> None:
    assert picked(question, "猎鹰项目由王强负责，于2021年3月开始。")


def test_of_two_agreements_the_one_with_the_party_asked_for_is_quoted() -> None:
    found = [
        Passage(
            block_id=f"{doc}.v1#0",
            doc_id=doc,
            title="Agreement",
            section_path="/",
            text=f"The supply agreement with {party} was approved by the {by}.",
            whole=True,
            rank=1,
        )
        for doc, party, by in (("abcdefgh", "Halden", "board"), ("hgfedcba", "Grundfos", "council"))
    ]
    quotes = [one.text for one in pick("Who approved the supply agreement with Grundfos?", found).excerpts]
    assert quotes == ["The supply agreement with Grundfos was approved by the council."]


@pytest.mark.parametrize(
    ("question", "text", "quote"),
    [
        ("哪些员工不适用本制度？", "正式员工适用本制度。实习员工不适用本制度。", "实习员工不适用本制度。"),
        (
            "Which parts are not covered by the warranty?",
            "Pumps are covered by the warranty. Seals are excluded from the warranty.",
            "Seals are excluded from the warranty.",
        ),
    ],
)
def test_who_asks_what_is_not_so_gets_what_denies_it(question: str, text: str, quote: str) -> None:
    assert picked(question, text) == [quote]


@pytest.mark.parametrize(
    ("question", "text", "quote"),
    [
        ("什么时候开始生效？", "员工应当遵守本制度。本制度自2024年3月1日起施行。", "本制度自2024年3月1日起施行。"),
        (
            "When does the policy take effect?",
            "The policy is for all staff. The policy is valid from 1 March 2024.",
            "The policy is valid from 1 March 2024.",
        ),
    ],
)
def test_the_beginning_of_validity_is_found_in_whatever_words(question: str, text: str, quote: str) -> None:
    assert quote in picked(question, text)


def test_the_year_asked_for_is_not_the_number_that_is_wanted() -> None:
    assert picked("星海科技2024年的利润是多少？", "星海科技计划在2024年上市。") == []
