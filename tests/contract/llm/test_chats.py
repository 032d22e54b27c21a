"""What every chat promises, the fake included."""

import asyncio
from collections.abc import Awaitable, Callable, Generator

import pytest

from shared.errors import UpstreamError
from shared.llm.openai import OpenAIChat
from shared.llm.port import Chat, ChatRequest, Message
from shared.llm.scripted import Hang, ScriptedChat
from shared.settings import ChatSettings
from tests.doubles import provider as double

REQUEST = ChatRequest(
    messages=(Message(role="system", content="只答一句。"), Message(role="user", content="What is the answer?")),
    max_output_tokens=100,
)
ANSWER = "答案是 42，见手册第 3 页。"


class Stage:
    """One chat and a way to tell it what comes next, whatever is behind the port."""

    def say(self, text: str) -> None: ...
    def fail(self, code: str, *, after: str = "") -> None: ...
    def hang(self) -> None: ...
    async def asked(self, times: int) -> None: ...
    async def cancelled(self) -> bool: ...

    chat: Chat


class ScriptedStage(Stage):
    def __init__(self) -> None:
        self.scripted = ScriptedChat([])
        self.chat = self.scripted

    def say(self, text: str) -> None:
        self.scripted.add(text)

    def fail(self, code: str, *, after: str = "") -> None:
        self.scripted.add(UpstreamError(code, "told to fail", partial_text=after))  # type: ignore[arg-type]

    def hang(self) -> None:
        self.scripted.add(Hang())

    async def asked(self, times: int) -> None:
        await asyncio.sleep(0)  # the task begins
        assert len(self.scripted.requests) == times

    async def cancelled(self) -> bool:
        return self.scripted.cancelled == 1


class HttpStage(Stage):
    def __init__(self, provider: double.Provider) -> None:
        self.provider = provider
        self.chat = OpenAIChat(ChatSettings(base_url=provider.base_url, api_key="sk-secret", model="model"))

    def say(self, text: str) -> None:
        self.provider.script(text)

    def fail(self, code: str, *, after: str = "") -> None:
        faults: dict[str, double.Reply] = {
            "provider_auth": double.Fault(status=401),
            "provider_rate_limited": double.Fault(status=429),
            "provider_interrupted": double.Say(text=after + "rest", piece=max(len(after), 1), stop_after=1),
        }
        self.provider.script(faults[code])

    def hang(self) -> None:
        self.provider.script(double.Hang())

    async def asked(self, times: int) -> None:
        assert await asyncio.to_thread(self.provider.wait, lambda provider: len(provider.requests) == times)

    async def cancelled(self) -> bool:
        return await asyncio.to_thread(self.provider.wait, lambda provider: provider.gone == 1)


def scripted() -> Generator[Stage]:
    yield ScriptedStage()


def http() -> Generator[Stage]:
    with double.provider_double() as provider:
        yield HttpStage(provider)


@pytest.fixture(params=[scripted, http], ids=lambda build: build.__name__)
def stage(request: pytest.FixtureRequest) -> Generator[Stage]:
    yield from request.param()


def run(stage: Stage, act: Callable[[], Awaitable[None]]) -> None:
    async def all_of_it() -> None:
        try:
            await act()
        finally:
            await stage.chat.close()

    asyncio.run(all_of_it())


def test_the_pieces_heard_are_the_text_of_the_reply(stage: Stage) -> None:
    stage.say(ANSWER)
    heard: list[str] = []

    async def act() -> None:
        reply = await stage.chat.reply(REQUEST, on_piece=heard.append)
        assert (reply.text, reply.reasoning, reply.finish_reason, reply.model) == (ANSWER, "", "stop", "model")
        assert reply.usage is not None
        assert (reply.usage.input_tokens, reply.usage.output_tokens) == (24, len(ANSWER))

    run(stage, act)
    assert "".join(heard) == ANSWER
    assert len(heard) > 1


def test_nobody_has_to_listen(stage: Stage) -> None:
    stage.say(ANSWER)

    async def act() -> None:
        assert (await stage.chat.reply(REQUEST)).text == ANSWER

    run(stage, act)


@pytest.mark.parametrize(("code", "retryable"), [("provider_auth", False), ("provider_rate_limited", True)])
def test_a_refusal_is_raised_after_one_attempt_and_the_next_call_goes_on(
    stage: Stage, code: str, retryable: bool
) -> None:
    stage.fail(code)
    stage.say(ANSWER)

    async def act() -> None:
        with pytest.raises(UpstreamError) as caught:
            await stage.chat.reply(REQUEST)
        assert (caught.value.code, caught.value.retryable, caught.value.partial_text) == (code, retryable, "")
        assert (await stage.chat.reply(REQUEST)).text == ANSWER

    run(stage, act)


def test_what_a_broken_stream_delivered_is_kept(stage: Stage) -> None:
    stage.fail("provider_interrupted", after="答案是")
    heard: list[str] = []

    async def act() -> None:
        with pytest.raises(UpstreamError) as caught:
            await stage.chat.reply(REQUEST, on_piece=heard.append)
        assert (caught.value.code, caught.value.partial_text) == ("provider_interrupted", "答案是")

    run(stage, act)
    assert "".join(heard) == "答案是"


def test_cancelling_the_task_ends_the_call(stage: Stage) -> None:
    stage.hang()

    async def act() -> None:
        asking = asyncio.create_task(stage.chat.reply(REQUEST))
        await stage.asked(1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert await stage.cancelled()

    run(stage, act)


def test_the_model_is_named_with_its_host(stage: Stage) -> None:
    host, _, model = stage.chat.model.partition("/")
    assert host
    assert model == "model"
