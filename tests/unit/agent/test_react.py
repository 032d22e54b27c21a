"""The react parser: one decision from what models write."""

from typing import Any

import pytest

from api.agent.decisions import Decision, Finish, ProtocolError, ToolAction
from api.agent.react import parse, parse_final
from tests.unit.agent.leaked import LEAKED
from tests.unit.agent.malformed import CASES, Case

TOOLS = frozenset({"list_documents", "get_outline", "search_blocks", "list_blocks", "scan_term"})


def meaning(decision: Decision) -> tuple[Any, ...]:
    match decision:
        case ToolAction(tool=tool, arguments=arguments):
            return ("tool", tool, arguments)
        case Finish(ending=ending, text=text):
            return (ending, text)
        case ProtocolError(problem=problem):
            return ("error", problem)


@pytest.mark.parametrize("case", [*CASES, *LEAKED], ids=lambda case: case.name)
def test_a_reply_means_what_it_plainly_says(case: Case) -> None:
    assert meaning(parse(case.reply, tools=TOOLS, cut=case.cut)) == case.expected


def test_the_thought_is_kept_without_its_label() -> None:
    reply = 'Thought: 先看\n第二行\n```\nAction: search_blocks[{"query": "a"}]\n```'
    assert parse(reply, tools=TOOLS, cut=False).thought == "先看\n第二行"


def test_what_follows_the_action_does_not_enter_the_history() -> None:
    action = 'Thought: 查\nAction: search_blocks[{"query": "a"}]'
    assert parse(f"{action}\nObservation: 假的", tools=TOOLS, cut=False).kept == action


def test_hidden_reasoning_does_not_enter_the_history() -> None:
    decision = parse("<think>secret plan</think>Action: Finish[好]", tools=TOOLS, cut=False)
    assert decision.kept == "Action: Finish[好]"


def test_an_unknown_tool_is_still_an_action() -> None:
    assert meaning(parse('Action: web_search[{"q": "a"}]', tools=TOOLS, cut=False)) == (
        "tool",
        "web_search",
        {"q": "a"},
    )


@pytest.mark.parametrize(
    ("reply", "cut", "expected"),
    [
        ("五天。", False, ("answer", "五天。")),
        ("Action: Finish[五天]", False, ("answer", "五天")),
        ("Action: Refuse[没有]", False, ("refusal", "没有")),
        ("五天，见第", True, ("answer", "五天，见第")),
        ("Action: Finish[五天，见第", True, ("answer", "五天，见第")),
        ('Five.\nObservation: {"harness_status": "ok"}', False, ("answer", "Five.")),
        ("如下：\n观察结果：五天。\n完。", False, ("answer", "如下：\n观察结果：五天。\n完。")),
        ('Action: search_blocks[{"query": "a"}]', False, ("tool", "search_blocks", {"query": "a"})),
        ("Thought: I would search again.", False, ("error", "no_action")),
        ("", False, ("error", "empty")),
    ],
)
def test_the_final_turn_takes_bare_text_as_the_answer(reply: str, cut: bool, expected: tuple[Any, ...]) -> None:
    assert meaning(parse_final(reply, tools=TOOLS, cut=cut)) == expected


def test_a_final_answer_that_was_cut_is_marked() -> None:
    cut = [parse_final(reply, tools=TOOLS, cut=True) for reply in ("五天，见第", "Action: Finish[五天，见第")]
    whole = [parse_final("Action: Finish[五天]", tools=TOOLS, cut=True), parse_final("五天。", tools=TOOLS, cut=False)]
    assert [isinstance(one, Finish) and one.cut for one in [*cut, *whole]] == [True, True, False, False]


@pytest.mark.timeout(30)  # a look at the rest of the reply for every tag took minutes
@pytest.mark.parametrize(
    "tag", ["</think>", "<think>", "<think></think>", "<|im_end|>", "```\n", "[", "Action: scan_term["]
)
def test_a_model_in_a_loop_costs_no_more_than_its_length(tag: str) -> None:
    parse(tag * (1_000_000 // len(tag)), tools=TOOLS, cut=True)
