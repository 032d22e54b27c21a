"""What the product needs of a chat model."""

from collections.abc import Callable
from typing import Any, Literal, Protocol

from msgspec import Struct

Role = Literal["system", "user", "assistant", "tool"]


class FunctionCall(Struct, frozen=True, kw_only=True):
    """A native tool call. `arguments`: JSON text as the model wrote it, perhaps none at all."""

    call_id: str
    name: str
    arguments: str


class Function(Struct, frozen=True, kw_only=True):
    """What a model is offered to call. `schema`: JSON schema of the arguments."""

    name: str
    description: str
    schema: dict[str, Any]


class Message(Struct, frozen=True, kw_only=True):
    """`call`: what an assistant's message called. `call_id`: the call that a tool's message answers.

    `reasoning`: hidden reasoning that goes back with a call, to a provider that wants it.
    """

    role: Role
    content: str
    call: FunctionCall | None = None
    call_id: str = ""
    reasoning: str = ""


class ChatRequest(Struct, frozen=True, kw_only=True):
    messages: tuple[Message, ...]
    max_output_tokens: int
    functions: tuple[Function, ...] = ()


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
    calls: tuple[FunctionCall, ...] = ()
    wants_reasoning: bool = False  # back, in the message that holds this reply's call


class ChatProfile(Struct, frozen=True, kw_only=True):
    """How a provider is asked beside the messages. Neither holds a key, or a value of `extra_body`."""

    name: str = ""  # for people
    sha256: str = ""  # over all that is sent the same in every request, and where to


class Chat(Protocol):
    """One attempt; the harness decides on retries. `on_piece` hears text, reasoning and calls, piece by piece as they come.

    Raises: UpstreamError, with `partial_text` where a stream broke midway. Cancelling the task aborts the provider's call.
    """

    @property
    def model(self) -> str: ...  # "provider-host/model", for the manifest

    @property
    def profile(self) -> ChatProfile: ...

    @property
    def window_tokens(self) -> int | None: ...  # input and output of one call, once the provider has said it

    async def reply(self, request: ChatRequest, *, on_piece: Callable[[str], None] | None = None) -> ChatReply: ...
    async def close(self) -> None: ...
