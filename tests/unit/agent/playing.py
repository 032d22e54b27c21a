"""Play a whole run against the loop without a model, a tool or a clock: a script answers its effects."""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import msgspec
from msgspec import Struct

from api.agent.ending import Steps
from api.agent.loop import run
from api.agent.native import ENDINGS
from api.agent.observation import envelope
from api.agent.state import State
from api.agent.steps import (
    AskFailed,
    AskModel,
    CallTool,
    CountTokens,
    Event,
    Measure,
    Measured,
    Note,
    Outcome,
    Replied,
    Returned,
    Start,
    Wording,
)
from api.tools.contract import SeenBlock, ToolResult
from shared.ids import BlockId, DocId, SnapshotId
from shared.llm.port import ChatUsage, Function, FunctionCall
from shared.types.runs import Limits, ProtocolName, ToolName

TOOLS: frozenset[ToolName] = frozenset({"list_documents", "get_outline", "search_blocks", "list_blocks", "scan_term"})
SNAPSHOT = SnapshotId("snap_of_a_test")
DOC = DocId("abcdefgh")
NOW_MS = 1_790_000_000_000


class PlainWording:
    """Says which template with which values; short and the same in every run."""

    def render(self, template: str, **values: object) -> str:
        return json.dumps({"template": template, **values}, ensure_ascii=False, default=str)


PLAIN = PlainWording()


def count(text: str) -> int:
    """A token a character."""
    return len(text)


def block(index: int, text: str = "", *, extent: str = "block") -> SeenBlock:
    text = text or f"第{index}段。"
    return SeenBlock(
        block_id=BlockId(f"{DOC}.v1#{index}"),
        doc_id=DOC,
        version=1,
        title="请假制度",
        source_label="手册",
        section_path="年假",
        page_first=None,
        page_last=None,
        trust="internal",
        updated_at_ms=NOW_MS,
        extent="snippet" if extent == "snippet" else "block",
        seen=text,
        span_start=100 * index,
        span_end=100 * index + len(text),
        rank=index + 1,
    )


def result(*blocks: SeenBlock, filler: int = 0, **more: object) -> ToolResult:
    """`filler`: further characters of payload."""
    payload = {"blocks": [{"block_id": one.block_id, "text": one.seen} for one in blocks], "filler": "x" * filler}
    made = ToolResult(payload=json.dumps(payload, ensure_ascii=False).encode(), seen=blocks)
    return msgspec.structs.replace(made, **more)


def search(query: str) -> str:
    return f'Thought: 查 {query}\nAction: search_blocks[{{"query": "{query}"}}]'


def says(
    text: str,
    *,
    reasoning: str = "",
    usage: ChatUsage | None = None,
    finish_reason: str = "stop",
    metered: bool = True,
    elapsed_ms: int = 0,
    calls: tuple[FunctionCall, ...] = (),
    wants_reasoning: bool = False,
) -> Replied:
    return Replied(
        text=text,
        reasoning=reasoning,
        usage=usage,
        finish_reason=finish_reason,
        metered=metered,
        elapsed_ms=elapsed_ms,
        calls=calls,
        wants_reasoning=wants_reasoning,
    )


def fails(
    code: str,
    *,
    retryable: bool = False,
    retry_after_s: float | None = None,
    heard: str = "",
    window_tokens: int | None = None,
    elapsed_ms: int = 0,
) -> AskFailed:
    return AskFailed(
        code=code,
        message=code,
        retryable=retryable,
        retry_after_s=retry_after_s,
        heard=heard,
        window_tokens=window_tokens,
        elapsed_ms=elapsed_ms,
    )


def returns(found: ToolResult | None, *, elapsed_ms: int = 0) -> Returned:
    return Returned(result=found, at_ms=NOW_MS, elapsed_ms=elapsed_ms)


Scripted: TypeAlias = str | ToolResult | Event
Reaction: TypeAlias = Callable[[AskModel | CallTool], Event]


class Played(Struct, frozen=True, kw_only=True):
    outcome: Outcome
    asked: tuple[AskModel, ...]
    called: tuple[CallTool, ...]
    notes: tuple[Note, ...]
    measured: tuple[str, ...]

    def noted(self, *kinds: type) -> list[Note]:
        return [note for note in self.notes if isinstance(note, kinds)]


def _rules(calls: int) -> str:
    return f"规则：最多调用工具 {calls} 次"


def start(*, limits: Limits | None = None, task: str = "年假有几天？", protocol: ProtocolName = "react") -> Start:
    return Start(
        system=_rules((limits or Limits()).max_tool_calls),
        system_for=_rules,
        task=task,
        limits=limits or Limits(),
        tools=TOOLS,
        snapshot_id=SNAPSHOT,
        protocol=protocol,
        functions=tuple(Function(name=name, description="", schema={}) for name in sorted(TOOLS)),
        endings=tuple(Function(name=name, description="", schema={}) for name in ENDINGS),
    )


def play(
    script: Iterable[Scripted] | Reaction,
    *,
    limits: Limits | None = None,
    task: str = "年假有几天？",
    count: CountTokens = count,
    wording: Wording = PLAIN,
    around: Callable[[Steps, State], Steps] = lambda steps, _: steps,
    protocol: ProtocolName = "react",
) -> Played:
    """`script`: what the effects that need an answer get, in order; a str is a reply, a ToolResult is returned.

    `around`: what the loop runs within.
    """
    react = script if callable(script) else _reading(list(script))
    asked: list[AskModel] = []
    called: list[CallTool] = []
    notes: list[Note] = []
    measured: list[str] = []
    elapsed_ms = 0
    state = State(start(limits=limits, task=task, protocol=protocol), wording=wording, count=count)
    steps = around(run(state), state)
    event: Event | None = None
    while True:
        try:
            effect = steps.send(event)
        except StopIteration as end:
            return Played(
                outcome=end.value,
                asked=tuple(asked),
                called=tuple(called),
                notes=tuple(notes),
                measured=tuple(measured),
            )
        event = None
        if isinstance(effect, AskModel):
            asked.append(effect)
            event = react(effect)
            elapsed_ms = event.elapsed_ms
        elif isinstance(effect, CallTool):
            called.append(effect)
            event = react(effect)
            elapsed_ms = event.elapsed_ms
        elif isinstance(effect, Measure):
            text = envelope("ok", tool=effect.tool, payload=effect.payload, message=effect.message)
            measured.append(text)
            event = Measured(text=text, tokens=len(text), elapsed_ms=elapsed_ms)
        else:
            notes.append(effect)


def _reading(script: list[Scripted]) -> Reaction:
    def react(effect: AskModel | CallTool) -> Event:
        assert script, f"the script has nothing for {effect}"
        line = script.pop(0)
        match line:
            case str():
                return says(line)
            case ToolResult():
                return returns(line)
            case _:
                return line

    return react


def observations(ask: AskModel) -> Sequence[str]:
    return [message.content for message in ask.messages[2:] if message.role == "user"]
