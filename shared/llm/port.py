"""What the product needs of a chat model."""

from collections.abc import Callable
from typing import Literal, Protocol

from msgspec import Struct

Role = Literal["system", "user", "assistant"]


class Message(Struct, frozen=True, kw_only=True):
    role: Role
    content: str


class ChatRequest(Struct, frozen=True, kw_only=True):
    messages: tuple[Message, ...]
    max_output_tokens: int


class ChatUsage(Struct, frozen=True, kw_only=True):
    """The provider's own figures."""

    input_tokens: int
    output_tokens: int
    reasoning_tokens: int = 0  # already inside output_tokens


class ChatReply(Struct, frozen=True, kw_only=True):
    text: str
    reasoning: str
    usage: ChatUsage | None  # None = the provider gave none: unknown, not zero
    finish_reason: str  # "length": cut at max_output_tokens
    model: str  # as the provider named it in the reply


class Chat(Protocol):
    """One attempt; the harness decides on retries. `on_piece` hears text and reasoning alike, piece by piece as they come.

    Raises: UpstreamError, with `partial_text` where a stream broke midway. Cancelling the task aborts the provider's call.
    """

    @property
    def model(self) -> str: ...  # "provider-host/model", for the manifest

    async def reply(self, request: ChatRequest, *, on_piece: Callable[[str], None] | None = None) -> ChatReply: ...
    async def close(self) -> None: ...
