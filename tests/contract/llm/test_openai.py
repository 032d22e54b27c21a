"""The OpenAI-compatible adapter against a provider that fails as real ones do."""

import asyncio
import json
import socket
from collections.abc import Callable, Generator
from contextlib import suppress
from typing import Any

import pytest

from shared.errors import SettingsError, UpstreamError
from shared.llm.open import open_chat
from shared.llm.openai import OpenAIChat
from shared.llm.port import ChatReply, ChatRequest, ChatUsage, Message
from shared.settings import ChatSettings
from tests.doubles.provider import Fault, Hang, Provider, Raw, Reply, Reset, Say, provider_double
from tests.patience import PATIENCE_S

REQUEST = ChatRequest(messages=(Message(role="user", content="答案是什么？"),), max_output_tokens=50)


@pytest.fixture
def provider() -> Generator[Provider]:
    with provider_double() as provider:
        yield provider


def ask(
    provider: Provider,
    *,
    times: int = 1,
    on_piece: Callable[[str], None] | None = None,
    bound_s: float | None = None,
    loop: Callable[[], asyncio.AbstractEventLoop] | None = None,
    **settings: Any,
) -> ChatReply:
    """The last of `times` replies of one chat, all of them within `bound_s`."""

    async def asking() -> ChatReply:
        values: dict[str, Any] = {"base_url": provider.base_url, "api_key": "sk-secret", "model": "m", **settings}
        chat = OpenAIChat(ChatSettings(**values))
        try:
            async with asyncio.timeout(bound_s):
                return [await chat.reply(REQUEST, on_piece=on_piece) for _ in range(times)][-1]
        finally:
            await chat.close()

    with asyncio.Runner(loop_factory=loop) as runner:
        return runner.run(asking())


def failing(provider: Provider, **settings: Any) -> UpstreamError:
    with pytest.raises(UpstreamError) as caught:
        ask(provider, **settings)
    return caught.value


def test_the_request_is_what_the_settings_say(provider: Provider) -> None:
    ask(provider, temperature=0.2, extra_body={"enable_thinking": False})
    (request,) = provider.requests
    assert request.body == {
        "model": "m",
        "messages": [{"role": "user", "content": "答案是什么？"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 50,
        "temperature": 0.2,
        "enable_thinking": False,
    }
    assert request.headers["authorization"] == "Bearer sk-secret"


def test_the_model_that_answered_is_told_even_if_another_was_asked(provider: Provider) -> None:
    provider.script(Say(text="好", model="m-2026"))
    assert ask(provider).model == "m-2026"


def test_usage_and_reasoning_are_the_providers_own_figures(provider: Provider) -> None:
    provider.script(Say(text="四十二", reasoning="先想一想"))
    heard: list[str] = []
    reply = ask(provider, on_piece=heard.append)
    assert (reply.text, reply.reasoning) == ("四十二", "先想一想")
    assert "".join(heard) == "先想一想四十二"
    assert reply.usage == ChatUsage(input_tokens=6, output_tokens=7, reasoning_tokens=4)


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Fault(status=401), "provider_auth"),
        (Fault(status=402), "provider_quota"),
        (Fault(status=403), "provider_auth"),
        (Fault(status=404), "provider_bad_request"),
        (Fault(status=429), "provider_rate_limited"),
        (Fault(status=429, code="insufficient_quota"), "provider_quota"),
        (Fault(status=400, code="context_length_exceeded"), "provider_context_too_long"),
        (Fault(status=400, message="you must be over 18"), "provider_bad_request"),
        (Fault(status=500), "upstream_unavailable"),
        (Fault(status=503), "provider_overloaded"),
        (Fault(status=302, headers={"Location": "https://portal.example.test/"}), "provider_bad_reply"),
        (Fault(status=204, body=""), "provider_bad_reply"),
        (Fault(status=401, body="x" * 3_000_000), "provider_auth"),
        (Raw(pieces=(" " * 1_000_000,) * 40, content_type="application/json"), "provider_bad_reply"),
        (Raw(pieces=("<html>请登录</html>",), content_type="text/html"), "provider_bad_reply"),
        (Raw(pieces=("data: {no json\n\n",)), "provider_bad_reply"),
        (Raw(pieces=('data: {"choices": [{"delta": {"content": "答',)), "provider_interrupted"),
        (Raw(pieces=("",)), "provider_interrupted"),
        (Reset(), "provider_interrupted"),
    ],
)
def test_every_fault_has_its_code_and_costs_one_request(provider: Provider, fault: Reply, code: str) -> None:
    provider.script(fault)
    error = failing(provider)
    assert error.code == code
    assert "127.0.0.1" in error.message
    assert "sk-secret" not in error.message
    assert len(provider.requests) == 1


