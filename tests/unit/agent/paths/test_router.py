"""Which path a question takes, in Chinese and English, and why."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.agent.paths.router import NEEDS_MODEL, Route, route
from shared.errors import InvalidArgument
from shared.types.runs import PathName
from tests.unit.agent.paths.asked import NEED_DOCUMENTS

TEXT = "公司决定自明年一月起调整年假，工作满一年的员工每年享有五天年假，不得跨年累计，请各部门知悉并遵照执行。"


def taken(question: str, *, sourced: bool = False) -> tuple[str, str]:
    found = route(question, wanted="auto", has_model=True, sourced=sourced)
    return found.path, found.reason


@pytest.mark.parametrize(
    "question",
    [
        "你好",
        "您好！",
        "谢谢你",
        "Hello there!",
        "thank you very much.",
        "你是谁？",
        "good morning",
        "OK",
        "好的。",
    ],
)
def test_small_talk_is_not_looked_up(question: str) -> None:
    assert taken(question) == ("direct", "small_talk")


@pytest.mark.parametrize(
    "question",
    [
        f"请把下面这段话翻译成英文：\n{TEXT}",
        f"润色以下文字：\n{TEXT}",
        f"翻译这段话：“{TEXT}”",
        f"请帮我概括下面的邮件：\n\n{TEXT}",
        "Summarize the following text in one sentence:\nThe committee met on Monday and decided to move the launch to May.",
        'Please proofread this sentence: "Their going to recieve the shipment on tuesday unless the wether is bad again."',
        "Translate the following paragraph into Chinese:\nThe pump must not be operated above 80 degrees at any time.",
    ],
)
def test_work_on_a_text_in_the_message_is_not_looked_up(question: str) -> None:
    assert taken(question) == ("direct", "given_text")


@pytest.mark.parametrize("question", NEED_DOCUMENTS)
def test_a_question_that_documents_may_answer_is_looked_up(question: str) -> None:
    assert taken(question)[0] != "direct"


@pytest.mark.parametrize(
    "question",
    [
        "你好，泵的保修期是多久？",
        "在吗？病假要交什么材料",
        "您好！麻烦问一下差旅报销标准",
        "谢谢你。还有，E-4021 是什么意思？",
        "早上好，第三季度退货率是多少",
        "你是谁的负责人",
        "你能做什么样的检验",
        "明白了，那易损件在保修范围内吗",
        "再见礼品的预算",
        "Hi, what is the warranty period of the pump?",
        "hello there, who approves travel?",
        "Thanks! And the notice period?",
        "Good morning. Which documents mention ERR_4021?",
        "ok so how many days of leave do I get",
        "who are you buying the pumps from",
        "what can you do about a late delivery under the contract",
        "Bye-law 7: what does it say?",
    ],
)
def test_a_greeting_before_a_question_or_words_like_one_are_looked_up(question: str) -> None:
    assert taken(question)[0] != "direct"


@given(
    st.sampled_from(NEED_DOCUMENTS),
    st.sampled_from(["", "请", "Please ", "你好，", "Hello, ", "谢谢。\n"]),
    st.sampled_from(["", "\n", "谢谢", " Thanks!"]),
)
def test_courtesy_makes_no_question_small_talk(question: str, before: str, after: str) -> None:
    assert taken(f"{before}{question}{after}")[0] != "direct"


@pytest.mark.parametrize(
    "question",
    [
        "总结一下请假制度",
        "请总结手册中的以下内容：年假、病假、事假以及各自的审批流程和所需材料分别是什么，请按顺序列出来给我看一下",
        "Summarize the safety manual",
        "翻译以下内容：年假",
    ],
)
def test_a_text_that_is_not_in_the_message_is_looked_up(question: str) -> None:
    assert taken(question)[0] == "agent"


@pytest.mark.parametrize(
    "question",
    [
        "年假和病假有什么区别？",
        "比较一下 A 型泵和 B 型泵的寿命",
        "方案甲与方案乙哪个更便宜？",
        "What is the difference between the 2022 and the 2023 policy?",
        "Compare the north plant with the south plant.",
        "How does HNSW differ from IVF?",
    ],
)
def test_a_comparison_is_planned(question: str) -> None:
    assert taken(question) == ("plan", "comparison")


def test_several_questions_are_planned() -> None:
    assert taken("年假有几天？病假需要什么材料？") == ("plan", "several_questions")
    assert taken("Who runs the plant? When was it built?") == ("plan", "several_questions")


@pytest.mark.parametrize(
    ("last", "asked", "path"),
    [
        ("泵的保修期是多久？", "那采购部由谁负责？", "agent"),
        ("质量部由谁负责？", "他的电话呢？", "agent"),
        ("What may a hotel cost a night?", "And flights?", "agent"),
        ("What may a hotel cost a night?", "Who approves exceptions? And since when?", "plan"),
    ],
)
def test_the_last_question_before_a_follow_up_is_not_asked_again(last: str, asked: str, path: str) -> None:
    found = route(f"{last} {asked}", asked=asked, wanted="auto", has_model=True, sourced=False)
    assert found.path == path


@pytest.mark.parametrize(
    "question", ["错误代码 E-4021 是什么意思？", "What does ERR_4021 mean?", "GB/T7714 规定了什么？"]
)
def test_one_exact_identifier_is_one_lookup(question: str) -> None:
    assert taken(question) == ("pipeline", "exact_identifier")


@pytest.mark.parametrize(
    "question",
    [
        "第三季度的退货率是多少？",
        "What limits the service life of the pump?",
        "E-4021 出现了多少次？",
        "列出所有提到 E-4021 的文档",
        "Which documents mention ERR_4021?",
        "E-4021 和 E-4022 分别是什么？",
        "",
        "？",
    ],
)
def test_everything_else_goes_to_the_loop(question: str) -> None:
    assert taken(question) == ("agent", "question")


def test_an_answer_that_must_rest_on_documents_is_always_looked_up() -> None:
    assert taken("你好", sourced=True) == ("agent", "question")
    assert taken(f"翻译以下文字：\n{TEXT}", sourced=True) == ("agent", "question")


@pytest.mark.parametrize("path", ["direct", "pipeline", "agent", "plan", "verify"])
def test_a_caller_may_force_a_path(path: PathName) -> None:
    assert route("你好", wanted=path, has_model=True, sourced=True) == Route(path=path, reason="forced")


@pytest.mark.parametrize("path", ["auto", "direct", "pipeline", "agent", "plan", "verify"])
def test_without_a_model_only_the_loop_is_left(path: PathName) -> None:
    if path in NEEDS_MODEL:
        with pytest.raises(InvalidArgument) as caught:
            route("年假有几天？", wanted=path, has_model=False, sourced=False)
        assert caught.value.field == "path"
    else:
        assert route("你好", wanted=path, has_model=False, sourced=False).path == "agent"


@given(st.text(max_size=300))
def test_every_text_has_a_path(question: str) -> None:
    assert taken(question)[0] in ("direct", "pipeline", "agent", "plan")
