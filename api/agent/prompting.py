"""A run's texts: which language, which words, and the two messages it opens with."""

import re
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from api.agent.native import ENDINGS
from api.agent.steps import CountTokens, Start
from api.tools.registry import DESCRIPTORS
from shared.llm.port import Function
from shared.prompts import Bundle, Lang
from shared.text.lang import detect_lang
from shared.types.runs import Limits, ProtocolName, SnapshotGap
from shared.types.snapshots import Snapshot

HISTORY_TOKENS = 4_000  # of earlier exchanges, the newest first

_HAN = re.compile(r"[\u3400-\u9fff]")


class Exchange(Struct, frozen=True, kw_only=True):
    """An earlier question of the same conversation and what was answered."""

    question: str
    answer: str


class BundleWording:
    """A bundle in one language. Its sentences follow the question's language: Chinese, or English for every other."""

    def __init__(self, bundle: Bundle, lang: Lang) -> None:
        self._bundle = bundle
        self.lang: Lang = lang

    def render(self, template: str, **values: object) -> str:
        return self._bundle.render(template, lang=self.lang, **values)


def prompt_lang(question: str) -> Lang:
    lang = detect_lang(question)
    return "zh" if lang == "zh" or (lang == "und" and _HAN.search(question)) else "en"


def opening(
    question: str,
    history: Sequence[Exchange],
    *,
    wording: BundleWording,
    limits: Limits,
    snapshot: Snapshot,
    gap: SnapshotGap,
    named: Sequence[str],
    scoped: bool,
    count: CountTokens,
    protocol: ProtocolName = "react",
) -> Start:
    """The system prompt and the task, rendered from the bundle.

    `named`: missing documents, as `gaps.named` has them: data, so they stand in the task as JSON and never in the system
    prompt. `scoped`: the caller restricted the run to some documents.
    """
    tools = [
        {
            "name": one.name,
            "description": one.description[wording.lang],
            "schema": msgspec.json.encode(one.schema).decode(),
        }
        for one in DESCRIPTORS
    ]
    system = wording.render(
        "system",
        max_tool_calls=limits.max_tool_calls,
        snapshot_id=snapshot.snapshot_id,
        complete=gap.state == "ready",
        missing=len(gap.failed_documents),
        scoped=scoped,
        tools=tools,
        protocol=protocol,
    )
    return Start(
        system=system,
        task=wording.render(
            "task",
            question=question,
            history=_recent(history, count),
            missing=[msgspec.json.encode(name).decode() for name in named],
        ),
        limits=limits,
        tools=frozenset(one.name for one in DESCRIPTORS),
        snapshot_id=snapshot.snapshot_id,
        protocol=protocol,
        functions=tuple(
            Function(name=one.name, description=one.description[wording.lang], schema=one.schema) for one in DESCRIPTORS
        ),
        endings=tuple(_ending(name, argument, wording) for name, argument in ENDINGS.items()),
    )


def _ending(name: str, argument: str, wording: BundleWording) -> Function:
    text = {"type": "string", "description": wording.render("ending", name=argument)}
    schema = {"type": "object", "properties": {argument: text}, "required": [argument], "additionalProperties": False}
    return Function(name=name, description=wording.render("ending", name=name), schema=schema)


def _recent(history: Sequence[Exchange], count: CountTokens) -> list[Exchange]:
    """As many of the newest exchanges as fit, oldest first; each whole or not at all."""
    kept: list[Exchange] = []
    room = HISTORY_TOKENS
    for exchange in reversed(history):
        room -= count(exchange.question) + count(exchange.answer)
        if room < 0:
            break
        kept.append(exchange)
    return kept[::-1]
