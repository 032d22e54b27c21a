"""The same runs, said in native function calls, over real HTTP: same observations, budget, citations and trace."""

import json

import pytest

from api.tools.registry import DESCRIPTORS
from shared.llm.port import ChatReply, FunctionCall
from shared.llm.scripted import ScriptedChat
from shared.text.tokens import count_tokens
from shared.types.events import RunFailed, Thought, ToolCalled, ToolResulted
from shared.types.runs import Limits, PathName
from tests.contract.agent.asking import FINISH, QUESTION, SEARCH, Asked, ask, ask_provider
from tests.contract.tools.world import World, attributes, recorded_spans
from tests.doubles.provider import Call, Fault, Provider, Reply, Say
from tests.promises import promise

QUERY = '{"query": "满一年 年假"}'
CALL = Say(text="先查。", calls=(Call(name="search_blocks", arguments=QUERY),))
ANSWER = "满一年享有五天年假。【来源：{{block_id}}】"


def native(world: World, provider: Provider, *replies: Reply | str, limits: Limits | None = None) -> Asked:
    provider.script(*replies)
    return ask_provider(world, provider, protocol="tools", limits=limits or Limits())


def told(asked: Asked) -> list[tuple[str, ...]]:
    lines: list[tuple[str, ...]] = []
    for event in asked.events:
        match event:
            case Thought(text=text):
                lines.append((text,))
            case ToolCalled(tool=tool, arguments=arguments):
                lines.append((tool, arguments))
            case ToolResulted(tool=tool, harness_status=status, summary=summary):
                lines.append((tool, status, summary))
            case _:
                continue
    return lines


def test_a_run_says_and_costs_the_same_in_both_protocols(world: World, provider: Provider) -> None:
    asked = native(world, provider, CALL, ANSWER)
    provider.script(SEARCH, FINISH)
    in_text = ask_provider(world, provider)
    assert asked.answer.text == in_text.answer.text == "满一年享有五天年假。[1]"
    assert asked.answer.citations == in_text.answer.citations
    assert (asked.answer.status, asked.answer.termination_reason) == ("complete", "finished")
    assert [(entry.block_id, entry.query) for entry in asked.record.ledger] == [
        (entry.block_id, entry.query) for entry in in_text.record.ledger
    ]
    assert told(asked) == told(in_text)[:-1]  # an answer in text comes without a thought
    assert asked.answer.manifest is not None
    assert asked.answer.manifest.protocol == "tools"


def test_the_provider_gets_functions_and_observations_as_answers_to_calls(world: World, provider: Provider) -> None:
    with recorded_spans() as spans:
        native(world, provider, CALL, ANSWER)
    first, second = (request.body for request in provider.requests)
    names = [tool["function"]["name"] for tool in first["tools"]]
    assert names == [*(one.name for one in DESCRIPTORS), "refuse", "clarify"]
    assert first["parallel_tool_calls"] is False
    assert [message["role"] for message in second["messages"]] == ["system", "user", "assistant", "tool"]
    called, observed = second["messages"][2:]
    assert called["tool_calls"] == [
        {
            "id": "call_1",
            "type": "function",
            "function": {"name": "search_blocks", "arguments": '{"query":"满一年 年假"}'},
        }
    ]
    assert (called["content"], observed["tool_call_id"]) == ("先查。", "call_1")
    observation = json.loads(observed["content"])
    assert (observation["harness_status"], observation["tool"]) == ("ok", "search_blocks")
    chats = [attributes(span) for span in spans if span.name == "chat m-1"]
    assert all("citebound.artifact.functions.sha256" in chat for chat in chats)
    assert "citebound.artifact.calls.sha256" in chats[0]


def test_of_parallel_calls_one_is_made_and_the_model_is_told(world: World, provider: Provider) -> None:
    both = Say(
        calls=(
            Call(name="search_blocks", arguments=QUERY),
            Call(name="scan_term", arguments='{"term": "年假"}', call_id="call_2"),
        )
    )
    asked = native(world, provider, both, ANSWER)
    assert [called.tool for called in asked.of(ToolCalled)] == ["search_blocks"]
    called, observed = provider.requests[1].body["messages"][2:]
    assert [call["id"] for call in called["tool_calls"]] == ["call_1"]
    assert json.loads(observed["content"])["message"] == (
        "一次只执行一个调用：回复中的另外 1 个没有执行。仍然需要的话，下一次再调用。"
    )


