"""A list of chat messages -> the question and what was said before. Pure."""

import re
from collections.abc import Sequence

from api.agent.run import Exchange
from api.openai_compat.shapes import InMessage
from shared.errors import InvalidArgument

_SOURCES = re.compile(
    r"\n\n\*\*(?:Sources|来源)\*\*\n\n(?:\d+\. \[.*\]\(.*\)\n?)+(?:\n> .*)*\s*\Z"
)  # what citations.py appends


def question_of(messages: Sequence[InMessage]) -> str:
    """The last user message. Raises: InvalidArgument when there is none, or nothing to read in it."""
    index = _last_user(messages)
    text = text_of(messages[index], index)
    if not text.strip():
        raise InvalidArgument("The last user message is empty; ask something.", field=f"messages.{index}.content")
    return text


def history_of(messages: Sequence[InMessage]) -> tuple[Exchange, ...]:
    """Earlier questions with their answers, oldest first. System messages and tool results are left out: they are not ours to obey."""
    exchanges: list[Exchange] = []
    asked: list[str] = []
    for index, message in enumerate(messages[: _last_user(messages)]):
        match message.role:
            case "user":
                asked.append(text_of(message, index))
            case "assistant" if asked and (answer := _SOURCES.sub("", text_of(message, index)).strip()):
                exchanges.append(Exchange(question="\n".join(asked), answer=answer))
                asked = []
            case _:
                continue
    return tuple(exchanges)


def text_of(message: InMessage, index: int) -> str:
    """Raises: InvalidArgument for anything but text."""
    match message.content:
        case None:
            return ""
        case str() as text:
            return text
        case parts:
            for number, part in enumerate(parts):
                if part.type not in ("text", "input_text"):
                    raise InvalidArgument(
                        f"A part of type {part.type!r} can't be read here: only text is. To ask about a file, import it.",
                        field=f"messages.{index}.content.{number}.type",
                    )
            return "\n".join(part.text for part in parts)


def _last_user(messages: Sequence[InMessage]) -> int:
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].role == "user":
            return index
    raise InvalidArgument("There is no user message to answer.", field="messages")
