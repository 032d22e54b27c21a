"""Strict citations: mended once, then dropped and said to be missing."""

import pytest

from api.agent.finish import Verified
from api.agent.steps import AskModel
from api.agent.strict import repairing
from shared.types.runs import Limits
from tests.unit.agent.finished import finish
from tests.unit.agent.playing import DOC, Played, Scripted, block, fails, play, result, says, search
from tests.unit.agent.texts import EN, ZH

A, B = f"{DOC}.v1#0", f"{DOC}.v1#1"
FOUND = result(block(0, "员工工作满一年享有五天年假。"), block(1, "病假需提交医院证明。"))
GOOD = f"满一年享有五天年假。【来源：{A}】"
BAD = f"满两年享有10天年假。【来源：{A}】"
MIXED = f"Action: Finish[{GOOD}{BAD}]"


def strictly(*script: Scripted, limits: Limits | None = None) -> tuple[Played, Verified]:
    played = play([search("年假"), FOUND, *script], limits=limits, wording=ZH, around=repairing)
    return played, finish(played.outcome, wording=ZH, mode="strict")


def codes(verified: Verified) -> list[str]:
    return [one.code for one in verified.limitations]


def test_a_supported_answer_costs_no_further_call() -> None:
    played, verified = strictly(f"Action: Finish[{GOOD}]")
    assert len(played.asked) == 2
    assert (verified.status, verified.text, codes(verified)) == ("complete", "满一年享有五天年假。[1]", [])


def test_the_model_is_told_which_sentence_is_wrong_and_why_and_may_mend_it_once() -> None:
    mended = f"{GOOD}病假需提交医院证明。【来源：{B}】"
    played, verified = strictly(MIXED, f"Thought: 改。\nAction: Finish[{mended}]")
    repair: AskModel = played.asked[-1]
    assert repair.final
    told = repair.messages[-1].content
    assert "满两年享有10天年假。" in told
    assert "10天" in told
    assert "满一年享有五天年假。" not in told
    assert (verified.status, verified.text) == ("complete", "满一年享有五天年假。[1]病假需提交医院证明。[2]")
    assert played.outcome.spent.model_calls == 3


def test_what_is_still_not_supported_is_dropped_and_said_to_be_missing() -> None:
    played, verified = strictly(MIXED, MIXED)
    assert len(played.asked) == 3
    assert (verified.status, verified.text, codes(verified)) == (
        "partial",
        "满一年享有五天年假。[1]",
        ["claims_dropped"],
    )
    assert "1 句话" in verified.limitations[0].text
    assert [one.verdict for one in verified.checks] == ["supported"]


UNPROVED = f"本制度由赵敏负责。【来源：{A}】"


def test_a_name_that_is_not_proved_goes_to_the_repair_too() -> None:
    played, verified = strictly(f"Action: Finish[{GOOD}{UNPROVED}]", f"Action: Finish[{GOOD}]")
    assert "赵敏" in played.asked[-1].messages[-1].content
    assert (verified.status, verified.text, codes(verified)) == ("complete", "满一年享有五天年假。[1]", [])


def test_a_name_that_stays_unproved_makes_the_answer_partial_and_is_named() -> None:
    answer = f"Action: Finish[{GOOD}{UNPROVED}]"
    played, verified = strictly(answer, answer)
    assert len(played.asked) == 3
    assert (verified.status, codes(verified)) == ("partial", ["citation_unproved"])
    assert "本制度由赵敏负责。" in verified.text
    assert "赵敏" in verified.limitations[0].text


def test_a_repair_that_proves_less_leaves_the_first_answer() -> None:
    more = f"Action: Finish[{GOOD}{UNPROVED}本制度由孙芳批准。【来源：{A}】]"
    _, verified = strictly(f"Action: Finish[{GOOD}{UNPROVED}]", more)
    assert "孙芳" not in verified.text


def test_an_uncited_claim_is_dropped_as_well() -> None:
    text = f"Action: Finish[{GOOD}\n\n1. 公司成立于1998年。\n2. {GOOD}]"
    _, verified = strictly(text, text)
    assert verified.text == "满一年享有五天年假。[1]\n\n2. 满一年享有五天年假。[1]"


def test_a_sentence_without_a_source_or_a_figure_is_dropped_as_well() -> None:
    text = f"Action: Finish[{GOOD}产品不含铅，可用于食品加工。李娜负责采购部。The pump is safe for food. 文档没有提到病假。]"
    played, verified = strictly(text, text)
    assert "李娜负责采购部。" in played.asked[-1].messages[-1].content
    assert (verified.status, codes(verified)) == ("partial", ["claims_dropped"])
    assert verified.text == "满一年享有五天年假。[1]文档没有提到病假。"