def test_arguments_that_are_no_json_are_a_protocol_error_in_an_answer_to_the_call(
    world: World, provider: Provider
) -> None:
    broken = Say(calls=(Call(name="search_blocks", arguments='{"query": "年假', call_id="call_7"),))
    asked = native(world, provider, broken, CALL, ANSWER)
    assert asked.answer.status == "complete"
    called, observed = provider.requests[1].body["messages"][2:]
    assert called["tool_calls"][0]["function"] == {"name": "search_blocks", "arguments": "{}"}
    assert observed["tool_call_id"] == "call_7"
    assert json.loads(observed["content"])["harness_status"] == "protocol_error"


@pytest.mark.parametrize(
    ("replies", "status"),
    [
        ((Say(calls=(Call(name="refuse", arguments='{"reason": "查过年假，没有写到。"}'),)),), "refused"),
        ((Say(calls=(Call(name="clarify", arguments='{"question": "哪一年？"}'),)),), "clarification"),
        (("文档没有写到。", Say(calls=(Call(name="refuse", arguments='{"reason": "没有写到。"}'),))), "refused"),
        (("你好！", "你好！"), "partial"),
    ],
)
def test_every_way_to_end_has_its_status(
    world: World, provider: Provider, replies: tuple[Reply | str, ...], status: str
) -> None:
    assert native(world, provider, *replies).answer.status == status


REFUSE = Say(calls=(Call(name="refuse", arguments='{"reason": "查过年假，没有写到。"}'),))


@pytest.mark.parametrize(
    ("path", "replies", "status"),
    [
        ("pipeline", ("{}", ANSWER), "complete"),
        ("pipeline", ("{}", REFUSE), "refused"),
        ("direct", ("你好！",), "complete"),
        ("direct", (REFUSE,), "refused"),
    ],
)
def test_paths_that_are_not_the_loop_end_in_the_same_protocol(
    world: World, provider: Provider, path: PathName, replies: tuple[Reply | str, ...], status: str
) -> None:
    provider.script(*replies)
    asked = ask_provider(world, provider, protocol="tools", path=path)
    assert asked.answer.status == status
    body = provider.requests[-1].body
    assert [tool["function"]["name"] for tool in body["tools"]] == ["refuse", "clarify"]
    assert "Action: Refuse" not in str(body["messages"])


@promise("P4")
def test_the_final_turn_offers_no_tool(world: World, provider: Provider) -> None:
    asked = native(world, provider, CALL, ANSWER, limits=Limits(max_tool_calls=1))
    assert (asked.answer.status, asked.answer.termination_reason) == ("partial", "brake_count")
    offered = [tool["function"]["name"] for tool in provider.requests[-1].body["tools"]]
    assert offered == ["refuse", "clarify"]
    assert asked.codes() == ["brake_count"]  # fewer functions are no prompt that was cut


def test_functions_count_before_the_first_call(world: World) -> None:
    limits = Limits(max_context_tokens=3_000, finalization_reserve_tokens=800)
    asked = ask(world, chat=ScriptedChat(), protocol="tools", limits=limits)
    assert asked.answer.termination_reason == "context_budget_exceeded"
    wider = Limits(max_context_tokens=8_000, finalization_reserve_tokens=800)
    chat = ScriptedChat([_refusal()])
    assert ask(world, chat=chat, protocol="tools", limits=wider).answer.status == "refused"
    system, task = (count_tokens(message.content) for message in chat.requests[0].messages)
    assert system + task < 2_200  # so that it was the functions that didn't fit


def test_a_model_without_function_calls_ends_the_run_with_the_remedy(world: World, provider: Provider) -> None:
    body = json.dumps(
        {"error": {"message": "registry.ollama.ai/library/gemma:2b does not support tools", "type": "api_error"}}
    )
    asked = native(world, provider, Fault(status=400, body=body))
    assert [failed.code for failed in asked.of(RunFailed)] == ["provider_no_tools"]
    assert "protocol" in asked.answer.text


def test_the_built_in_answerer_speaks_its_own_protocol(world: World) -> None:
    answer = ask(world, QUESTION, protocol="tools").answer
    assert answer.manifest is not None
    assert (answer.status, answer.manifest.protocol) == ("complete", "react")


def _refusal() -> ChatReply:
    call = FunctionCall(call_id="call_1", name="refuse", arguments='{"reason": "没有"}')
    return ChatReply(text="", reasoning="", usage=None, finish_reason="tool_calls", model="model", calls=(call,))
