"""Ask a real, published library with whatever answers: a script, a provider over HTTP, or nobody."""

import asyncio
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from api.agent.run import RunRequest, RunSoFar, run_agent
from api.retrieval.library import Pinned
from shared.access import OWNER, Access
from shared.ids import RunId
from shared.llm.openai import OpenAIChat
from shared.llm.port import Chat, ChatProfile, ChatReply, ChatRequest
from shared.llm.scripted import ScriptedChat
from shared.settings import ChatSettings
from shared.types.events import RunEvent
from shared.types.runs import Answer, RunRecord
from tests.contract.tools.world import World
from tests.doubles.provider import Provider
from tests.patience import PATIENCE_S
from tests.unit.agent.texts import BUNDLE

QUESTION = "员工工作满一年有几天年假？"
SEARCH = 'Thought: 先查。\nAction: search_blocks[{"query": "满一年 年假"}]'
FINISH = "Thought: 够了。\nAction: Finish[满一年享有五天年假。【来源：{{block_id}}】]"


class Asked(Struct, frozen=True, kw_only=True):
    record: RunRecord
    events: tuple[RunEvent, ...]

    @property
    def answer(self) -> Answer:
        return self.record.answer

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    def codes(self) -> list[str]:
        return [limitation.code for limitation in self.answer.limitations]


def ask(
    world: World, question: str = QUESTION, *, chat: Chat | None = None, access: Access = OWNER, **more: Any
) -> Asked:
    events: list[RunEvent] = []

    async def use(pinned: Pinned) -> RunRecord:
        request = RunRequest(run_id=RunId("run_of_a_test"), question=question, **more)
        return await run_agent(request, pinned=pinned, chat=chat, bundle=BUNDLE, emit=events.append)

    return Asked(record=world.pinned(use, access=access), events=tuple(events))


def ask_provider(
    world: World,
    provider: Provider,
    question: str = QUESTION,
    *,
    timeout_s: int = 5,
    base_url: str | None = None,
    **more: Any,
) -> Asked:
    """Through the real adapter, over real HTTP on loopback, to the provider unless `base_url` is another."""
    events: list[RunEvent] = []
    settings = ChatSettings(
        base_url=base_url or provider.base_url,
        model="m-1",
        api_key="k",
        first_token_timeout_s=timeout_s,
        idle_timeout_s=timeout_s,
    )

    async def use(pinned: Pinned) -> RunRecord:
        chat = OpenAIChat(settings)
        try:
            request = RunRequest(run_id=RunId("run_of_a_test"), question=question, **more)
            return await run_agent(request, pinned=pinned, chat=chat, bundle=BUNDLE, emit=events.append)
        finally:
            await chat.close()

    return Asked(record=world.pinned(use), events=tuple(events))


class SilentChat:
    """Falls silent after `replies` and half a word; tells when that was and whether its call was aborted."""

    model = "silent/model"
    profile = ChatProfile()
    window_tokens = None

    def __init__(self, *replies: str) -> None:
        self._script = ScriptedChat(replies)
        self._left = len(replies)
        self.asked = asyncio.Event()
        self.aborted = False

    async def reply(self, request: ChatRequest, *, on_piece: Callable[[str], None] | None = None) -> ChatReply:
        if self._left:
            self._left -= 1
            return await self._script.reply(request, on_piece=on_piece)
        if on_piece is not None:
            on_piece("Thou")
        self.asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.aborted = True
        raise AssertionError("nobody wakes it")

    async def close(self) -> None:
        """Nothing is held."""


def cancelled_midway(world: World, *replies: str, so_far: RunSoFar | None = None) -> SilentChat:
    """Cancel a run while its model thinks, after `replies`; returns when the cancellation has come through."""
    chat = SilentChat(*replies)

    async def use(pinned: Pinned) -> SilentChat:
        request = RunRequest(run_id=RunId("run_of_a_test"), question=QUESTION)
        task = asyncio.create_task(
            run_agent(request, pinned=pinned, chat=chat, bundle=BUNDLE, emit=lambda _: None, so_far=so_far)
        )
        async with asyncio.timeout(PATIENCE_S):
            await chat.asked.wait()
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            return chat
        raise AssertionError("the run swallowed its cancellation")

    return world.pinned(use)