@pytest.mark.parametrize(
    ("ending", "left"),
    [
        ("Refuse[文档没有提到退货率。不过第三季度的退货率是 9.9%，由张三负责。]", "文档没有提到退货率。"),
        ("Refuse[文档没有直接说明，不过第三季度的退货率是 9.9%，由张三负责。]", None),
        ("Clarify[您指的是哪个季度？第三季度的退货率是 9.9%。]", "您指的是哪个季度？"),
        ("Clarify[您是指 9.9% 的退货率，还是 8.8% 的退货率？]", None),
    ],
)
def test_a_refusal_and_a_question_back_carry_no_invented_fact(ending: str, left: str | None) -> None:
    _, verified = strictly(f"Action: {ending}")
    assert codes(verified) == ["claims_dropped"]
    assert verified.text == (left or ZH.render("failure", code="unsupported"))
    assert verified.status == ("clarification" if left and ending.startswith("Clarify") else "refused")


def test_a_question_back_may_repeat_what_was_asked_and_read() -> None:
    played = play([search("年假"), FOUND, "Action: Clarify[您是指超过 15 kg 的行李吗？]"], wording=ZH)
    verified = finish(played.outcome, wording=ZH, question="15 kg 的行李怎么办？", mode="strict")
    assert (verified.status, verified.limitations) == ("clarification", ())


def test_nothing_left_is_no_answer() -> None:
    bad = f"Action: Finish[{BAD}]"
    _, verified = strictly(bad, bad)
    assert (verified.status, verified.reason, verified.citations) == ("refused", "unsupported", ())
    assert verified.text == ZH.render("failure", code="unsupported")


@pytest.mark.parametrize(
    "repair",
    [
        fails("provider_timeout"),
        "嗯。",
        says(f"Action: Finish[{GOOD}", finish_reason="length"),
        "Action: Clarify[哪一年？]",
        f"Action: Finish[{BAD}{BAD}满三年有99天。【来源：{A}】]",
    ],
    ids=["failed", "no action", "cut", "asks back", "worse"],
)
def test_a_repair_that_brings_no_better_answer_leaves_the_first_to_be_dropped_from(repair: Scripted) -> None:
    played, verified = strictly(MIXED, repair)
    assert (verified.status, verified.text) == ("partial", "满一年享有五天年假。[1]")
    assert played.outcome.spent.model_calls == 3


def test_a_model_that_takes_its_answer_back_has_refused() -> None:
    played, verified = strictly(f"Action: Finish[{BAD}]", "Action: Refuse[文档没有写到。]")
    assert (played.outcome.reason, verified.status, verified.text) == ("refused", "refused", "文档没有写到。")


def test_a_repair_keeps_to_the_budget_and_without_one_the_first_answer_is_dropped_from() -> None:
    asked: set[int] = set()
    for most in range(1_000, 12_000, 250):
        limits = Limits(max_request_tokens=most, finalization_reserve_tokens=900)
        played, verified = strictly(MIXED, MIXED, limits=limits)
        spent = played.outcome.spent
        assert spent.chat_input_tokens + spent.chat_output_tokens <= most
        if spent.tool_calls and played.outcome.closed is None:
            asked.add(spent.model_calls)
            assert (verified.status, verified.text) == ("partial", "满一年享有五天年假。[1]")
    assert asked == {3}  # what a planning turn must leave for a last one pays for the repair


def test_after_a_brake_the_model_sees_the_answer_that_it_is_to_mend() -> None:
    played, verified = strictly(MIXED, f"Action: Finish[{GOOD}]", limits=Limits(max_tool_calls=1))
    assert played.asked[-1].messages[-2].content == MIXED
    assert (verified.status, codes(verified), verified.text) == ("partial", ["brake_count"], "满一年享有五天年假。[1]")


def test_flagging_is_the_other_mode() -> None:
    played = play([search("年假"), FOUND, MIXED], wording=EN)
    verified = finish(played.outcome, wording=EN)
    assert verified.text == "满一年享有五天年假。[1]满两年享有10天年假。[1]"
    assert [(one.markers, one.verdict) for one in verified.checks] == [((1,), "supported"), ((1,), "unsupported")]
    assert (verified.checks[1].problem or "").startswith("not in the cited text: ")


@pytest.mark.parametrize("ending", ["Refuse", "Clarify"])
def test_flagging_names_an_invented_fact_of_a_refusal_as_well(ending: str) -> None:
    played = play([search("年假"), FOUND, f"Action: {ending}[文档没有说明，不过退货率是 9.9%。]"], wording=ZH)
    verified = finish(played.outcome, wording=ZH)
    assert codes(verified) == ["uncited_claims"]
    assert "9.9%" in verified.limitations[0].text


def test_flagging_lists_what_has_no_source_and_no_figure_as_unchecked() -> None:
    played = play([search("年假"), FOUND, f"Action: Finish[{GOOD}李娜负责采购部。]"], wording=ZH)
    verified = finish(played.outcome, wording=ZH)
    assert [(one.sentence, one.verdict, one.markers) for one in verified.checks] == [
        ("满一年享有五天年假。", "supported", (1,)),
        ("李娜负责采购部。", "unchecked", ()),
    ]
    assert (verified.status, verified.limitations) == ("complete", ())
