"""What the model has been told so far, and how large that is."""

import msgspec
from msgspec.structs import replace

from api.agent import budget, metering
from api.agent.metering import Context
from api.agent.steps import CountTokens
from shared.llm.port import Function, FunctionCall, Message, Role
from shared.llm.shapes import function_shape


class Conversation:
    """Messages in order; every one is counted once, when it is said."""

    def __init__(self, count: CountTokens) -> None:
        self._count = count
        self._messages: list[Message] = []
        self._sizes: list[int] = []
        self._functions: tuple[Function, ...] = ()
        self._offered = 0  # tokens of the functions
        self._sent = 0  # messages that the provider has counted
        self.context = Context()

    def size(self, text: str) -> int:
        """Tokens of `text` as a message."""
        return self._count(text) + budget.MESSAGE_TOKENS

    def offer(self, functions: tuple[Function, ...]) -> None:
        """Have calls carry these functions from here on; they count like messages."""
        if functions != self._functions:
            offered = sum(self.size(msgspec.json.encode(function_shape(one)).decode()) for one in functions)
            self._resize(offered - self._offered, counted=self._sent > 0)
            self._functions, self._offered = functions, offered

    @property
    def functions(self) -> tuple[Function, ...]:
        return self._functions

    def say(self, role: Role, content: str, *, size: int | None = None) -> int:
        """Add a message; returns its place. `size`: as a message, where it is known."""
        return self._add(Message(role=role, content=content), self.size(content) if size is None else size)

    def call(self, content: str, call: FunctionCall, *, reasoning: str = "") -> None:
        """Add what the model said and called; what is observed next answers this call."""
        size = self.size(content) + self.size(call.name + call.arguments) + self._count(reasoning)
        self._add(Message(role="assistant", content=content, call=call, reasoning=reasoning), size)

    def observe(self, content: str, *, size: int | None = None) -> int:
        """Add the harness's answer to an action, in the form in which the action was said; returns its place."""
        last = self._messages[-1] if self._messages else None
        if last is None or last.call is None:
            return self.say("user", content, size=size)
        message = Message(role="tool", content=content, call_id=last.call.call_id)
        return self._add(message, self.size(content) if size is None else size)

    def at(self, place: int) -> str:
        return self._messages[place].content

    def size_at(self, place: int) -> int:
        return self._sizes[place]

    def replace(self, place: int, content: str) -> None:
        """Put other text where a message stood that no longer holds."""
        size = self.size(content)
        self._resize(size - self._sizes[place], counted=place < self._sent)
        self._messages[place] = replace(self._messages[place], content=content)
        self._sizes[place] = size

    @property
    def counted(self) -> int:
        """Our count of all that the next call would send."""
        return sum(self._sizes) + self._offered

    def sent(self, input_tokens: int | None) -> None:
        """A call took all messages so far: from here on the provider's own figure counts, where it gave one to be believed."""
        self.context = metering.anchored(self.context, input_tokens)
        if input_tokens is not None:
            self._sent = len(self._messages)

    def messages(self) -> tuple[Message, ...]:
        """As they are sent: neighbours of one role joined, because many chat templates demand alternation."""
        joined: list[Message] = []
        for message in self._messages:
            if joined and _are_one(joined[-1], message):
                joined[-1] = replace(message, content=f"{joined[-1].content}\n\n{message.content}")
            else:
                joined.append(message)
        return tuple(joined)

    def _add(self, message: Message, size: int) -> int:
        self._messages.append(message)
        self._sizes.append(size)
        self.context = metering.grown(self.context, size)
        return len(self._messages) - 1

    def _resize(self, more: int, *, counted: bool) -> None:
        """`more`: tokens, ours. `counted`: what changes is part of what the provider has counted."""
        before = self.counted - self.context.added
        if more < 0 and counted:
            self.context = metering.rescaled(self.context, before=before, after=before + more)
        else:
            self.context = metering.grown(self.context, more)


def _are_one(first: Message, second: Message) -> bool:
    return first.role == second.role != "tool" and first.call is None and second.call is None
