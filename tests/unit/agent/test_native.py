"""The native protocol: one decision from a reply with function calls."""

from typing import Any

import msgspec
import pytest
from msgspec import Struct

from api.agent.decisions import Decision, Finish, ProtocolError, ToolAction
from api.agent.native import decide, decide_last
from shared.llm.port import FunctionCall
from tests.unit.agent.playing import TOOLS

ID = "abcdefgh.v1#3"


class Case(Struct, frozen=True):
    name: str
    expected: tuple[Any, ...]
    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    cut: bool = False
    asked_before: bool = False


QUERY = '{"query": "年假天数"}'
SEARCH = ("tool", "search_blocks", {"query": "年假天数"})
CASES = (
    Case("a call", SEARCH, calls=(("search_blocks", QUERY),)),
    Case("a call after a sentence", SEARCH, text="先查年假。", calls=(("search_blocks", QUERY),)),
    Case("no arguments", ("tool", "list_documents", {}), calls=(("list_documents", ""),)),
    Case("null arguments", ("tool", "list_documents", {}), calls=(("list_documents", "null"),)),
    Case("prefixed name", SEARCH, calls=(("functions.search_blocks:0", QUERY),)),
    Case("name with blanks", SEARCH, calls=((" search_blocks\n", QUERY),)),
    Case("trailing comma", SEARCH, calls=(("search_blocks", '{"query": "年假天数",}'),)),
    Case("single quotes", SEARCH, calls=(("search_blocks", "{'query': '年假天数'}"),)),
    Case("fenced arguments", SEARCH, calls=(("search_blocks", f"```json\n{QUERY}\n```"),)),
    Case("encoded twice", SEARCH, calls=(("search_blocks", msgspec.json.encode(QUERY).decode()),)),
    Case("brace too many", SEARCH, calls=(("search_blocks", QUERY + "}"),)),
    Case("unclosed", SEARCH, calls=(("search_blocks", '{"query": "年假天数"'),)),
    Case("parallel calls", SEARCH, calls=(("search_blocks", QUERY), ("scan_term", '{"term": "五天"}'))),
    Case("an ending beside a tool", SEARCH, calls=(("refuse", '{"reason": "没有"}'), ("search_blocks", QUERY))),
    Case("unknown tool", ("tool", "web_search", {"q": "a"}), calls=(("web_search", '{"q": "a"}'),)),
    Case("refuse", ("refusal", "查过，没有。"), calls=(("refuse", '{"reason": "查过，没有。"}'),)),
    Case("clarify", ("clarification", "Which year?"), calls=(("Clarify", '{"question": "Which year?"}'),)),
    Case("a finish that nobody offered", ("answer", "五天"), calls=(("finish", '{"answer": "五天"}'),)),
    Case("refuse in words", ("refusal", "没有写到。"), text="没有写到。", calls=(("refuse", "{}"),)),
    Case("cited text", ("answer", f"五天【来源：{ID}】"), text=f"五天【来源：{ID}】"),
    Case("uncited text", ("error", "no_ending"), text="我先查一下。"),
    Case("uncited text again", ("answer", "你好！"), text="你好！", asked_before=True),
    Case("react in text", ("answer", "五天"), text="Thought: 够了\nAction: Finish[五天]"),
    Case("react call in text", SEARCH, text=f"Action: search_blocks[{QUERY}]"),
    Case("call left in the text", SEARCH, text=f'<tool_call>{{"name": "search_blocks", "arguments": {QUERY}}}</tool_call>'),
    Case("thinking and a call", SEARCH, text="<think>想</think>", calls=(("search_blocks", QUERY),)),
    Case("nothing", ("error", "empty")),
    Case("only thinking", ("error", "thinking_only"), text="<think>想一想"),
    Case("list as arguments", ("error", "bad_json"), calls=(("search_blocks", '["年假"]'),)),
    Case("text as arguments", ("error", "bad_json"), calls=(("search_blocks", "年假"),)),
    Case("two objects", ("error", "bad_json"), calls=(("search_blocks", QUERY + QUERY),)),
    Case("name twice", ("error", "bad_json"), calls=(("search_blocks", '{"query": "a", "query": "b"}'),)),
    Case("cut arguments", ("error", "cut"), calls=(("search_blocks", '{"query": "年'),), cut=True),
    Case("cut before the end", ("error", "cut"), calls=(("search_blocks", '{"query": "年假天数"'),), cut=True),
    Case("whole call before a cut one", SEARCH, calls=(("search_blocks", QUERY), ("scan_term", '{"te')), cut=True),
    Case("cut text", ("error", "cut"), text=f"五天【来源：{ID}】，另", cut=True),
    Case("refuse without words", ("error", "empty_answer"), calls=(("refuse", "{}"),)),
)  # fmt: skip


def calls_of(case: Case) -> tuple[FunctionCall, ...]:
    return tuple(
        FunctionCall(call_id=f"call_{place}", name=name, arguments=arguments)
        for place, (name, arguments) in enumerate(case.calls)
    )


def meaning(decision: Decision) -> tuple[Any, ...]:
    match decision:
        case ToolAction(tool=tool, arguments=arguments):
            return ("tool", tool, arguments)
        case Finish(ending=ending, text=text):
            return (ending, text)
        case ProtocolError(problem=problem):
            return ("error", problem)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_reply_means_what_it_calls(case: Case) -> None:
    decision = decide(case.text, calls_of(case), tools=TOOLS, cut=case.cut, asked_before=case.asked_before)
    assert meaning(decision) == case.expected


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_call_that_is_kept_can_be_sent_back(case: Case) -> None:
    decision = decide(case.text, calls_of(case), tools=TOOLS, cut=case.cut)
    if not isinstance(decision, Finish) and decision.call is not None:
        assert isinstance(msgspec.json.decode(decision.call.arguments), dict)
        assert decision.call.call_id
        assert decision.call.name


def test_what_is_not_taken_of_parallel_calls_is_counted() -> None:
    calls = tuple(FunctionCall(call_id=str(n), name="scan_term", arguments='{"term": "年"}') for n in range(3))
    decision = decide("", calls, tools=TOOLS, cut=False)
    assert isinstance(decision, ToolAction)
    assert (decision.dropped, decision.call) == (
        2,
        FunctionCall(call_id="0", name="scan_term", arguments='{"term":"年"}'),
    )


@pytest.mark.parametrize(
    ("text", "calls", "cut", "expected"),
    [
        ("五天。", (), False, ("answer", "五天。")),
        ("五天，见第", (), True, ("answer", "五天，见第")),
        ("", (("refuse", '{"reason": "没有"}'),), False, ("refusal", "没有")),
        ("Five days.", (("search_blocks", QUERY),), False, ("answer", "Five days.")),
        ("", (("search_blocks", QUERY),), False, SEARCH),
        ("", (), False, ("error", "empty")),
    ],
)
def test_the_final_turn_takes_any_text_as_the_answer(
    text: str, calls: tuple[tuple[str, str], ...], cut: bool, expected: tuple[Any, ...]
) -> None:
    made = calls_of(Case("", (), calls=calls))
    assert meaning(decide_last(text, made, tools=TOOLS, cut=cut)) == expected
