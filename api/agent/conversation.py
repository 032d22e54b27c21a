"""What the model has been told so far, and how large that is."""

from msgspec.structs import replace

from api.agent import budget
from api.agent.budget import Context
from api.agent.steps import CountTokens
from shared.llm.port import ChatUsage, Message, Role


class Conversation:
    """Messages in order; every one is counted once, when it is said."""

    def __init__(self, count: CountTokens) -> None:
        self._count = count
        self._messages: list[Message] = []
        self._sizes: list[int] = []
        self.context = Context()

    def size(self, text: str) -> int:
        """Tokens of `text` as a message."""
        return self._count(text) + budget.MESSAGE_TOKENS

    def say(self, role: Role, content: str, *, size: int | None = None) -> int:
        """Add a message; returns its place. `size`: as a message, where it is known."""
        size = self.size(content) if size is None else size
        self._messages.append(Message(role=role, content=content))
        self._sizes.append(size)
        self.context = budget.grown(self.context, size)
        return len(self._messages) - 1

    def replace(self, place: int, content: str) -> None:
        """Put other text where a message stood that the provider never took."""
        self._messages[place] = replace(self._messages[place], content=content)
        size = self.size(content)
        self.context = budget.grown(self.context, size - self._sizes[place])
        self._sizes[place] = size

    def sent(self, usage: ChatUsage | None) -> None:
        """A call took all messages so far: from here on the provider's own figure counts."""
        self.context = budget.anchored(self.context, usage)

    def messages(self) -> tuple[Message, ...]:
        """As they are sent: neighbours of one role joined, because many chat templates demand alternation."""
        joined: list[Message] = []
        for message in self._messages:
            if joined and joined[-1].role == message.role:
                joined[-1] = replace(message, content=f"{joined[-1].content}\n\n{message.content}")
            else:
                joined.append(message)
        return tuple(joined)