def test_the_wait_a_provider_asks_for_is_handed_on(provider: Provider) -> None:
    provider.script(Fault(status=429, headers={"Retry-After": "12"}))
    assert failing(provider).retry_after_s == 12.0


@pytest.mark.parametrize(
    ("then", "code"),
    [("break", "provider_interrupted"), ("reset", "provider_interrupted"), ("end", "provider_interrupted")],
)
def test_a_stream_that_breaks_midway_keeps_its_text(provider: Provider, then: Any, code: str) -> None:
    provider.script(Say(text="答案是四十二", piece=3, stop_after=1, then=then))
    heard: list[str] = []
    error = failing(provider, on_piece=heard.append)
    assert error.code == code
    assert error.partial_text in ("答案是", "")  # a reset may throw away what was under way
    assert error.partial_text == "".join(heard)


def test_an_error_inside_a_stream_keeps_its_text(provider: Provider) -> None:
    provider.script(Say(text="答案是四十二", piece=3, stop_after=1, then="error"))
    error = failing(provider)
    assert (error.code, error.partial_text) == ("provider_overloaded", "答案是")


@pytest.mark.parametrize("hang", [Hang(), Hang(headers_first=True), Hang(comments=3)])
def test_a_provider_that_never_begins_is_given_up(provider: Provider, hang: Hang) -> None:
    provider.script(hang)
    error = failing(provider, first_token_timeout_s=1, idle_timeout_s=60)
    assert (error.code, error.partial_text) == ("provider_timeout", "")
    assert provider.wait(lambda provider: provider.gone == 1)


def test_a_provider_that_falls_silent_midway_is_given_up_with_its_text(provider: Provider) -> None:
    provider.script(Say(text="答案是四十二", piece=3, stop_after=1, then="hang"))
    error = failing(provider, first_token_timeout_s=60, idle_timeout_s=1)
    assert (error.code, error.partial_text) == ("provider_timeout", "答案是")
    assert provider.wait(lambda provider: provider.gone == 1)


def test_cancelling_midway_closes_the_upstream_response(provider: Provider) -> None:
    provider.script(Say(text="答案是四十二", piece=3, stop_after=1, then="hang"))

    async def act() -> None:
        chat = OpenAIChat(ChatSettings(base_url=provider.base_url, model="m"))
        heard = asyncio.Event()
        asking = asyncio.create_task(chat.reply(REQUEST, on_piece=lambda _: heard.set()))
        await asyncio.wait_for(heard.wait(), PATIENCE_S)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert await asyncio.to_thread(provider.wait, lambda provider: provider.gone == 1)
        await chat.close()

    asyncio.run(act())


def test_an_answer_whose_usage_was_lost_with_the_line_is_whole(provider: Provider) -> None:
    chunk = json.dumps({"choices": [{"delta": {"content": "好"}, "finish_reason": "stop"}]})
    provider.script(Raw(pieces=(f"data: {chunk}\n\n", "data: {")))
    reply = ask(provider)
    assert (reply.text, reply.usage, reply.finish_reason) == ("好", None, "stop")


def said(text: str, finish_reason: str | None = None) -> str:
    chunk = {"choices": [{"delta": {"content": text}, "finish_reason": finish_reason}]}
    return f"data: {json.dumps(chunk)}\n\n"


@pytest.mark.parametrize(
    ("stream", "idle_s", "reply"),
    [
        (Raw(pieces=(said("好", "stop"), "data: [DONE]\n\n"), again=": ping\n\n"), 60, ("好", "stop")),
        (Raw(pieces=(said("好", "stop"),), again=": ping\n\n"), 1, ("好", "stop")),
        # Longer than it may be idle, its end named with every piece.
        (Raw(pieces=(said("好", "stop"),), again=said("好" * 200, "stop")), 1, ("好" * 20_400, "length")),
    ],
    ids=["behind the end mark", "behind the finish reason", "beyond what was asked for"],
)
def test_a_provider_that_never_stops_talking_is_left_with_his_answer(
    provider: Provider, stream: Raw, idle_s: int, reply: tuple[str, str]
) -> None:
    provider.script(stream)
    answer = ask(provider, bound_s=10, idle_timeout_s=idle_s)
    assert (answer.text, answer.finish_reason) == reply
    assert provider.wait(lambda provider: provider.gone == 1)


