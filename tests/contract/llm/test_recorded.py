"""What each provider really sends, over real HTTP: streams, errors, and streams that go wrong.

The shapes in recorded/ are written after the providers' documents and threads as of 2026-11; a chunk that is a text is a
line as is. Every stream is also read with other line ends and cut into pieces of three characters.
"""

import asyncio
import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from shared.errors import UpstreamError
from shared.llm.openai import OpenAIChat
from shared.llm.port import ChatReply, ChatRequest, Function, Message
from shared.settings import ChatSettings
from tests.doubles.provider import Fault, Provider, Raw, Reply, provider_double

RECORDED = Path(__file__).parent / "recorded"
PROVIDERS = ("openai", "deepseek", "dashscope", "siliconflow", "ollama", "vllm", "llamacpp", "gateways")
REQUEST = ChatRequest(
    messages=(Message(role="user", content="年假有几天？"),),
    max_output_tokens=50,
    functions=(Function(name="search_blocks", description="", schema={"type": "object"}),),
)


@pytest.fixture(scope="module")
def provider() -> Generator[Provider]:
    with provider_double() as provider:
        yield provider


def recorded(kind: str) -> list[Any]:
    found: list[Any] = []
    for name in PROVIDERS:
        cases = json.loads((RECORDED / f"{name}.json").read_text()).get(kind, [])
        found += [pytest.param(case, id=f"{name}: {case['name']}") for case in cases]
    return found


def stream_of(chunks: list[Any], *, line_end: str = "\n") -> str:
    lines = [one if isinstance(one, str) else f"data: {json.dumps(one, ensure_ascii=False)}" for one in chunks]
    return "".join(f"{line}{line_end}{line_end}" for line in lines)


def ask(provider: Provider, reply: Reply) -> tuple[ChatReply, str]:
    """The reply, and what was heard of it piece by piece."""
    provider.script(reply)
    heard: list[str] = []

    async def asking() -> ChatReply:
        chat = OpenAIChat(ChatSettings(base_url=provider.base_url, model="asked", api_key="sk-secret"))
        try:
            return await chat.reply(REQUEST, on_piece=heard.append)
        finally:
            await chat.close()

    return asyncio.run(asking()), "".join(heard)


@pytest.mark.parametrize("case", recorded("streams"))
@pytest.mark.parametrize("line_end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_every_providers_stream_is_one_reply(provider: Provider, case: dict[str, Any], line_end: str) -> None:
    reply, heard = ask(provider, Raw(pieces=(stream_of(case["chunks"], line_end=line_end),)))
    usage = reply.usage
    assert {
        "text": reply.text,
        "reasoning": reply.reasoning,
        "usage": None if usage is None else [usage.input_tokens, usage.output_tokens, usage.reasoning_tokens],
        "finish_reason": reply.finish_reason,
        "calls": [[call.call_id, call.name, call.arguments] for call in reply.calls],
        "model": reply.model,
    } == case["expect"]
    for call in reply.calls:
        assert call.name in heard


@pytest.mark.parametrize("case", recorded("streams"))
def test_where_the_network_cuts_a_stream_changes_nothing(provider: Provider, case: dict[str, Any]) -> None:
    stream = stream_of(case["chunks"])
    whole, _ = ask(provider, Raw(pieces=(stream,)))
    cut, _ = ask(provider, Raw(pieces=tuple(stream[at : at + 3] for at in range(0, len(stream), 3))))
    assert cut == whole


@pytest.mark.parametrize("case", recorded("errors"))
def test_every_providers_error_has_its_code_and_its_window(provider: Provider, case: dict[str, Any]) -> None:
    body = case["body"] if isinstance(case["body"], str) else json.dumps(case["body"], ensure_ascii=False)
    before = len(provider.requests)
    with pytest.raises(UpstreamError) as caught:
        ask(provider, Fault(status=case["status"], body=body, headers=case["headers"]))
    error = caught.value
    assert {
        "code": error.code,
        "window_tokens": error.window_tokens,
        "retryable": error.retryable,
        "retry_after_s": error.retry_after_s,
    } == case["expect"]
    assert len(provider.requests) == before + 1
    assert "sk-" not in error.message
    assert "secret" not in error.message


@pytest.mark.parametrize("case", recorded("broken"))
def test_a_stream_that_goes_wrong_keeps_what_it_said(provider: Provider, case: dict[str, Any]) -> None:
    with pytest.raises(UpstreamError) as caught:
        ask(provider, Raw(pieces=(stream_of(case["chunks"]),)))
    error = caught.value
    told = {"code": error.code, "partial_text": error.partial_text, "retryable": error.retryable}
    assert told | ({"window_tokens": error.window_tokens} if error.window_tokens else {}) == case["expect"]
