"""Native calls are put together whatever a provider leaves out."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.llm.calls import CallReader
from shared.llm.port import FunctionCall


def piece(index: int | None = None, call_id: str | None = None, name: str | None = None, arguments: Any = None) -> Any:
    made = {"index": index, "id": call_id, "function": {"name": name, "arguments": arguments}}
    return {key: value for key, value in made.items() if value is not None}


def read(*deltas: list[Any]) -> list[tuple[str, str, str]]:
    reader = CallReader()
    told = "".join(reader.take(delta) for delta in deltas)
    assert told == "".join(call.name + call.arguments for call in reader.calls) or len(reader.calls) > 1
    return [(call.call_id, call.name, call.arguments) for call in reader.calls]


SEARCH = ("a", "search_blocks", '{"query": "年假"}')
SCAN = ("b", "scan_term", '{"term": "五天"}')


@pytest.mark.parametrize(
    ("deltas", "calls"),
    [
        # OpenAI: id and name once, arguments in pieces
        ([[piece(0, "a", "search_blocks", "")], [piece(0, arguments='{"query": ')], [piece(0, arguments='"年假"}')]], [SEARCH]),
        # two calls, one after the other
        ([[piece(0, "a", "search_blocks", '{"query": "年假"}')], [piece(1, "b", "scan_term", '{"term": ')], [piece(1, arguments='"五天"}')]], [SEARCH, SCAN]),
        # both in one delta, whole, without index
        ([[piece(None, "a", "search_blocks", '{"query": "年假"}'), piece(None, "b", "scan_term", '{"term": "五天"}')]], [SEARCH, SCAN]),
        # Ollama: whole calls, every one with index 0
        ([[piece(0, "a", "search_blocks", '{"query": "年假"}')], [piece(0, "b", "scan_term", '{"term": "五天"}')]], [SEARCH, SCAN]),
        # the same tool twice with index 0 and no ids
        ([[piece(0, None, "scan_term", '{"term": "甲"}')], [piece(0, None, "scan_term", '{"term": "乙"}')]], [("call_1", "scan_term", '{"term": "甲"}'), ("call_2", "scan_term", '{"term": "乙"}')]),
        # the name comes again with every piece
        ([[piece(0, "a", "search_blocks", '{"query"')], [piece(0, "a", "search_blocks", ': "年假"}')]], [SEARCH]),
        # another id with every piece, name once
        ([[piece(0, "a", "search_blocks", '{"query"')], [piece(0, "x", None, ': "年假"}')]], [SEARCH]),
        # no index, continuation by nothing
        ([[piece(None, "a", "search_blocks", '{"query"')], [piece(None, None, None, ': "年假"}')]], [SEARCH]),
        # no id at all
        ([[piece(0, None, "scan_term", "{}")]], [("call_1", "scan_term", "{}")]),
        # arguments as an object
        ([[piece(0, "a", "scan_term", {"term": "五天"})]], [("a", "scan_term", '{"term":"五天"}')]),
        # arguments null
        ([[piece(0, "a", "list_documents")]], [("a", "list_documents", "")]),
    ],
)  # fmt: skip
def test_calls_are_put_together(deltas: list[list[Any]], calls: list[tuple[str, str, str]]) -> None:
    assert read(*deltas) == calls


@pytest.mark.parametrize(
    "junk", [None, {}, "x", [1], [None], [{"function": 1}], [{"index": "0", "function": {"name": 2}}]]
)
def test_what_is_no_call_is_passed_over(junk: Any) -> None:
    reader = CallReader()
    assert reader.take(junk) == ""
    assert reader.calls == ()


def test_the_older_form_is_one_call() -> None:
    reader = CallReader()
    reader.take_legacy({"name": "scan_term", "arguments": '{"term"'})
    reader.take_legacy({"arguments": ': "年"}'})
    assert reader.calls == (FunctionCall(call_id="call_1", name="scan_term", arguments='{"term": "年"}'),)


@given(
    arguments=st.lists(st.text(max_size=20).map(lambda text: f'{{"q": "{text}"'), min_size=1, max_size=4),
    cuts=st.lists(st.integers(1, 5), min_size=1, max_size=6),
)
def test_the_cutting_of_a_stream_changes_nothing(arguments: list[str], cuts: list[int]) -> None:
    reader = CallReader()
    for index, text in enumerate(arguments):
        reader.take([piece(index, f"id{index}", "search_blocks", "")])
        at = 0
        while at < len(text):
            size = cuts[at % len(cuts)]
            reader.take([piece(index, arguments=text[at : at + size])])
            at += size
    assert [call.arguments for call in reader.calls] == arguments
