"""Requests that chat clients send by themselves: a title, tags, follow-up questions … Answered by a rule, without a run.

Known by Open WebUI's header when it is configured, else by the shape of its prompts: `### Task:` in front and the transcript in
<chat_history>. Its prompt for attached files begins alike, but has no transcript: that one is a person's question.
"""

import re
from collections.abc import Sequence
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
_TRANSCRIPT = re.compile(r"<chat_history>(.*?)</chat_history>", re.DOTALL)
_FIRST_TURN = re.compile(r"\s*USER:\s*(.*?)(?=\n\s*(?:USER|ASSISTANT):|\Z)", re.DOTALL | re.IGNORECASE)


def task_of(messages: Sequence[InMessage], *, header: str | None) -> Task | None:
    """None = a person asks."""
    if header:
        named: list[Task] = [task for part, task in _BY_HEADER if part in header.lower()]
        return named[0] if named else "other"
    if len(messages) != 1 or messages[0].role != "user":
        return None
    text = text_of(messages[0], 0)
    if not text.lstrip().startswith("### Task:") or _TRANSCRIPT.search(text) is None:
        return None
    instructions = _TRANSCRIPT.sub("", text)
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
    found = _TRANSCRIPT.search(text)
    transcript = found.group(1) if found else text
    first = _FIRST_TURN.match(transcript)
    words = " ".join((first.group(1) if first else transcript).split())
    return words if len(words) <= TITLE_CHARACTERS else words[:TITLE_CHARACTERS].rstrip() + "…"


def _json(value: object) -> str:
    return json.encode(value).decode()