class Slow(asyncio.SelectorEventLoop):
    """Its clock takes a hundred seconds for one."""

    def time(self) -> float:
        return super().time() / 100


def test_a_provider_that_goes_beyond_what_was_asked_for_is_not_waited_for(provider: Provider) -> None:
    provider.script(Raw(pieces=(said("好"),), again=said("好" * 50_000)))
    assert ask(provider, bound_s=0.1, loop=Slow).finish_reason == "length"


def test_an_answer_that_was_not_streamed_is_taken(provider: Provider) -> None:
    body = json.dumps({"model": "m", "choices": [{"message": {"content": "好"}, "finish_reason": "stop"}]})
    provider.script(Raw(pieces=("\n\n", body), content_type="application/json; charset=utf-8"))
    assert ask(provider).text == "好"


@pytest.mark.parametrize(
    ("refusal", "lost", "gained"),
    [
        ({"message": "Unrecognized request argument", "param": "stream_options"}, {"stream_options"}, set[str]()),
        (
            {"detail": [{"loc": ["body", "stream_options"], "msg": "extra fields not permitted"}]},
            {"stream_options"},
            set[str](),
        ),
        (
            {
                "message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
                "param": "max_tokens",
            },
            {"max_tokens"},
            {"max_completion_tokens"},
        ),
        (
            {"message": "'temperature' does not support 0.0 with this model.", "param": "temperature"},
            {"temperature"},
            set[str](),
        ),
    ],
)
def test_a_part_that_a_provider_refuses_is_left_out_from_then_on(
    provider: Provider, refusal: dict[str, Any], lost: set[str], gained: set[str]
) -> None:
    body = refusal if "detail" in refusal else {"error": refusal}
    provider.script(Fault(status=400, body=json.dumps(body)), "好", "好")
    assert ask(provider, times=2).text == "好"
    first, second, third = (set(request.body) for request in provider.requests)
    assert (first - second, second - first, third) == (lost, gained, second)


def test_a_refusal_of_something_else_is_not_asked_again(provider: Provider) -> None:
    provider.script(Fault(status=400, message="temperature of the sea is not a topic"))
    assert failing(provider).code == "provider_bad_request"
    assert len(provider.requests) == 1


def test_nobody_listening_is_told_with_the_address(provider: Provider) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    error = failing(provider, base_url=f"http://127.0.0.1:{port}/v1")
    assert (error.code, error.retryable) == ("upstream_unavailable", True)
    assert f"127.0.0.1:{port}" in error.message


def test_without_an_address_there_is_no_model() -> None:
    assert open_chat(ChatSettings()) is None


@pytest.mark.parametrize("settings", [{"base_url": "api.example.test"}, {"model": None}, {"api_key": "密钥"}])
def test_settings_that_cannot_work_are_refused_at_once(settings: dict[str, Any]) -> None:
    values: dict[str, Any] = {"base_url": "http://127.0.0.1:1/v1", "model": "m", **settings}
    with pytest.raises(SettingsError):
        open_chat(ChatSettings(**values))


def windows(provider: Provider, *replies: Reply) -> list[int | None]:
    """What is believed of the window after each."""

    async def asking() -> list[int | None]:
        chat = OpenAIChat(ChatSettings(base_url=provider.base_url, model="m"))
        believed: list[int | None] = []
        try:
            for _ in replies:
                with suppress(UpstreamError):
                    await chat.reply(REQUEST)
                believed.append(chat.window_tokens)
        finally:
            await chat.close()
        return believed

    provider.script(*replies)
    return asyncio.run(asking())


def test_a_window_is_learned_from_a_refusal_and_kept_by_one_that_names_none(provider: Provider) -> None:
    told = Fault(status=400, message="This model's maximum context length is 8192 tokens.")
    silent = Fault(status=400, code="context_length_exceeded")
    assert windows(provider, told, silent, Say(text="好")) == [8_192, 8_192, 8_192]


def test_a_window_is_forgotten_once_a_larger_call_was_answered(provider: Provider) -> None:
    told = Fault(status=400, message="This model's maximum context length is 2 tokens.")
    assert windows(provider, told, Say(text="答案是四十二")) == [2, None]
