import json
from typing import Any

import pytest

from shared.errors import UpstreamError
from shared.llm.port import ChatUsage
from shared.llm.reading import DONE, ReplyReader

MOST = 4_000


def dumps(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> bytes:
    return dumps({"model": "m", "choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish}], **more})


def read(*chunks: bytes) -> ReplyReader:
    reader = ReplyReader(host="api.example.test", most_tokens=MOST)
    told = [reader.take(data) for data in chunks]
    assert "".join([*told, reader.end()]) == reader.reasoning + reader.text
    return reader


USAGE = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}


def test_text_and_finish_reason_may_share_a_chunk() -> None:
    reader = read(chunk({"content": "答案", "role": "assistant"}), chunk({"content": "是 42"}, "stop"), DONE)
    assert (reader.text, reader.finish_reason, reader.usage) == ("答案是 42", "stop", None)


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning", "thinking"])
def test_reasoning_is_kept_apart_under_each_of_its_names(key: str) -> None:
    reader = read(chunk({key: "先想", "content": ""}), chunk({"content": "text", key: None}), chunk({}, "stop"))
    assert (reader.reasoning, reader.text) == ("先想", "text")


def test_reasoning_inside_the_content_is_kept_apart_when_split_over_chunks() -> None:
    reader = read(*(chunk({"content": piece}) for piece in ("<th", "ink>先", "想</thi", "nk>\n", "\n答案")), DONE)
    assert (reader.reasoning, reader.text) == ("先想", "答案")


@pytest.mark.parametrize(
    "chunks",
    [
        (chunk({"content": "x"}, "stop"), dumps({"choices": [], "usage": USAGE}), DONE),
        (chunk({"content": "x"}, "stop"), dumps({"usage": USAGE}), DONE),
        (chunk({"content": "x"}, "stop", usage=USAGE), DONE),
        (chunk({"content": "x"}, usage={**USAGE, "completion_tokens": 1}), chunk({}, "stop", usage=USAGE)),
        (chunk({"content": "x"}, usage=USAGE), chunk({}, "stop", usage=None), DONE),
    ],
)
def test_usage_is_found_wherever_it_comes(chunks: tuple[bytes, ...]) -> None:
    assert read(*chunks).usage == ChatUsage(input_tokens=9, output_tokens=4)


def test_reasoning_tokens_are_read_where_the_provider_counts_them() -> None:
    details = {"completion_tokens_details": {"reasoning_tokens": 3}, "prompt_tokens_details": None}
    known = ChatUsage(input_tokens=9, output_tokens=4, reasoning_tokens=3)
    assert read(chunk({}, "stop", usage=USAGE | details)).usage == known


@pytest.mark.parametrize("usage", [{}, {"prompt_tokens": 0, "completion_tokens": 0}, {"prompt_tokens": None}])
def test_usage_that_says_nothing_is_unknown_and_not_zero(usage: dict[str, Any]) -> None:
    assert read(chunk({"content": "x"}, "stop", usage=usage)).usage is None


def test_chunks_without_choices_and_empty_data_are_passed_over() -> None:
    reader = read(
        b"", b" ", dumps({"id": "1", "event": {"type": "status"}}), chunk({"content": "x"}, ""), chunk({}, "stop")
    )
    assert reader.text == "x"


def test_bytes_that_are_no_utf_8_cost_one_character_and_not_the_answer() -> None:
    broken = chunk({"content": "好的"}).replace("好".encode(), b"\xe5\xa5")
    assert read(broken, chunk({"content": "。"}, "stop")).text == "\ufffd的。"


@pytest.mark.parametrize(
    ("odd", "text"),
    [
        ({"content": "答", "reasoning": "想"}, "答"),
        ({"content": "答", "tool_calls": [{"function": {"name": "scan_term"}}]}, "答"),
        ({"content": ["答"]}, ""),
        ({"content": "", "refusal": "不"}, "不"),
        ({"content": "答", "refusal": None, "tool_calls": [], "reasoning_content": "", "function_call": None}, "答"),
    ],
)
def test_a_chunk_between_ordinary_ones_is_read_for_all_that_it_holds(odd: dict[str, Any], text: str) -> None:
    reader = ReplyReader(host="api.example.test", most_tokens=MOST)
    for data in (chunk({"content": "前"}), chunk(odd), chunk({"content": "后"}, "stop")):
        reader.take(data)
    reader.end()
    assert reader.text == f"前{text}后"
    assert reader.reasoning == odd.get("reasoning", "")
    assert [call.name for call in reader.calls] == (["scan_term"] if odd.get("tool_calls") else [])


def test_an_answer_that_was_not_streamed_is_read_as_well() -> None:
    message = {"role": "assistant", "content": "<think>想</think>答案"}
    reader = read(dumps({"model": "n", "choices": [{"message": message, "finish_reason": "stop"}], "usage": USAGE}))
    assert (reader.text, reader.reasoning, reader.model) == ("答案", "想", "n")
    assert reader.usage == ChatUsage(input_tokens=9, output_tokens=4)


@pytest.mark.parametrize(
    ("reason", "ended"), [("eos", "eos"), ("STOP", "stop"), ("end_turn", "end_turn"), ("max_tokens", "length")]
)
def test_an_answer_ends_for_whatever_reason_the_provider_has(reason: str, ended: str) -> None:
    reader = read(chunk({"content": "答案"}, reason))
    assert (reader.text, reader.finish_reason) == ("答案", ended)


def test_the_end_mark_alone_is_a_good_end() -> None:
    assert read(chunk({"content": "x"}), DONE).finish_reason == "stop"


@pytest.mark.parametrize(
    ("chunks", "code"),
    [
        ((chunk({"content": "答"}),), "provider_interrupted"),
        ((), "provider_interrupted"),
        ((chunk({"content": "答"}, "insufficient_system_resource"),), "provider_interrupted"),
        ((chunk({"content": "答"}, "content_filter"),), "provider_content_filtered"),
        ((chunk({"content": "答"}, "sensitive"),), "provider_content_filtered"),
        ((chunk({"content": "答"}, "error"),), "provider_interrupted"),
        ((b"{",), "provider_bad_reply"),
        ((b"[1]",), "provider_bad_reply"),
        ((b'{"choices": 1}',), "provider_bad_reply"),
        ((dumps({"error": {"message": "overloaded", "code": 503}}),), "provider_overloaded"),
        ((dumps({"error": {"code": "context_length_exceeded", "message": "太长"}}),), "provider_context_too_long"),
        ((dumps({"error": "out of memory"}),), "upstream_unavailable"),
        ((dumps({"code": 50505, "message": "Model service overloaded", "data": None}),), "upstream_unavailable"),
    ],
)
def test_every_bad_end_has_its_code(chunks: tuple[bytes, ...], code: str) -> None:
    with pytest.raises(UpstreamError) as caught:
        read(*chunks)
    assert caught.value.code == code


@pytest.mark.parametrize("key", ["content", "reasoning_content"])
def test_a_provider_that_goes_far_beyond_what_was_asked_for_is_not_listened_to_any_longer(key: str) -> None:
    reader = ReplyReader(host="api.example.test", most_tokens=100)
    piece = chunk({key: "还有" * 500})
    heard = 0
    while not reader.done:
        reader.take(piece)
        heard += 1
        assert heard < 100
    assert reader.take(piece) == ""
    reader.end()
    assert reader.finish_reason == "length"
    assert len(reader.text + reader.reasoning) <= 100 * 8 + 20_000


def test_a_whole_answer_that_is_far_too_long_is_cut() -> None:
    reader = ReplyReader(host="api.example.test", most_tokens=100)
    reader.take(dumps({"choices": [{"message": {"content": "字" * 1_000_000}, "finish_reason": "stop"}]}))
    reader.end()
    assert (len(reader.text), reader.finish_reason) == (100 * 8 + 20_000, "length")
