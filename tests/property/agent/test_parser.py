"""Whatever a model writes, the parser gives one decision and never raises."""

import json

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from api.agent.arguments import read_object
from api.agent.decisions import Finish, ProtocolError, ToolAction
from api.agent.native import decide, decide_last
from api.agent.react import parse, parse_final
from shared.llm.port import FunctionCall
from tests.unit.agent.playing import TOOLS

PIECES = (
    "Thought:", "Action:", "Observation:", "思考：", "行动：", "观察：", "Final Answer:", "Action Input:", "Finish", "Refuse",
    "search_blocks", "scan_term", "unknown", "[", "]", "［", "］", "【", "】", "(", "{", "}", '"', "'", "“", "”", ":", "：", ",", "，",
    '{"query": "年假"}', '{"query": "年假",}', "```json", "```", "\n", " ", "<think>", "</think>", "**", "\\", "\\u", "\ud800", "\0",
    "<think>", "</think>", "<|im_end|>", "<|im_start|>user", "<tool_call>", "</tool_call>", "<|channel|>final<|message|>", "[THINK]",
    "【行动】", "<action>", "</action>", "\u200b", "\r\n", "\\n", "//", "=", "query=", '{"name": "search_blocks", "arguments": {}}', "</s>", "[/INST]",
    "五天", "null", "-1.5", "【来源：abcdefgh.v1#0】",
)  # fmt: skip
REPLIES = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=30).map("".join))


@given(reply=REPLIES, cut=st.booleans())
def test_every_reply_is_one_decision(reply: str, cut: bool) -> None:
    for decision in (parse(reply, tools=TOOLS, cut=cut), parse_final(reply, tools=TOOLS, cut=cut)):
        assert isinstance(decision, ToolAction | Finish | ProtocolError)
        decision.kept.encode()  # what goes into the history can be sent
        if isinstance(decision, ToolAction):
            msgspec.json.encode(decision.arguments)
        if isinstance(decision, Finish):
            assert decision.text.strip()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**17), 10**17) | st.decimals(-9, 9, places=3).map(float) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@given(given=st.dictionaries(st.text(max_size=6), VALUES, min_size=1, max_size=4), escaped=st.booleans())
def test_arguments_in_plain_json_are_read_as_the_tolerant_reader_reads_them(
    given: dict[str, object], escaped: bool
) -> None:
    plain = json.dumps(given, ensure_ascii=escaped)
    read, tolerant = read_object(f"[{plain}]", 1), read_object(f"[{plain[:-1]},}}]", 1)  # a comma too many is no JSON
    assert read.value == tolerant.value == given
    assert read.end == len(plain) + 1


CALLS = st.lists(
    st.builds(
        FunctionCall,
        call_id=st.text(max_size=3),
        name=st.one_of(
            st.sampled_from(["search_blocks", "functions.scan_term:1", "refuse", "finish", ""]), st.text(max_size=9)
        ),
        arguments=st.one_of(st.sampled_from(["", "{}", "[]", '{"query": "年假"', '"{}"', "null"]), REPLIES),
    ),
    max_size=3,
)


@given(reply=REPLIES, calls=CALLS, cut=st.booleans(), asked=st.booleans())
def test_every_reply_with_calls_is_one_decision(reply: str, calls: list[FunctionCall], cut: bool, asked: bool) -> None:
    planned = decide(reply, tuple(calls), tools=TOOLS, cut=cut, asked_before=asked)
    for decision in (planned, decide_last(reply, tuple(calls), tools=TOOLS, cut=cut)):
        assert isinstance(decision, ToolAction | Finish | ProtocolError)
        decision.kept.encode()
        if isinstance(decision, Finish):
            assert decision.text.strip()
        elif decision.call is not None:
            assert isinstance(msgspec.json.decode(decision.call.arguments), dict)


@given(
    arguments=st.dictionaries(
        st.text(), st.one_of(st.none(), st.booleans(), st.integers(-(10**17), 10**17), st.text(), st.lists(st.text()))
    )
)
def test_proper_json_arguments_come_through_unchanged(arguments: dict[str, object]) -> None:
    text = msgspec.json.encode(arguments).decode()
    decision = parse(f"Thought: x\nAction: search_blocks[{text}]", tools=TOOLS, cut=False)
    assert isinstance(decision, ToolAction)
    assert decision.arguments == arguments


@given(text=st.text(min_size=1).filter(lambda text: text.strip() == text))
def test_an_answer_given_as_an_object_comes_through_unchanged(text: str) -> None:
    encoded = msgspec.json.encode({"answer": text}).decode()
    decision = parse(f"Action: Finish[{encoded}]", tools=TOOLS, cut=False)
    assert isinstance(decision, Finish)
    assert decision.text == text


@given(invented=REPLIES)
def test_what_stands_behind_a_self_made_observation_changes_nothing(invented: str) -> None:
    action = 'Action: search_blocks[{"query": "年假"}]'
    decision = parse(f"{action}\nObservation: {invented}", tools=TOOLS, cut=False)
    assert isinstance(decision, ToolAction)
    assert (decision.tool, decision.arguments, decision.kept) == ("search_blocks", {"query": "年假"}, action)
