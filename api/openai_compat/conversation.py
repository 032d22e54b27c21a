"""A list of chat messages -> the question and what was said before. Pure."""

import re
from collections.abc import Sequence

from api.agent.run import Exchange
from api.desk import check_length
from api.openai_compat.citations import ABOUT, SOURCES
from api.openai_compat.shapes import InMessage
from shared.errors import InvalidArgument

_SOURCES, _ABOUT = (frozenset(f"**{one}**" for one in named.values()) for named in (SOURCES, ABOUT))
_LISTED = re.compile(r"\d+\. \[")  # a source in that list


def question_of(messages: Sequence[InMessage]) -> str:
    """The last user message. Raises: InvalidArgument when there is none, nothing to read in it, or too much."""
    index = _last_user(messages)
    text = text_of(messages[index], index)
    if not text.strip():
        raise InvalidArgument("The last user message is empty; ask something.", field=f"messages.{index}.content")
    check_length(text, field=f"messages.{index}.content")
    return text


def history_of(messages: Sequence[InMessage]) -> tuple[Exchange, ...]:
    """Earlier questions with their answers, oldest first. System messages and tool results are left out: they are not ours to obey."""
    exchanges: list[Exchange] = []
    asked: list[str] = []
    for index, message in enumerate(messages[: _last_user(messages)]):
        match message.role:
            case "user":
                asked.append(text_of(message, index))
            case "assistant" if asked and (answer := _without_sources(text_of(message, index)).strip()):
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


def _without_sources(text: str) -> str:
    """Without the footer of ours at its end: a heading, sources where it announces them, limitations. Line by line: the text is
    whatever a client sends.
    """
    lines = text.split("\n")
    headings = _SOURCES | _ABOUT
    heading = next((at for at in range(len(lines) - 1, -1, -1) if lines[at].strip() in headings), None)
    if heading is None:
        return text
    footer = [line for line in map(str.strip, lines[heading + 1 :]) if line]
    begins = bool(footer) and _is_source(footer[0]) == (lines[heading].strip() in _SOURCES)
    is_ours = begins and all(_is_source(line) or line[0] == ">" for line in footer)
    return "\n".join(lines[:heading]) if is_ours else text


def _is_source(line: str) -> bool:
    return _LISTED.match(line) is not None and "](" in line and line.endswith(")")


def _last_user(messages: Sequence[InMessage]) -> int:
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].role == "user":
            return index
    raise InvalidArgument("There is no user message to answer.", field="messages")
