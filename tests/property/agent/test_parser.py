"""Whatever a model writes, the parser gives one decision and never raises."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from api.agent.decisions import Finish, ProtocolError, ToolAction
from api.agent.react import parse, parse_final
from tests.unit.agent.playing import TOOLS

PIECES = (
    "Thought:", "Action:", "Observation:", "思考：", "行动：", "观察：", "Final Answer:", "Action Input:", "Finish", "Refuse",
    "search_blocks", "scan_term", "unknown", "[", "]", "［", "］", "【", "】", "(", "{", "}", '"', "'", "“", "”", ":", "：", ",", "，",
    '{"query": "年假"}', '{"query": "年假",}', "```json", "```", "\n", " ", "<think>", "</think>", "**", "\\", "\\u", "\ud800", "\0",
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
