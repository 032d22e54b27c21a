"""A model's window smaller than our limit: what no provider took is withdrawn, the run finalizes, and the window is learned."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from shared.llm.scripted import ScriptedChat
from shared.types.events import ToolResulted
from shared.types.runs import Limits
from tests.contract.agent.asking import SEARCH, ask, ask_provider
from tests.contract.tools.world import World
from tests.doubles.provider import Call, Fault, Provider, Say

RECORDED = Path(__file__).parents[1] / "llm" / "recorded"


def context_errors() -> list[Any]:
    found: list[Any] = []
    for path in sorted(RECORDED.glob("*.json")):
        for case in json.loads(path.read_text())["errors"]:
            if case["expect"]["code"] == "provider_context_too_long":
                found.append(pytest.param(case, id=f"{path.stem}: {case['name']}"))
    return found


def refusing(case: dict[str, Any], window: int) -> Fault:
    """The provider's own words, with another figure for the window: the first call was taken, so it can't be tiny."""
    body = json.dumps(case["body"], ensure_ascii=False)
    told = case["expect"]["window_tokens"]
    if told is not None:
        body = body.replace(f"{told:,}", str(told)).replace(str(told), str(window))
    return Fault(status=case["status"], body=body)


@pytest.mark.parametrize("case", context_errors())
def test_every_providers_refusal_of_a_long_prompt_withdraws_what_it_never_read(
    world: World, provider: Provider, case: dict[str, Any]
) -> None:
    provider.script(SEARCH, refusing(case, 16_384), "Action: Refuse[材料太长，无法读取。]")
    asked = ask_provider(world, provider)
    assert (asked.answer.status, asked.answer.termination_reason) == ("refused", "context_budget_exceeded")
    assert asked.record.ledger == ()
    assert "五天" not in provider.requests[-1].body["messages"][-1]["content"]
    assert [result.admitted for result in asked.of(ToolResulted)] == [True, False]
    learned = ["provider_window"] if case["expect"]["window_tokens"] else []
    assert asked.codes() == [*learned, "context_budget_exceeded"]
    if learned:
        assert "16384" in asked.answer.limitations[0].text


def test_the_observation_is_withdrawn_from_its_call_in_the_native_protocol(world: World, provider: Provider) -> None:
    call = Say(calls=(Call(name="search_blocks", arguments='{"query": "年假"}'),))
    refusal = Say(calls=(Call(name="refuse", arguments='{"reason": "材料太长，无法读取。"}'),))
    provider.script(call, Fault(status=400, code="context_length_exceeded"), refusal)
    asked = ask_provider(world, provider, protocol="tools")
    assert (asked.answer.status, asked.answer.termination_reason) == ("refused", "context_budget_exceeded")
    called, observed, final = provider.requests[-1].body["messages"][2:]
    assert observed["tool_call_id"] == called["tool_calls"][0]["id"]
    assert json.loads(observed["content"])["harness_status"] == "context_budget_exceeded"
    assert final["role"] == "user"


def test_a_window_that_was_learned_bounds_the_next_run_from_its_start(world: World) -> None:
    chat = ScriptedChat([SEARCH, "Action: Refuse[没有]"])
    chat.window_tokens = 8_192
    asked = ask(world, chat=chat)
    assert asked.answer.manifest is not None
    expected = msgspec.structs.replace(Limits(), max_context_tokens=6_844, finalization_reserve_tokens=2_048)
    assert asked.answer.manifest.limits == expected
    assert {request.max_output_tokens for request in chat.requests} == {1_348}


def test_a_window_too_small_for_the_question_ends_the_run_with_the_remedy(world: World, provider: Provider) -> None:
    provider.script(Fault(status=400, message="This model's maximum context length is 2048 tokens."))
    asked = ask_provider(world, provider)
    assert (asked.answer.status, asked.answer.termination_reason) == ("failed", "provider_context_too_long")
    assert asked.codes() == ["provider_window"]
