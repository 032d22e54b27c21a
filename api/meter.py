"""Counts what a run spends at its model, so that the figure is there even when the run is cut off."""

from collections.abc import Callable

from shared.llm.port import Chat, ChatReply, ChatRequest
from shared.text.tokens import count_tokens
from shared.types.runs import Usage


class MeteredChat:
    """A run's own view of the chat model. A call that is cut off or fails counts with our own estimate, marked as such."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._usage = Usage()
        self._open: list[_Call] = []

    @property
    def model(self) -> str:
        return self._chat.model

    async def reply(self, request: ChatRequest, *, on_text: Callable[[str], None] | None = None) -> ChatReply:
        call = _Call(request, on_text)
        self._open.append(call)
        reply = await self._chat.reply(request, on_text=call.hear)
        self._open.remove(call)
        usage = reply.usage
        if usage is None:
            self._add(call.estimate(reply.text))
        else:
            self._add(
                Usage(
                    chat_input_tokens=usage.input_tokens,
                    chat_output_tokens=usage.output_tokens,
                    reasoning_tokens=usage.reasoning_tokens,
                    model_calls=1,
                )
            )
        return reply

    async def close(self) -> None:
        """The model is shared; closing is its owner's."""

    def spent(self) -> Usage:
        """Everything so far, calls that were never answered included. Counts tokens: up to tens of ms for a full context."""
        for call in self._open:
            self._add(call.estimate(call.heard))
        self._open.clear()
        return self._usage

    def _add(self, more: Usage) -> None:
        had = self._usage
        self._usage = Usage(
            chat_input_tokens=had.chat_input_tokens + more.chat_input_tokens,
            chat_output_tokens=had.chat_output_tokens + more.chat_output_tokens,
            reasoning_tokens=had.reasoning_tokens + more.reasoning_tokens,
            model_calls=had.model_calls + more.model_calls,
            estimated=had.estimated or more.estimated,
        )


class _Call:
    def __init__(self, request: ChatRequest, on_text: Callable[[str], None] | None) -> None:
        self._request = request
        self._on_text = on_text
        self._pieces: list[str] = []

    @property
    def heard(self) -> str:
        return "".join(self._pieces)

    def hear(self, piece: str) -> None:
        self._pieces.append(piece)
        if self._on_text is not None:
            self._on_text(piece)

    def estimate(self, output: str) -> Usage:
        return Usage(
            chat_input_tokens=sum(count_tokens(message.content) for message in self._request.messages),
            chat_output_tokens=count_tokens(output),
            model_calls=1,
            estimated=True,
        )
