"""A run's texts: which language, which words, and the two messages it opens with."""

import re
from collections.abc import Sequence
from functools import lru_cache

import msgspec
from msgspec import Struct

from api.agent.native import ENDINGS
from api.agent.observation import quoted
from api.agent.steps import CountTokens, Start, Wording
from api.tools.registry import DESCRIPTORS
from shared.aside import SHORT
from shared.ids import SnapshotId
from shared.llm.port import Function
from shared.prompts import Bundle, Lang
from shared.text.lang import detect_lang
from shared.text.sentences import sentences
from shared.text.tokens import count_tokens
from shared.types.runs import Limits, ProtocolName, SnapshotGap
from shared.types.snapshots import Snapshot

HISTORY_TOKENS = 4_000  # of earlier exchanges, the newest first
SUMMARY_TOKENS = 1_000  # of one line for each exchange before those
QUESTION_CHARS, ANSWER_CHARS = 120, 160  # of such a line

_HAN = re.compile(r"[\u3400-\u9fff]")


class Exchange(Struct, frozen=True, kw_only=True):
    """An earlier question of the same conversation and what was answered."""

    question: str
    answer: str


class Asked(Struct, frozen=True, kw_only=True):
    """The question, and what was said before it.

    `plain`: the question made to stand alone by words; `question` itself where it does already. `recent`: exchanges in their words,
    oldest first, as many as fit; `summary`: one line for each one before them. `missing`: names of missing documents as JSON strings.
    """

    question: str
    plain: str
    recent: tuple[Exchange, ...] = ()  # this and what follows as JSON strings: they may hold what documents say
    summary: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def leans(self) -> bool:
        return self.plain != self.question


class BundleWording(Struct, frozen=True):
    """A bundle in one language. Its sentences follow the question's language: Chinese, or English for every other."""

    bundle: Bundle  # the same one in two wordings makes them equal
    lang: Lang

    def render(self, template: str, **values: object) -> str:
        return self.bundle.render(template, lang=self.lang, **values)


def prompt_lang(question: str) -> Lang:
    lang = detect_lang(question)
    return "zh" if lang == "zh" or (lang == "und" and _HAN.search(question)) else "en"


def asked(
    question: str,
    *,
    plain: str | None = None,
    history: Sequence[Exchange] = (),
    named: Sequence[str] = (),
    count: CountTokens,
) -> Asked:
    """`named`: missing documents, as `gaps.lines` has them: data, so they stand in the task as JSON and never in the system prompt."""
    recent = _recent(history, count)
    return Asked(
        question=question,
        plain=question if plain is None else plain,
        recent=tuple(Exchange(question=quoted(one.question), answer=quoted(one.answer)) for one in recent),
        summary=tuple(map(quoted, _summary(history[: len(history) - len(recent)], count))),
        missing=tuple(quoted(name) for name in named),
    )


def task(wording: Wording, asked: Asked, *, read_as: str | None = None) -> str:
    """The message that hands the question over. `read_as`: what it means, standing alone, where that is not the same.

    It may hold what a document says, by an earlier answer: a JSON string, unlike the reader's own words.
    """
    return wording.render(
        "task",
        question=asked.question,
        read_as=None if read_as is None or read_as == asked.question else quoted(read_as),
        history=list(asked.recent),
        summary=list(asked.summary),
        missing=list(asked.missing),
    )


class Preamble(Struct, frozen=True, kw_only=True):
    """What every run opens with that has the same bundle, language, snapshot and limits."""

    system: str
    collection: str
    functions: tuple[Function, ...]
    endings: tuple[Function, ...]


def opening(
    asked: Asked,
    *,
    wording: BundleWording,
    limits: Limits,
    snapshot: Snapshot,
    gap: SnapshotGap,
    scoped: bool,
    protocol: ProtocolName = "react",
) -> Start:
    """The system prompt and the task, rendered from the bundle. `scoped`: the caller restricted the run to some documents."""

    def preamble(calls: int) -> Preamble:
        return _preamble(
            wording,
            protocol=protocol,
            max_tool_calls=calls,
            snapshot_id=snapshot.snapshot_id,
            complete=gap.state == "ready",
            missing=len(gap.failed_documents),
            scoped=scoped,
        )

    common = preamble(limits.max_tool_calls)
    return Start(
        system=common.system,
        system_for=lambda calls: preamble(calls).system,
        task=task(wording, asked),
        limits=limits,
        tools=frozenset(one.name for one in DESCRIPTORS),
        snapshot_id=snapshot.snapshot_id,
        collection=common.collection,
        protocol=protocol,
        functions=common.functions,
        endings=common.endings,
    )


@lru_cache(maxsize=64)
def _preamble(
    wording: BundleWording,
    *,
    protocol: ProtocolName,
    max_tool_calls: int,
    snapshot_id: SnapshotId,
    complete: bool,
    missing: int,
    scoped: bool,
) -> Preamble:
    """Rendered once for all runs that have it in common: it is by far the longest of a run's texts."""
    tools = [
        {
            "name": one.name,
            "description": one.description[wording.lang],
            "schema": msgspec.json.encode(one.schema).decode(),
        }
        for one in DESCRIPTORS
    ]
    holds: dict[str, object] = {
        "snapshot_id": snapshot_id,
        "complete": complete,
        "missing": missing,
        "scoped": scoped,
    }
    return Preamble(
        system=wording.render("system", max_tool_calls=max_tool_calls, tools=tools, protocol=protocol, **holds),
        collection=wording.render("status", **holds),
        functions=tuple(
            Function(name=one.name, description=one.description[wording.lang], schema=one.schema) for one in DESCRIPTORS
        ),
        endings=tuple(_ending(name, argument, wording) for name, argument in ENDINGS.items()),
    )


@lru_cache(maxsize=64)
def tokens_of_preamble(system: str) -> int:
    """Chat tokens of a system prompt, counted once for all runs that open with it."""
    return count_tokens(system)


def counting(system: str) -> CountTokens:
    """Chat tokens for one run, each of its texts counted once: a reply costs as output what it costs as a message.

    `system`: its system prompt. What is longer than SHORT may be refused, and is not kept for that.
    """
    counted = {system: tokens_of_preamble(system), "": 0}

    def count(text: str) -> int:
        tokens = counted.get(text)
        if tokens is None:
            tokens = count_tokens(text)
            if len(text) <= SHORT:
                counted[text] = tokens
        return tokens

    return count


def _ending(name: str, argument: str, wording: BundleWording) -> Function:
    text = {"type": "string", "description": wording.render("ending", name=argument)}
    schema = {"type": "object", "properties": {argument: text}, "required": [argument], "additionalProperties": False}
    return Function(name=name, description=wording.render("ending", name=name), schema=schema)


def _summary(history: Sequence[Exchange], count: CountTokens) -> list[str]:
    """A line for each exchange that the newest ones left no room for, oldest first, as many of the newest as fit."""
    lines: list[str] = []
    room = SUMMARY_TOKENS
    for exchange in reversed(history):
        line = f"{_cut(exchange.question, QUESTION_CHARS)} → {_cut(exchange.answer, ANSWER_CHARS)}"
        room -= count(line)
        if room < 0:
            break
        lines.append(line)
    return lines[::-1]


def _cut(text: str, most: int) -> str:
    """The first sentence on one line."""
    start, end = next(iter(sentences(text)), (0, 0))
    line = " ".join(text[start:end].split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


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
