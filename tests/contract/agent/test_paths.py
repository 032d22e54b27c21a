"""Paths on a published library: what manifest and trace tell of them, over real tools."""

import json

import pytest

from shared.errors import InvalidArgument
from shared.llm.scripted import ScriptedChat
from shared.telemetry import names
from shared.types.events import TurnStarted
from shared.types.runs import PathName
from tests.contract.agent.asking import QUESTION, SEARCH, ask
from tests.contract.tools.world import World, recorded_spans


def test_manifest_and_trace_tell_the_path_its_reason_and_what_each_turn_was_for(world: World) -> None:
    chat = ScriptedChat(
        [json.dumps({"query": "满一年 年假"}), "Action: Finish[满一年享有五天年假。【来源：{{block_id}}】]"]
    )
    with recorded_spans() as spans:
        asked = ask(world, chat=chat, path="pipeline")
    assert asked.answer.manifest is not None
    assert (asked.answer.manifest.path, asked.answer.manifest.path_reason) == ("pipeline", "forced")
    turns = [span for span in spans if span.name == names.TURN]
    purposes = [(span.attributes or {}).get(names.TURN_PURPOSE) for span in turns]
    assert purposes == [event.purpose for event in asked.of(TurnStarted)]
    assert purposes[:2] == ["rewrite", "search"]
    (route,) = [event for event in spans[-1].events if event.name == names.ROUTE]
    assert dict(route.attributes or {}) == {"path": "pipeline", "reason": "forced", "forced": True}
    judged = [event for span in turns for event in span.events if event.name == names.SUFFICIENCY]
    assert {"verdict", "coverage", "blocks"} <= set(judged[0].attributes or {})


def test_small_talk_costs_one_call_and_no_look_up(world: World) -> None:
    asked = ask(world, "你好！", chat=ScriptedChat(["你好！请就文档提问。"]))
    assert (asked.answer.status, asked.answer.usage.tool_calls, asked.answer.usage.model_calls) == ("complete", 0, 1)
    assert asked.codes() == ["not_looked_up"]


def test_an_answer_that_states_facts_without_looking_them_up_is_partial(world: World) -> None:
    asked = ask(world, chat=ScriptedChat(["The torque is 25 Nm."]), path="direct", citation_mode="strict")
    assert (asked.answer.status, asked.codes()) == ("partial", ["not_looked_up", "uncited_claims"])


def test_strict_answers_rest_on_documents_so_even_small_talk_goes_to_the_loop(world: World) -> None:
    asked = ask(world, "你好！", chat=ScriptedChat(["Action: Refuse[没有可查的问题。]"]), citation_mode="strict")
    assert asked.answer.manifest is not None
    assert (asked.answer.manifest.path, asked.answer.manifest.path_reason) == ("agent", "question")


@pytest.mark.parametrize(("path", "calls"), [("agent", 8), ("verify", 4)])
def test_the_rules_as_sent_name_the_calls_that_the_loop_has(world: World, path: PathName, calls: int) -> None:
    chat = ScriptedChat(["Action: Refuse[没有找到。]"])
    ask(world, chat=chat, path=path)
    assert f"最多调用工具 {calls} 次" in chat.requests[0].messages[0].content


def test_a_strict_answer_that_must_be_right_is_mended_first_and_looked_up_again_last(world: World) -> None:
    held = "满一年享有五天年假。【来源：{{block_id}}】"
    script = [SEARCH, f"Action: Finish[{held}公司对员工一向很好。]", f"Action: Finish[{held}]"]
    chat = ScriptedChat([*script, json.dumps({"verdicts": {"1": "contradicted"}})])
    asked = ask(world, chat=chat, path="verify", citation_mode="strict")
    assert [event.purpose for event in asked.of(TurnStarted)] == ["", "", "", "check", "check"]
    assert (asked.answer.status, asked.answer.termination_reason) == ("refused", "unsupported")
    assert "五天" not in asked.answer.text


@pytest.mark.parametrize("path", ["direct", "pipeline", "plan", "verify"])
def test_without_a_model_a_path_that_needs_one_is_refused_before_anything_is_told(world: World, path: PathName) -> None:
    with pytest.raises(InvalidArgument) as caught:
        ask(world, path=path)
    assert caught.value.field == "path"


def test_without_a_model_the_question_is_answered_as_ever(world: World) -> None:
    manifest = ask(world, QUESTION).answer.manifest
    assert manifest is not None
    assert (manifest.path, manifest.path_reason) == ("agent", "no_model")
