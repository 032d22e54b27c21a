"""Which second questions lean on the first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.agent.paths.follow_up import carried
from api.agent.paths.generic import names_nothing
from api.agent.paths.leaning import leans
from tests.unit.agent.paths.second_questions import LEANING, STANDING_ALONE

FALCON = "猎鹰项目由谁负责？"
FALCON_EN = "Who leads Project Falcon?"


def test_what_can_not_be_understood_alone_leans() -> None:
    assert [question for question in LEANING if not leans(question)] == []


def test_what_can_be_understood_alone_does_not_lean() -> None:
    assert [question for question in STANDING_ALONE if leans(question)] == []


@pytest.mark.parametrize(
    ("last", "question", "alone"),
    [
        (FALCON, "什么时候开始的？", "猎鹰项目什么时候开始的？"),
        (FALCON, "誰批准的？", "猎鹰项目誰批准的？"),
        (FALCON, "好的，那多少钱？", "猎鹰项目多少钱？"),
        (FALCON, "预算是多少？", "猎鹰项目的预算是多少？"),
        (FALCON, "本项目何时结束？", "猎鹰项目何时结束？"),
        (FALCON, "项目何时结束？", "猎鹰项目何时结束？"),
        ("循环泵由谁维护？", "本项目的审计由谁做？", "循环泵的审计由谁做？"),
        ("谁负责猎鹰项目？", "什么时候开始的？", "猎鹰项目什么时候开始的？"),
        ("合同金额是多少？", "保修期多久？", "合同的保修期多久？"),
        ("违约金是多少？", "保修期多久？", "保修期多久？"),
        ("What is the deadline?", "Who is the supplier?", "Who is the supplier?"),
        ("违约金是多少？", "为什么？", "违约金是多少？ 为什么？"),
        (FALCON, "依据是什么？", f"{FALCON} 依据是什么？"),
        (FALCON, "能详细说说吗？", f"{FALCON} 能详细说说吗？"),
        (FALCON, "需要多久？", f"{FALCON} 需要多久？"),
        (FALCON, "2023年？", f"{FALCON} 2023年？"),
        (FALCON, "上一个问题的依据呢？", f"{FALCON} 上一个问题的依据呢？"),
        (FALCON_EN, "Who approved the project?", "Who approved Project Falcon?"),
        (FALCON_EN, "The budget?", "Project Falcon: the budget?"),
        ("X-300: the weight?", "Who makes it?", "Who makes X-300?"),
        (FALCON_EN, "Since when?", f"{FALCON_EN} Since when?"),
        (FALCON_EN, "What is the reason?", f"{FALCON_EN} What is the reason?"),
        ("How many days of leave are there?", "Who decides?", "How many days of leave are there? Who decides?"),
    ],
)
def test_what_a_question_lacks_is_put_before_it(last: str, question: str, alone: str) -> None:
    assert carried(question, last=last, entities=["ZX-9"]) == alone


@pytest.mark.parametrize(
    "question",
    [
        "When did Victoria enact its constitution?",
        "Where was the cotton gin invented and where is it used today?",
        "Which film by the director who published her diary came out first?",
        "What did the city that flooded in 1953 build?",
        "张伟何时入职，他的职务是什么？",
        "其他部门也实行远程办公吗？",
        "应该怎么佩戴安全帽？",
        "唐鱼是什么科的其中一种？",
    ],
)
def test_a_pronoun_that_means_something_in_the_question_points_nowhere_else(question: str) -> None:
    assert not leans(question)


def test_a_long_message_brings_along_what_its_pronouns_mean() -> None:
    assert not leans("How many days of annual leave are there? " + "Each team plans leave early. " * 20 + "Does it?")
    assert not leans("年假有几天？" + "各团队提前安排休假。" * 50 + "它呢？")
    assert leans("Does it? " + "Each team plans leave early. " * 20)


@pytest.mark.parametrize("question", ["你好", "谢谢", "好的", "是的", "没有了", "Who are you?", "ok", "", "？", "1"])
def test_what_asks_nothing_leans_on_nothing(question: str) -> None:
    assert not leans(question)


@given(st.text(alphabet="谁什么时候开始的有多少了吗？项目 Who approved the?", max_size=400))
def test_listed_words_are_told_apart_at_once_however_they_may_be_cut(question: str) -> None:
    assert names_nothing(question) in (True, False)
