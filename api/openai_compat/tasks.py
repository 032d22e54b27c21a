"""Requests that chat clients send by themselves: a title, tags, follow-up questions … Answered by a rule, without a run.

Known by Open WebUI's header when it is configured, else by the shape of its prompts: `### Task:` in front and the transcript in
<chat_history>. Its prompt for attached files begins alike, but has no transcript: that one is a person's question.
"""

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Literal

from msgspec import json

from api.openai_compat.conversation import text_of
from api.openai_compat.shapes import InMessage

Task = Literal["title", "tags", "follow_ups", "queries", "autocomplete", "emoji", "image_prompt", "other"]

HEADER = "x-openwebui-task"
TITLE_CHARACTERS = 40

_BY_HEADER: tuple[tuple[str, Task], ...] = (
    ("title", "title"),
    ("tags", "tags"),
    ("follow", "follow_ups"),
    ("quer", "queries"),
    ("autocomplete", "autocomplete"),
    ("emoji", "emoji"),
    ("image", "image_prompt"),
)
_BY_KEY: tuple[tuple[str, Task], ...] = (  # the key of the JSON object that the prompt asks for
    ("title", "title"),
    ("tags", "tags"),
    ("follow_ups", "follow_ups"),
    ("queries", "queries"),
    ("text", "autocomplete"),
    ("prompt", "image_prompt"),
)
_BEGINS, _ENDS = "<chat_history>", "</chat_history>"


def task_of(messages: Sequence[InMessage], *, header: str | None) -> Task | None:
    """None = a person asks."""
    if header:
        named: list[Task] = [task for part, task in _BY_HEADER if part in header.lower()]
        return named[0] if named else "other"
    if len(messages) != 1 or messages[0].role != "user":
        return None
    text = text_of(messages[0], 0)
    span = _transcript(text)
    if span is None or not text.lstrip().startswith("### Task:"):
        return None
    instructions = text[: span[0]] + text[span[1] :]
    wanted: list[Task] = [task for key, task in _BY_KEY if re.search(rf'"{key}"\s*:', instructions)]
    return wanted[0] if wanted else "emoji" if "emoji" in instructions.lower() else "other"


def answer_task(task: Task, messages: Sequence[InMessage]) -> str:
    """In the shape that the client asked for."""
    match task:
        case "title":
            return _json({"title": _title(messages)})
        case "tags" | "follow_ups" | "queries":
            return _json({task: []})
        case "autocomplete":
            return _json({"text": ""})
        case "image_prompt":
            return _json({"prompt": _title(messages)})
        case "emoji":
            return "💬"
        case "other":
            return ""


def _title(messages: Sequence[InMessage]) -> str:
    """How the conversation began, cut short."""
    text = "\n".join(text_of(message, index) for index, message in enumerate(messages) if message.role == "user")
    span = _transcript(text)
    words = " ".join((text if span is None else _first_turn(text[span[0] : span[1]])).split())
    return words if len(words) <= TITLE_CHARACTERS else words[:TITLE_CHARACTERS].rstrip() + "…"


def _transcript(text: str) -> tuple[int, int] | None:
    """Where it stands between its tags."""
    start = text.find(_BEGINS)
    end = -1 if start < 0 else text.find(_ENDS, start)
    return None if end < 0 else (start + len(_BEGINS), end)


def _first_turn(transcript: str) -> str:
    """What the user said first; the whole of a transcript of another form."""
    said = transcript.lstrip()
    if said[:5].upper() != "USER:":
        return transcript
    first, *more = said[5:].split("\n")
    return "\n".join(
        [first, *takewhile(lambda line: not line.lstrip().upper().startswith(("USER:", "ASSISTANT:")), more)]
    )


def _json(value: object) -> str:
    return json.encode(value).decode()
