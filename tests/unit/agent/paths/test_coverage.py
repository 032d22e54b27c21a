"""A plan answers the whole question: what the question itself names is looked for, whatever the model's parts leave out."""

import json

import pytest

from api.agent.steps import AskModel, CallTool, Event
from api.tools.contract import SeenBlock
from shared.telemetry import names
from tests.unit.agent.finished import finish
from tests.unit.agent.paths.walking import events, purposes, seen, walked
from tests.unit.agent.playing import Played, Reaction, Scripted, fails, result, returns, says
from tests.unit.agent.texts import ZH

LOG = " ".join(f"2026-11-{day}T19:44:03Z err_{day}" for day in range(10, 20))
QUESTION = "ZX-9、ZX-10 和 ZX-11 的拧紧力矩有什么区别？"
TORQUES = {name: seen(n, f"{name} 的拧紧力矩为{n}牛·米。") for n, name in enumerate(("ZX-9", "ZX-10", "ZX-11"), 20)}


def parts(*questions: str) -> str:
    listed = [{"id": f"q{n}", "question": text} for n, text in enumerate(questions)]
    return json.dumps({"questions": listed}, ensure_ascii=False)


def torque_of(*named: str) -> str:
    return parts(*(f"{name} 的拧紧力矩是多少？" for name in named))


def told(*named: str) -> str:
    said = "".join(f"{TORQUES[name].seen[:-1]}【来源：{TORQUES[name].block_id}】。" for name in named)
    return f"Action: Finish[{said}]"


def planned(*script: Scripted, question: str = QUESTION) -> Played:
    return walked("plan", question, list(script))


def finding(plan: str, *blocks: SeenBlock) -> Reaction:
    """This plan whenever one is asked for, these blocks for every look-up, and no words besides."""

    def react(effect: AskModel | CallTool) -> Event:
        if isinstance(effect, CallTool):
            return returns(result(*blocks))
        if effect.final:
            return says("Action: Refuse[没有]")
        return says(plan if "子问题" in effect.messages[-1].content else "…")

    return react


def looked_for(played: Played) -> list[object]:
    return [next(iter(call.arguments.values())) for call in played.called]


def test_a_plan_that_leaves_out_a_name_is_refused_once_and_told_which() -> None:
    everything = [result(block) for block in TORQUES.values()]
    played = planned(torque_of("ZX-9", "ZX-10"), torque_of("ZX-9", "ZX-10", "ZX-11"), *everything, told(*TORQUES))
    assert '没有子问题提到 "ZX-11"' in played.asked[1].messages[-1].content
    assert events(played, names.PLAN_REFUSED) == [{"fault": "names_missing"}]
    assert looked_for(played) == [f"{name} 的拧紧力矩是多少？" for name in TORQUES]
    assert finish(played.outcome, wording=ZH).status == "complete"


@pytest.mark.parametrize(
    "again",
    [
        torque_of("ZX-9", "ZX-10"),
        "没有 JSON",
        json.dumps({"questions": []}),
        fails("provider_auth"),
    ],
    ids=["left out again", "no plan", "a faulty plan", "no reply"],
)
def test_a_name_that_the_plan_still_leaves_out_is_looked_for_all_the_same(again: Scripted) -> None:
    everything = [result(block) for block in TORQUES.values()]
    played = planned(torque_of("ZX-9", "ZX-10"), again, *everything, told(*TORQUES))
    assert looked_for(played) == ["ZX-9 的拧紧力矩是多少？", "ZX-10 的拧紧力矩是多少？", "ZX-11"]
    assert finish(played.outcome, wording=ZH).status == "complete"


def test_a_name_that_nothing_is_found_for_is_told_and_the_answer_is_partial() -> None:
    nine, ten = (result(TORQUES[name]) for name in ("ZX-9", "ZX-10"))
    misspelled = torque_of("ZX-9", "ZX-10")
    played = planned(misspelled, misspelled, nine, ten, result(), result(), told("ZX-9", "ZX-10"))
    assert "ZX-11" in played.asked[-1].messages[-1].content.splitlines()[-1]
    verified = finish(played.outcome, wording=ZH)
    assert (verified.status, [one.code for one in verified.limitations]) == ("partial", ["plan_uncovered"])
    assert "ZX-11" in verified.limitations[0].text


def test_a_quoted_word_is_a_name_of_the_question_as_well() -> None:
    hot, cold = seen(1, "热备随时接管。"), seen(2, "冷备需要恢复数据。")
    plan = parts("热备是什么？", "数据如何恢复？")
    script = [
        plan,
        plan,
        result(hot),
        result(cold),
        result(cold),
        f"Action: Finish[冷备需要恢复数据【来源：{cold.block_id}】。]",
    ]
    played = planned(*script, question="“热备”和“冷备”有什么区别？")
    assert looked_for(played) == ["热备是什么？", "数据如何恢复？", "冷备"]


@pytest.mark.parametrize(
    ("question", "plan"),
    [
        ("ZX-9 和 ZX-10 的力矩有什么区别？", parts("zx9 的力矩是多少？", "ZX 10 的力矩是多少？")),
        ("《员工手册》里的“年假”和“病假”各几天？", parts("员工手册的年假有几天？", "员工手册的病假有几天？")),
        ("How do the plan's price and the tools' cost compare?", parts("What is the price?", "What is the cost?")),
        (
            'Is the "Classic," or the "Standard" heavier?',
            parts("How heavy is the Classic?", "How heavy is the Standard?"),
        ),
        ("“热备。”和“冷备？”有什么区别？", parts("热备是什么？", "冷备是什么？")),
        ("Did the 1st or the 2nd edition sell better?", parts("Sales of the first edition?", "Sales of edition two?")),
        ("How does Q3 2023 compare with FY2022?", parts("Revenue in the third quarter of 2023?", "Revenue in 2022?")),
        (f"下面的日志里两处报错有什么区别？{LOG}", parts("第一处报错是什么？", "第二处报错是什么？")),
        ("年假和病假哪个更长？", parts("年假有几天？", "病假有几天？")),
    ],
)
def test_a_plan_that_names_all_in_its_own_spelling_costs_no_second_one(question: str, plan: str) -> None:
    played = walked("plan", question, finding(plan))
    assert purposes(played).count("decompose") == 1
    assert events(played, names.PLAN_REFUSED) == []


def test_braces_in_a_name_of_the_question_take_nothing_from_other_parts() -> None:
    plan = parts("模板是什么？", "变量是什么？")
    played = walked("plan", "“{a.x}”和模板有什么区别？", finding(plan, seen(1, "写作 {a.x} 即可。")))
    assert "{a.x}" in looked_for(played)
