"""The paths, each walked as a whole: what is asked, looked up, dropped, answered."""

import json

import pytest

from api.agent.decisions import Finish
from api.agent.paths.router import Reason
from api.agent.steps import Braked
from shared.telemetry import names
from shared.types.runs import Limits
from tests.promises import promise
from tests.unit.agent.finished import finish
from tests.unit.agent.paths.walking import events, held, purposes, seen, walked
from tests.unit.agent.playing import Scripted, fails, result, says, search
from tests.unit.agent.texts import ZH

LEAVE = seen(0, "员工工作满一年享有五天年假。")
SICK = seen(1, "病假最多十天，需提交医院证明。")
CAR = seen(2, "停车位按月租用。")


def as_json(**value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def ends(text: str) -> str:
    return f"Action: Finish[{text}]"


# --- direct


def test_a_direct_answer_looks_nothing_up_and_says_so() -> None:
    played = walked("direct", "你好", ["你好！可以就你的文档提问。"], reason="small_talk")
    assert played.called == ()
    assert purposes(played) == ["direct"]
    verified = finish(played.outcome, wording=ZH)
    assert (verified.status, verified.citations) == ("complete", ())
    assert [one.code for one in verified.limitations] == ["not_looked_up"]
    assert events(played, names.ROUTE) == [{"path": "direct", "reason": "small_talk", "forced": False}]


def test_a_direct_answer_can_not_cite() -> None:
    played = walked("direct", "年假有几天？", ["五天【来源：abcdefgh.v1#0】。"])
    verified = finish(played.outcome, wording=ZH)
    assert verified.citations == ()
    assert "abcdefgh" not in verified.text
    assert "citation_removed" in {one.code for one in verified.limitations}


@pytest.mark.parametrize(("question", "reply"), [("只用一个表情回答我", "👍"), ("“无穷”的符号怎么写？", "∞")])
def test_a_sign_may_be_all_that_a_direct_answer_is_asked_for(question: str, reply: str) -> None:
    assert finish(walked("direct", question, [reply]).outcome, wording=ZH).text == reply


@pytest.mark.parametrize("reply", ["", "……", "Action: Finish[", 'Action: search_blocks[{"query": "你好"}]'])
def test_a_direct_reply_that_is_no_answer_is_asked_for_once_more(reply: str) -> None:
    played = walked("direct", "你好", [reply, "你好！"], reason="small_talk")
    assert purposes(played) == ["direct", "direct"]
    assert finish(played.outcome, wording=ZH).text == "你好！"


# --- pipeline


@pytest.mark.parametrize("reply", ["", "👍", f"……【来源：{LEAVE.block_id}】", 'Action: search_blocks[{"query": "年假"'])
def test_the_pipelines_answer_is_asked_for_once_more_when_it_is_none(reply: str) -> None:
    script = [as_json(query="年假"), result(LEAVE), reply, ends(f"五天【来源：{LEAVE.block_id}】。")]
    played = walked("pipeline", "员工的年假有几天？", script)
    assert purposes(played) == ["rewrite", "search", "answer", "answer"]
    assert finish(played.outcome, wording=ZH).status == "complete"
    again = walked("pipeline", "员工的年假有几天？", [*script[:3], reply])
    assert (again.outcome.reason, finish(again.outcome, wording=ZH).status) == ("finalization_failed", "failed")


def test_the_pipeline_rewrites_searches_once_and_answers() -> None:
    script = [as_json(query="员工 年假 天数"), result(LEAVE), ends(f"五天【来源：{LEAVE.block_id}】。")]
    played = walked("pipeline", "请问员工的年假到底有几天？", script)
    assert purposes(played) == ["rewrite", "search", "answer"]
    assert [call.arguments for call in played.called] == [{"query": "员工 年假 天数"}]
    assert (played.outcome.reason, held(played)) == ("finished", [LEAVE.block_id])
    assert finish(played.outcome, wording=ZH).status == "complete"
    assert played.outcome.spent.model_calls == 2


def test_an_exact_identifier_is_searched_for_as_it_stands() -> None:
    block = seen(3, "错误代码 E-4021：油压过低。")
    played = walked("pipeline", "E-4021 是什么意思？", [result(block), ends(f"油压过低【来源：{block.block_id}】。")])
    assert purposes(played) == ["search", "answer"]
    assert played.called[0].arguments == {"query": "E-4021 是什么意思？"}


def test_a_rewriting_that_is_no_use_is_not_used() -> None:
    for reply in ("没有 JSON", as_json(query=""), as_json(query=["a"]), "<think>{"):
        played = walked("pipeline", "员工的年假有几天？", [reply, result(LEAVE), ends("五天。")])
        assert played.called[0].arguments == {"query": "员工的年假有几天？"}
        assert events(played, names.QUERY_TOOL) == [{"name": "rewrite", "used": False}]


@pytest.mark.parametrize(
    "reply",
    [
        '<think>先想 {"query": "错的"}</think>\n{"query": "年假 天数"}',
        '我想写 {"query": "错的"}。</thinking>\n```json\n{"query": "年假 天数"}\n```',
        '<|channel|>analysis<|message|>{"query": "错的"}<|end|><|channel|>final<|message|>{"query": "年假 天数"}',
        '{"query": "年假 天数"}<|im_end|>\n<|im_start|>user\n{"query": "错的"}',
    ],
)
def test_what_a_model_thinks_before_it_names_a_query_is_not_the_query(reply: str) -> None:
    played = walked("pipeline", "员工的年假有几天？", [reply, result(LEAVE), ends("五天。")])
    assert played.called[0].arguments == {"query": "年假 天数"}


def test_a_failing_rewriting_costs_and_is_done_without() -> None:
    played = walked("pipeline", "员工的年假有几天？", [fails("provider_timeout"), result(LEAVE), ends("五天。")])
    assert played.outcome.reason == "finished"
    assert played.outcome.spent.model_calls == 2


def test_what_is_ambiguous_is_looked_up_in_other_words_and_what_touches_nothing_goes() -> None:
    script = [
        as_json(query="餐补标准"),
        result(CAR),
        as_json(queries=["工作餐补贴", "伙食补助"]),
        result(seen(5, "工作餐每天补贴二十元。")),
        result(seen(5, "工作餐每天补贴二十元。"), SICK),
        ends("二十元【来源：abcdefgh.v1#5】。"),
    ]
    played = walked("pipeline", "工作餐的补贴标准是多少？", script)
    assert purposes(played) == ["rewrite", "search", "multi_query", "multi_query", "multi_query", "answer"]
    assert held(played) == ["abcdefgh.v1#5"]
    final = "\n".join(message.content for message in played.asked[-1].messages)
    assert "停车位" not in final
    assert "医院证明" not in final
    assert [one["verdict"] for one in events(played, names.SUFFICIENCY)] == ["ambiguous", "ambiguous"]


def test_what_was_dropped_may_be_looked_up_again() -> None:
    found = seen(3, "E-4021：油压过低。")
    script = [result(LEAVE), result(), result(found), ends(f"油压过低【来源：{found.block_id}】。")]
    played = walked("pipeline", "E-4021", script)
    assert [call.arguments for call in played.called] == [{"query": "E-4021"}, {"term": "E-4021"}, {"query": "E-4021"}]
    assert held(played) == [found.block_id]


def test_what_is_insufficient_goes_to_the_loop_with_nothing_of_it_left() -> None:
    block = seen(3, "错误代码 E-4021：油压过低。")
    played = walked(
        "pipeline",
        "E-4021 是什么意思？",
        [result(LEAVE), search("E-4021 油压"), result(block), ends(f"油压过低【来源：{block.block_id}】。")],
        reason="exact_identifier",
    )
    assert purposes(played) == ["search", "", ""]
    assert held(played) == [block.block_id]
    assert all("五天年假" not in message.content for ask in played.asked for message in ask.messages)
    assert [one["path"] for one in events(played, names.ROUTE)] == ["pipeline", "agent"]


def test_a_forced_pipeline_scans_for_the_name_itself_and_refuses_when_nothing_shows_it() -> None:
    script = [result(LEAVE), result(), result(CAR), "Action: Refuse[找过 E-4021，没有找到。]"]
    played = walked("pipeline", "E-4021 是什么意思？", script)
    assert [(call.tool, call.arguments) for call in played.called] == [
        ("search_blocks", {"query": "E-4021 是什么意思？"}),
        ("scan_term", {"term": "E-4021"}),
        ("search_blocks", {"query": "E-4021"}),
    ]
    assert (played.outcome.reason, held(played)) == ("refused", [])
    final = played.asked[-1].messages
    assert all("五天年假" not in message.content and "停车位" not in message.content for message in final)


def test_no_passage_is_imagined_for_an_exact_name() -> None:
    script = [result(), result(), result(), "Action: Refuse[没有找到。]"]
    assert "hyde" not in purposes(walked("pipeline", "E-4021 是什么意思？", script))
    script = [
        as_json(query="餐补"),
        result(),
        as_json(query="补贴"),
        as_json(passage="工作餐每天补贴若干元。"),
        result(),
        result(),
        "Action: Refuse[没有找到。]",
    ]
    assert {"hyde", "step_back"} <= set(purposes(walked("pipeline", "餐补有多少？", script)))


@promise("P4")
def test_a_result_that_does_not_fit_is_refused_whole_on_a_path_as_in_the_loop() -> None:
    played = walked(
        "pipeline",
        "E-4021？",
        [result(LEAVE, filler=20_000), "Action: Refuse[放不下。]"],
        limits=Limits(max_context_tokens=12_000),
    )
    assert held(played) == []
    assert [one.code for one in played.outcome.limitations] == ["context_budget_exceeded"]
    assert all("五天年假" not in message.content for message in played.asked[-1].messages)


# --- plan


PLAN = as_json(
    questions=[
        {"id": "a", "question": "泵站由谁负责？", "gives": ["姓名"]},
        {"id": "b", "question": "{a.姓名}的电话是多少？"},
    ]
)
KEEPER = seen(0, "泵站由王建国负责。", title="泵站")
PHONE = seen(1, "王建国的电话是 5521。", title="通讯录")


def test_a_later_part_takes_what_an_earlier_one_found() -> None:
    script = [
        PLAN,
        result(KEEPER),
        as_json(fields={"姓名": "王建国"}),
        result(PHONE),
        ends(f"泵站由王建国负责【来源：{KEEPER.block_id}】，电话 5521【来源：{PHONE.block_id}】。"),
    ]
    played = walked("plan", "泵站负责人的电话是多少？", script)
    assert purposes(played) == ["decompose", "search", "extract", "search", "answer"]
    assert [call.arguments["query"] for call in played.called] == ["泵站由谁负责？", "王建国的电话是多少？"]
    assert [entry.query for entry in played.outcome.ledger.entries] == ["泵站由谁负责？", "王建国的电话是多少？"]
    assert finish(played.outcome, wording=ZH).status == "complete"


@promise("P4")
def test_what_the_provider_could_not_take_in_is_withdrawn_though_something_else_was_asked_in_between() -> None:
    script = [PLAN, result(KEEPER), "没有 JSON", fails("provider_context_too_long"), "Action: Refuse[没有读到。]"]
    played = walked("plan", "泵站负责人的电话是多少？", script)
    assert purposes(played) == ["decompose", "search", "extract", "answer"]
    assert "context_budget_exceeded" in {one.code for one in played.outcome.limitations}
    assert (held(played), played.outcome.reason) == ([], "context_budget_exceeded")
    assert all("王建国" not in message.content for message in played.asked[-1].messages)


def test_a_value_that_no_block_shows_is_no_result_and_its_part_is_told_as_not_covered() -> None:
    played = walked(
        "plan",
        "泵站负责人的电话是多少？",
        [
            PLAN,
            result(KEEPER),
            as_json(fields={"姓名": "李四"}),
            ends(f"泵站由王建国负责【来源：{KEEPER.block_id}】。"),
        ],
    )
    assert [call.arguments["query"] for call in played.called] == ["泵站由谁负责？"]
    assert "{a.姓名}的电话是多少？" in played.asked[-1].messages[-1].content
    verified = finish(played.outcome, wording=ZH)
    assert "plan_uncovered" in {one.code for one in verified.limitations}
    assert verified.status == "partial"


def test_a_plan_may_be_mended_once_and_else_the_loop_takes_over() -> None:
    circle = as_json(
        questions=[
            {"id": "a", "question": "{b.x}？", "gives": ["x"]},
            {"id": "b", "question": "{a.x}？", "gives": ["x"]},
        ]
    )
    played = walked("plan", "年假和病假哪个更长？", [circle, circle, search("年假"), result(LEAVE), ends("病假。")])
    assert purposes(played) == ["decompose", "decompose", "", ""]
    assert events(played, names.PLAN_REFUSED) == [{"fault": "cycle"}, {"fault": "cycle"}]
    assert "互相依赖：a, b" in played.asked[1].messages[-1].content
    assert [one["path"] for one in events(played, names.ROUTE)] == ["plan", "agent"]


def test_parts_share_their_evidence_and_none_drops_the_others() -> None:
    parts = as_json(questions=[{"id": "a", "question": "员工年假有几天？"}, {"id": "b", "question": "E-9 是什么？"}])
    played = walked(
        "plan",
        "员工年假有几天？E-9 是什么？",
        [parts, result(LEAVE), result(LEAVE, CAR), result(), result(), ends(f"年假五天【来源：{LEAVE.block_id}】。")],
    )
    assert held(played) == [LEAVE.block_id]
    final = "\n".join(message.content for message in played.asked[-1].messages)
    assert "停车位" not in final
    assert '- "E-9 是什么？"' in final


PARTS = as_json(
    questions=[
        {"id": "a", "question": "员工年假有几天？", "gives": ["天数"]},
        {"id": "b", "question": "病假最多几天？"},
        {"id": "c", "question": "比{a.天数}更长的假有哪些？"},
    ]
)


@pytest.mark.parametrize(
    ("limits", "brake", "said"),
    [
        (Limits(max_tool_calls=1), "brake_count", [result(LEAVE), as_json(fields={"天数": "五天"})]),
        (Limits(max_wall_seconds=10), "brake_time", [result(LEAVE), says(as_json(fields={}), elapsed_ms=9_000)]),
    ],
)
def test_a_plan_that_is_braked_says_so_and_which_parts_it_was_not_done_with(
    limits: Limits, brake: str, said: list[Scripted]
) -> None:
    script = [PARTS, *said, ends(f"年假五天【来源：{LEAVE.block_id}】。")]
    played = walked("plan", "员工年假有几天？病假最多几天？", script, limits=limits)
    assert [note.kind for note in played.notes if isinstance(note, Braked)] == [brake]
    assert played.outcome.reason == brake
    verified = finish(played.outcome, wording=ZH)
    assert (verified.status, [one.code for one in verified.limitations]) == ("partial", [brake, "plan_unlooked"])
    assert "2 个部分没有查完" in verified.limitations[1].text
    assert '- "病假最多几天？"' in played.asked[-1].messages[-1].content


@pytest.mark.parametrize("reason", ["forced", "exact_identifier"])
def test_a_look_up_that_is_not_made_for_want_of_calls_is_told(reason: Reason) -> None:
    script = [result(CAR), "Action: Refuse[没有找到 E-4021。]"]
    played = walked("pipeline", "E-4021 是什么意思？", script, limits=Limits(max_tool_calls=1), reason=reason)
    assert "brake_count" in {note.kind for note in played.notes if isinstance(note, Braked)}
    assert "brake_count" in {one.code for one in played.outcome.limitations}


def test_an_answer_of_a_pipeline_that_was_cut_short_is_partial_and_says_why() -> None:
    paid = seen(5, "员工补贴每天二十元。")
    script = ["不改写", result(paid), ends(f"员工补贴每天二十元【来源：{paid.block_id}】。")]
    played = walked("pipeline", "工作餐的补贴标准是多少？", script, limits=Limits(max_tool_calls=1))
    verified = finish(played.outcome, wording=ZH)
    assert [one["verdict"] for one in events(played, names.SUFFICIENCY)] == ["ambiguous", "ambiguous"]
    assert (verified.status, verified.reason, len(verified.citations)) == ("partial", "brake_count", 1)
    assert "检索提前结束" in played.asked[-1].messages[-1].content


def test_a_quarter_spelled_otherwise_keeps_its_evidence() -> None:
    returns = seen(7, "第三季度的退货率是 3.2%。")
    text = f"第三季度的退货率是 3.2%。【来源：{returns.block_id}】"
    played = walked("pipeline", "Q3 的退货率是多少？", ["不改写", result(returns), ends(text)])
    verified = finish(played.outcome, wording=ZH)
    assert held(played) == [returns.block_id]
    assert (verified.status, [one.verdict for one in verified.citations]) == ("complete", ["supported"])


# --- verify


def answered(text: str) -> list[Scripted]:
    return [search("假期"), result(LEAVE, SICK), ends(text)]


def test_every_claim_is_looked_up_again_and_what_is_contradicted_goes() -> None:
    text = f"员工工作满一年享有五天年假【来源：{LEAVE.block_id}】。病假不需要医院证明【来源：{SICK.block_id}】。"
    script = [*answered(text), result(LEAVE), result(SICK), as_json(verdicts={"1": "supported", "2": "supported"})]
    checked = {"1": "supported", "2": "contradicted"}
    for number in ("1", "2"):  # claims that words doubt come first
        played = walked("verify", "假期怎么规定？", [*script[:-1], as_json(verdicts={number: "contradicted"})])
        assert purposes(played) == ["", "", "check", "check", "check"]
    played = walked("verify", "假期怎么规定？", [*script[:-1], as_json(verdicts=checked)])
    assert isinstance(played.outcome.ending, Finish)
    assert len(played.called) == 3
    assert "claims_dropped" in {one.code for one in played.outcome.limitations}
    assert finish(played.outcome, wording=ZH).status == "partial"


def test_what_neither_the_model_nor_words_find_shown_goes_and_what_words_show_stays() -> None:
    text = f"员工工作满一年享有五天年假【来源：{LEAVE.block_id}】。年假可以累积到来年【来源：{LEAVE.block_id}】。"
    script = [*answered(text), result(LEAVE), result(LEAVE), as_json(verdicts={"1": "not_shown", "2": "not_shown"})]
    played = walked("verify", "年假怎么规定？", script)
    assert isinstance(played.outcome.ending, Finish)
    assert "五天年假" in played.outcome.ending.text
    assert "累积" not in played.outcome.ending.text
    assert [one.code for one in played.outcome.limitations] == ["claims_dropped"]


def test_an_answer_of_which_nothing_holds_becomes_a_refusal() -> None:
    text = f"员工享有九十九天年假【来源：{LEAVE.block_id}】。"
    played = walked("verify", "年假有几天？", [*answered(text), result(LEAVE), as_json(verdicts={"1": "contradicted"})])
    verified = finish(played.outcome, wording=ZH)
    assert (verified.status, played.outcome.reason) == ("refused", "unsupported")
    assert "九十九" not in verified.text


def test_without_a_second_opinion_words_decide() -> None:
    text = f"员工享有九十九天年假【来源：{LEAVE.block_id}】。员工工作满一年享有五天年假【来源：{LEAVE.block_id}】。"
    script = [*answered(text), result(LEAVE), result(LEAVE), fails("provider_auth")]
    played = walked("verify", "年假有几天？", script)
    assert isinstance(played.outcome.ending, Finish)
    assert "九十九" not in played.outcome.ending.text
    assert "五天年假" in played.outcome.ending.text
    verified = finish(played.outcome, wording=ZH)
    assert (verified.status, "2 句话" in verified.limitations[0].text) == ("partial", True)


@pytest.mark.parametrize("reply", ["都对。", as_json(verdicts={"7": "supported"}), as_json(verdicts={"1": "fine"})])
def test_a_verdict_that_cannot_be_had_makes_the_answer_partial(reply: str) -> None:
    text = f"员工工作满一年享有五天年假【来源：{LEAVE.block_id}】。"
    verified = finish(walked("verify", "年假有几天？", [*answered(text), result(LEAVE), reply]).outcome, wording=ZH)
    assert (verified.status, [one.code for one in verified.limitations]) == ("partial", ["claims_unchecked"])


def test_claims_that_no_call_is_left_for_are_counted() -> None:
    text = "".join(f"员工工作满{n}年享有五天年假【来源：{LEAVE.block_id}】。" for n in (1, 2, 3))
    script = [*answered(text), result(LEAVE), result(LEAVE), as_json(verdicts={"1": "supported", "2": "supported"})]
    played = walked("verify", "年假有几天？", script, limits=Limits(max_tool_calls=3))
    assert [one.code for one in played.outcome.limitations] == ["brake_count", "claims_unchecked"]
    assert finish(played.outcome, wording=ZH).status == "partial"
    assert played.outcome.spent.tool_calls == 3


# --- follow-ups


def test_a_question_that_leans_is_put_into_words_first_and_the_model_is_told_both() -> None:
    played = walked(
        "agent",
        "那病假呢？",
        [as_json(question="病假最多有几天？"), search("病假"), result(SICK), ends(f"十天【来源：{SICK.block_id}】。")],
        plain="病假有几天？",
    )
    assert purposes(played) == ["standalone", "", ""]
    task = played.asked[1].messages[1].content
    assert "问题：那病假呢？" in task
    assert "病假最多有几天？" in task


@pytest.mark.parametrize(
    ("question", "said", "kept"),
    [
        ("那 E-4021 呢？", "这个错误代码是什么意思？", False),
        ("那“热备”呢？", "数据库的备份方式有哪些？", False),
        ("And what about err_timeout_42?", "What does ERR_TIMEOUT_42 mean on the pump?", True),
    ],
)
def test_words_for_a_follow_up_that_lost_an_exact_name_are_not_used(question: str, said: str, kept: bool) -> None:
    played = walked("agent", question, [as_json(question=said), "Action: Refuse[没有]"], plain=f"泵 {question}")
    task = played.asked[1].messages[1].content
    assert ((said in task), (f"泵 {question}" in task)) == (kept, not kept)


def test_where_no_words_come_the_first_guess_is_used() -> None:
    played = walked("agent", "那病假呢？", ["…", "Action: Refuse[没有]"], plain="病假有几天？")
    assert "病假有几天？" in played.asked[1].messages[1].content


def test_a_question_that_stands_alone_is_asked_as_it_is() -> None:
    played = walked("agent", "年假有几天？", [says("Action: Refuse[没有]")], reason="question")
    assert purposes(played) == [""]
