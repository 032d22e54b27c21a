"""The contents of a span for whoever gets it sent: read from the artifacts, as messages of the GenAI conventions."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct
from opentelemetry.sdk.trace import ReadableSpan

from shared.blobs import Blobs
from shared.errors import NotFound, StorageError
from shared.telemetry import names
from shared.telemetry.artifacts import ARTIFACT_PREFIX

_IN: Final = ("prompt", "question")  # artifacts that went into the step of a span
_OUT: Final = ("reply", "payload", "answer")
_SUFFIX: Final = ".sha256"


class Contents(Struct, frozen=True, kw_only=True):
    """Texts by artifact name; {} when the run's contents don't leave."""

    texts: Mapping[str, str] = {}

    def into(self) -> str | None:
        return _first(self.texts, _IN)

    def out_of(self) -> str | None:
        return _first(self.texts, _OUT)


def contents_of(span: ReadableSpan, artifacts: Blobs) -> Contents:
    """What the span refers to. What was lost on its way to the disk is left out: the hash on the span says that it was there."""
    given = span.attributes or {}
    if given.get(names.TRACE_LEVEL) != "full":
        return Contents()
    texts: dict[str, str] = {}
    for key, value in given.items():
        if key.startswith(ARTIFACT_PREFIX) and key.endswith(_SUFFIX):
            try:
                text = artifacts.read(str(value)).decode(errors="replace")
            except (NotFound, StorageError):
                continue
            texts[key.removeprefix(ARTIFACT_PREFIX).removesuffix(_SUFFIX)] = text
    return Contents(texts=texts)


def message_attributes(contents: Contents) -> dict[str, str]:
    """What the conventions keep of a model call, a tool call or a whole run, as JSON; {} without contents."""
    found: dict[str, str] = {}
    if (prompt := contents.texts.get("prompt")) is not None:
        found[names.INPUT_MESSAGES] = _json([_message(one) for one in msgspec.json.decode(prompt)])
        if (reply := contents.texts.get("reply")) is not None:
            parts: list[dict[str, Any]] = [{"type": "text", "content": reply}] if reply else []
            if reasoning := contents.texts.get("reasoning"):
                parts.insert(0, {"type": "reasoning", "content": reasoning})
            parts += _calls(msgspec.json.decode(contents.texts.get("calls", "[]")))
            found[names.OUTPUT_MESSAGES] = _json([{"role": "assistant", "parts": parts}])
    if (payload := contents.texts.get("payload")) is not None:
        found[names.TOOL_RESULT] = payload
    for artifact, role, name in (
        ("question", "user", names.INPUT_MESSAGES),
        ("answer", "assistant", names.OUTPUT_MESSAGES),
    ):
        if (text := contents.texts.get(artifact)) is not None:
            found[name] = _json([{"role": role, "parts": [{"type": "text", "content": text}]}])
    return found


def _message(wire: dict[str, Any]) -> dict[str, Any]:
    """A message as sent in the conventions' form."""
    parts: list[dict[str, Any]] = []
    text = wire.get("content")
    if wire.get("role") == "tool":
        parts.append({"type": "tool_call_response", "id": wire.get("tool_call_id"), "response": text})
    elif text:
        parts.append({"type": "text", "content": text})
    parts += _calls(wire.get("tool_calls") or ())
    return {"role": wire.get("role"), "parts": parts}


def _calls(calls: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "type": "tool_call",
            "id": call["id"],
            "name": call["function"]["name"],
            "arguments": call["function"]["arguments"],
        }
        for call in calls
    ]


def _first(texts: Mapping[str, str], order: tuple[str, ...]) -> str | None:
    return next((texts[name] for name in order if name in texts), None)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
