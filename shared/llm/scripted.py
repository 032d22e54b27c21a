"""The fake beside the port: says what it was told to say, in order."""

import asyncio
from collections.abc import Callable, Iterable
from typing import NoReturn, TypeAlias

from msgspec import Struct

from shared.errors import UpstreamError
from shared.llm.port import ChatProfile, ChatReply, ChatRequest, ChatUsage

_PIECE = 4  # characters


class Hang(Struct, frozen=True):
    """Nothing is said until the task is cancelled."""


Line: TypeAlias = str | ChatReply | UpstreamError | Hang


class ScriptedChat:
    """A str is said with usage counted in characters, a ChatReply as it is, an UpstreamError raised (its `partial_text` is heard
    before). `requests` records every call, `cancelled` those that were cut short.
    """

    def __init__(self, lines: Iterable[Line] = (), *, model: str = "scripted/model") -> None:
        self._lines = list(lines)
        self.model = model
        self.profile = ChatProfile()
        self.window_tokens: int | None = None
        self.requests: list[ChatRequest] = []
        self.cancelled = 0

    def add(self, *lines: Line) -> None:
        self._lines.extend(lines)

    async def reply(self, request: ChatRequest, *, on_piece: Callable[[str], None] | None = None) -> ChatReply:
        self.requests.append(request)
        if not self._lines:
            raise AssertionError(f"the script has no line for request {len(self.requests)}")
        line = self._lines.pop(0)
        if isinstance(line, Hang):
            return await self._hang()
        if isinstance(line, str):
            line = self._said(line, request)
        text = line.partial_text if isinstance(line, UpstreamError) else line.reasoning + line.text
        for start in range(0, len(text), _PIECE):
            await asyncio.sleep(0)
            if on_piece:
                on_piece(text[start : start + _PIECE])
        if isinstance(line, UpstreamError):
            raise line
        return line

    async def close(self) -> None:
        """Nothing is held."""

    async def _hang(self) -> NoReturn:
        try:
            while True:
                await asyncio.Event().wait()
        finally:
            self.cancelled += 1

    def _said(self, text: str, request: ChatRequest) -> ChatReply:
        asked = sum(len(message.content) for message in request.messages)
        return ChatReply(
            text=text,
            reasoning="",
            usage=ChatUsage(input_tokens=asked, output_tokens=len(text)),
            finish_reason="stop",
            model=self.model.rpartition("/")[2],
        )
