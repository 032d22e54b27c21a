"""The official `openai` package, unchanged, against a real server on loopback: plain and streaming, in both its forms."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any, cast

import httpx
import openai
import pytest
from msgspec import structs
from openai import AsyncOpenAI, OpenAI
from openai.types.chat import ChatCompletionChunk

from api.agent.run import Exchange, RunRequest
from api.openai_compat.shapes import MODEL
from api.retrieval.library import Pinned
from shared.access import OWNER
from shared.llm.port import Chat
from shared.types.events import RunCompleted, RunEvent, RunFailed, Thought, ToolCalled, ToolResulted, TurnStarted
from shared.types.runs import Limitation, RunRecord
from tests.contract.http.site import Held, Site, answer_at_once, until
from tests.patience import PATIENCE_S
from tests.unit.telemetry.factories import a_record

Emit = Callable[[RunEvent], None]
ASKED: Any = [{"role": "user", "content": "住宿费标准是多少？"}]
TEXT = "每人每天 300 元。[1]"


def sdk(address: str, **more: Any) -> OpenAI:
    return OpenAI(base_url=f"{address}/v1", api_key="none-is-set", timeout=PATIENCE_S, **more)


def shown(address: str) -> str:
    """The whole content: the answer and its sources."""
    url = f"{address}/api/blocks/k3f9a2qd.v2%2317?snapshot=snap_1"
    return f"{TEXT}\n\n**来源**\n\n1. [差旅管理办法 › 第三章 › 住宿，第 4 页]({url})"


async def step_by_step(request: RunRequest, pinned: Pinned, chat: Chat | None, emit: Emit) -> RunRecord:
    emit(TurnStarted(turn=1, final=False))
    emit(Thought(turn=1, text="先查\n住宿标准"))
    emit(ToolCalled(turn=1, tool="search_blocks", arguments='{"query":"住宿"}'))
    emit(
        ToolResulted(
            turn=1, tool="search_blocks", harness_status="ok", admitted=True, tokens=90, blocks=3, summary="3 个文本块"
        )
    )
    return await answer_at_once(request, pinned, chat, emit)


def test_the_models_are_listed_and_looked_up(site: Site) -> None:
    with site.live() as address, sdk(address) as client:
        assert [model.id for model in client.models.list()] == [MODEL]
        assert client.models.retrieve(MODEL).owned_by == "citebound"
        with pytest.raises(openai.NotFoundError) as unknown:
            client.models.retrieve("gpt-x")
        assert (unknown.value.code, unknown.value.param) == ("not_found", "model")


def test_a_question_is_answered_with_sources_annotations_and_usage(site: Site) -> None:
    site.publish()
    with site.live() as address, sdk(address) as client:
        completion = client.chat.completions.create(model=MODEL, messages=ASKED, temperature=0.3, user="张三")
        (choice,) = completion.choices
        assert (choice.message.content, choice.finish_reason) == (shown(address), "stop")
        (annotation,) = choice.message.annotations or []
        cited = annotation.url_citation
        assert TEXT[cited.start_index : cited.end_index] == "[1]"
        assert cited.url == f"{address}/api/blocks/k3f9a2qd.v2%2317?snapshot=snap_1"
    assert completion.usage is not None
    assert (completion.usage.prompt_tokens, completion.usage.completion_tokens) == (900, 40)
    assert completion.usage.total_tokens == 940
    ours = (completion.model_extra or {})["citebound"]
    assert ours["run_id"] == completion.id.removeprefix("chatcmpl-") == site.requests[0].run_id
    assert [one["block_id"] for one in ours["citations"]] == ["k3f9a2qd.v2#17"]
    assert ours["estimated"] is False


def test_a_streamed_answer_is_the_same_answer_in_pieces_with_the_steps_as_reasoning(site: Site) -> None:
    site.publish()
    site.work = step_by_step
    with site.live() as address, sdk(address) as client:
        stream = client.chat.completions.create(
            model=MODEL, messages=ASKED, stream=True, stream_options={"include_usage": True}
        )
        *chunks, usage = list(stream)
        assert content_of(chunks) == shown(address)
    assert reasoning_of(chunks) == '先查 住宿标准\n→ search_blocks {"query":"住宿"}\n✓ 3 个文本块\n'
    assert {(chunk.id, chunk.created, chunk.model) for chunk in chunks} == {(usage.id, usage.created, MODEL)}
    assert all(len(chunk.choices) == 1 for chunk in chunks)
    assert chunks[0].choices[0].delta.role == "assistant"
    last = chunks[-1].choices[0]
    assert (last.finish_reason, last.delta.content) == ("stop", None)
    assert (last.delta.model_extra or {})["annotations"][0]["url_citation"]["title"] == "差旅管理办法"
    assert (chunks[-1].model_extra or {})["citebound"]["status"] == "complete"
    assert usage.choices == []
    assert usage.usage is not None
    assert usage.usage.total_tokens == 940


async def cut_off(request: RunRequest, pinned: Pinned, chat: Chat | None, emit: Emit) -> RunRecord:
    record = a_record(run_id=request.run_id, question=request.question)
    cut = Limitation(code="answer_cut", text="答案在输出上限处被截断。")
    record = structs.replace(record, answer=structs.replace(record.answer, status="partial", limitations=(cut,)))
    emit(RunCompleted(answer=record.answer))
    return record


def test_an_answer_that_was_cut_off_says_so_in_both_forms(site: Site) -> None:
    site.publish()
    site.work = cut_off
    with site.live() as address, sdk(address) as client:
        plain = client.chat.completions.create(model=MODEL, messages=ASKED)
        *_, last = client.chat.completions.create(model=MODEL, messages=ASKED, stream=True)
    assert (plain.choices[0].finish_reason, last.choices[0].finish_reason) == ("length", "length")


def test_without_asking_for_it_no_usage_chunk_comes(site: Site) -> None:
    site.publish()
    with site.live() as address, sdk(address) as client:
        chunks = list(client.chat.completions.create(model=MODEL, messages=ASKED, stream=True))
    assert all(chunk.choices for chunk in chunks)
    assert all(chunk.usage is None for chunk in chunks)


def test_the_asynchronous_client_reads_both_forms(site: Site) -> None:
    async def ask(address: str) -> tuple[str | None, str]:
        async with AsyncOpenAI(base_url=f"{address}/v1", api_key="none-is-set") as client:
            plain = await client.chat.completions.create(model=MODEL, messages=ASKED)
            stream = await client.chat.completions.create(model=MODEL, messages=ASKED, stream=True)
            return plain.choices[0].message.content, content_of([chunk async for chunk in stream])

    site.publish()
    with site.live() as address:
        assert asyncio.run(ask(address)) == (shown(address), shown(address))


def test_the_conversation_so_far_comes_along(site: Site) -> None:
    site.publish()
    messages: Any = [
        {"role": "system", "content": "Answer like a pirate."},
        {"role": "user", "content": [{"type": "text", "text": "年假几天？"}]},
        {"role": "assistant", "content": "五天。[1]"},
        {"role": "user", "content": [{"type": "text", "text": "那么"}, {"type": "text", "text": "病假呢？"}]},
    ]
    with site.live() as address, sdk(address) as client:
        client.chat.completions.create(model=MODEL, messages=messages, tools=[], max_tokens=5)
    (request,) = site.requests
    assert request.question == "那么\n病假呢？"
    assert request.history == (Exchange(question="年假几天？", answer="五天。[1]"),)


@pytest.mark.parametrize(
    ("change", "error", "code"),
    [
        ({"model": "gpt-x"}, openai.NotFoundError, "not_found"),
        ({"messages": []}, openai.BadRequestError, "invalid_argument"),
        ({"n": 2}, openai.BadRequestError, "invalid_argument"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}]},
            openai.BadRequestError,
            "invalid_argument",
        ),
        ({}, openai.ConflictError, "no_snapshot"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_request_that_won_t_do_raises_the_sdk_s_own_error_with_our_code(
    site: Site, change: dict[str, Any], error: type[openai.APIStatusError], code: str, stream: bool
) -> None:
    with site.live() as address, sdk(address) as client, pytest.raises(error) as refused:
        cast(Any, client.chat.completions.create)(**{"model": MODEL, "messages": ASKED, "stream": stream, **change})
    assert refused.value.code == code
    assert site.requests == []


async def fail(request: RunRequest, pinned: Pinned, chat: Chat | None, emit: Emit) -> RunRecord:
    record = await answer_at_once(request, pinned, chat, lambda event: None)
    emit(RunFailed(run_id=request.run_id, code="provider_quota", message="The account is empty.", retryable=False))
    return record


def test_a_run_that_fails_is_an_error_and_is_not_repeated_behind_the_asker_s_back(site: Site) -> None:
    site.publish()
    site.work = fail
    with site.live() as address, sdk(address) as client:
        with pytest.raises(openai.InternalServerError) as failed:
            client.chat.completions.create(model=MODEL, messages=ASKED)
        assert (failed.value.status_code, failed.value.code) == (502, "provider_quota")
        assert "Top up" not in failed.value.message  # the run's own message says what to do, in the question's language
        with pytest.raises(openai.APIError) as broken:
            list(client.chat.completions.create(model=MODEL, messages=ASKED, stream=True))
        assert broken.value.code == "provider_quota"
    assert len(site.requests) == 2
    for error, asked in zip((failed.value, broken.value), site.requests, strict=True):
        assert cast(Any, error.body)["run_id"] == asked.run_id  # under which its trace is kept
        assert f"({asked.run_id})" in error.message


async def crash(request: RunRequest, pinned: Pinned, chat: Chat | None, emit: Emit) -> RunRecord:
    raise RuntimeError("a detail of the inside")


@pytest.mark.parametrize("stream", [False, True])
def test_a_run_that_crashes_says_so_in_the_asker_s_language_and_under_which_id_it_is_kept(
    site: Site, stream: bool
) -> None:
    site.publish()
    site.work = crash
    with site.live() as address, sdk(address) as client, pytest.raises(openai.APIError) as crashed:
        list(cast(Any, client.chat.completions.create)(model=MODEL, messages=ASKED, stream=stream))
    (kept,) = site.telemetry.list_runs(OWNER, limit=9)
    assert (crashed.value.code, cast(Any, crashed.value.body)["run_id"]) == ("internal_error", kept.run_id)
    assert "程序内部出错" in crashed.value.message
    assert "a detail" not in crashed.value.message


@pytest.mark.parametrize("stream", [False, True])
def test_closing_the_connection_cancels_the_run(site: Site, stream: bool) -> None:
    async def ask_and_leave(client: AsyncOpenAI) -> None:
        async with client:
            asking = asyncio.create_task(read_all(client))
            assert await asyncio.to_thread(held.under_way.wait, PATIENCE_S)
            asking.cancel()
            await asyncio.wait({asking})

    async def read_all(client: AsyncOpenAI) -> None:
        if stream:
            async for _ in await client.chat.completions.create(model=MODEL, messages=ASKED, stream=True):
                pass
        else:
            await client.chat.completions.create(model=MODEL, messages=ASKED)

    site.publish()
    site.work = held = Held()
    with site.live() as address:
        # made outside the event loop: the SDK's first client reads files
        asyncio.run(ask_and_leave(AsyncOpenAI(base_url=f"{address}/v1", api_key="none-is-set")))
        assert held.cancelled.wait(PATIENCE_S)
        until(lambda: site.telemetry.list_runs(OWNER, limit=1))
    assert [one.termination_reason for one in site.telemetry.list_runs(OWNER, limit=9)] == ["cancelled"]


def test_a_silent_stream_is_kept_alive_by_comments(site: Site) -> None:
    async def wait(request: RunRequest, pinned: Pinned, chat: Chat | None, emit: Emit) -> RunRecord:
        await asyncio.to_thread(go_on.wait, PATIENCE_S)
        return await answer_at_once(request, pinned, chat, emit)

    go_on = threading.Event()
    site.publish()
    site.heartbeat_s = 0.01
    site.work = wait
    with (
        site.live() as address,
        httpx.stream(
            "POST",
            f"{address}/v1/chat/completions",
            json={"model": MODEL, "messages": ASKED, "stream": True},
            timeout=PATIENCE_S,
        ) as reply,
    ):
        lines: list[str] = []
        for line in reply.iter_lines():
            lines.append(line)
            if line == ": keep-alive":
                go_on.set()
    assert lines[-2:] == ["data: [DONE]", ""]


def test_a_client_s_automatic_request_is_answered_without_a_run(site: Site) -> None:
    title: Any = [
        {
            "role": "user",
            "content": '### Task:\nWrite a title as { "title": "…" }\n<chat_history>\nUSER: 住宿费？\n</chat_history>',
        }
    ]
    with site.live() as address, sdk(address) as client:
        plain = client.chat.completions.create(model=MODEL, messages=title)
        pieces = list(client.chat.completions.create(model=MODEL, messages=title, stream=True))
        tags = client.chat.completions.create(
            model=MODEL, messages=ASKED, extra_headers={"X-OpenWebUI-Task": "tags_generation"}
        )
    assert plain.choices[0].message.content == content_of(pieces) == '{"title":"住宿费？"}'
    assert (plain.model_extra or {})["citebound"] == {"kind": "task", "task": "title"}
    assert tags.choices[0].message.content == '{"tags":[]}'
    assert site.requests == []
    assert site.telemetry.list_runs(OWNER, limit=9) == []


def content_of(chunks: list[ChatCompletionChunk]) -> str:
    return "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)


def reasoning_of(chunks: list[ChatCompletionChunk]) -> str:
    return "".join(
        (choice.delta.model_extra or {}).get("reasoning_content") or "" for chunk in chunks for choice in chunk.choices
    )
