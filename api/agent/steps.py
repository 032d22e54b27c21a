"""What the loop asks its driver to do, what it gets back, and how a run ends: the loop's whole vocabulary."""

from collections.abc import Callable
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct

from api.agent.brakes import Brake
from api.agent.budget import Verdict
from api.agent.decisions import Finish, Problem
from api.agent.ledger import Ledger
from api.tools.contract import ToolResult
from shared.ids import SnapshotId
from shared.llm.port import ChatUsage, Function, FunctionCall, Message
from shared.types.events import Thought, ToolCalled, ToolResulted, TurnStarted
from shared.types.runs import Limitation, Limits, ProtocolName, ToolName, Usage


class Wording(Protocol):
    """Every sentence of a run, from its prompt bundle and in its language. Deterministic."""

    def render(self, template: str, **values: object) -> str: ...


class CountTokens(Protocol):
    def __call__(self, text: str) -> int: ...


class Start(Struct, frozen=True, kw_only=True):
    """`system`, `task`: rendered prompts. `system_for`: the same `system` with another number of tool calls. `tools`: names that may be called; fixed in code, no text can widen it.

    `functions`, `endings`: the tools, and ways to end without an answer, as native functions. `collection`: what the snapshot
    holds, rendered, as it stands in `system`.
    """

    system: str
    system_for: Callable[[int], str]
    task: str
    limits: Limits
    tools: frozenset[ToolName]
    snapshot_id: SnapshotId
    collection: str = ""
    protocol: ProtocolName = "react"
    functions: tuple[Function, ...] = ()
    endings: tuple[Function, ...] = ()


# --- effects: the loop to the driver


class AskModel(Struct, frozen=True, kw_only=True):
    """One real model call. Answered by Replied or AskFailed.

    `input_tokens`: size of `messages` and `functions` as the budget sees it, `anchored` on real usage or not. `wait_ms`: before a retry.
    `until_ms`: since the run's start, when the call is cut off.
    """

    turn: int
    attempt: int
    final: bool
    messages: tuple[Message, ...]
    functions: tuple[Function, ...]
    input_tokens: int
    anchored: bool
    max_output_tokens: int
    wait_ms: int
    until_ms: int


class CallTool(Struct, frozen=True, kw_only=True):
    """One logical tool call. Answered by Returned."""

    turn: int
    tool: str
    arguments: dict[str, object]
    until_ms: int


class Measure(Struct, frozen=True, kw_only=True):
    """Make the text of an observation, of any size, and count its chat tokens: an effect, because seconds may go by. Answered by Measured."""

    tool: str
    payload: bytes
    message: str


class Admission(Struct, frozen=True, kw_only=True):
    """`used`: context tokens before. `limit`, `reserve`: of the context, as it was decided by them; what calls have shown counts in `reserve`."""

    tool: str
    verdict: Verdict
    used: int
    limit: int
    reserve: int


class Braked(Struct, frozen=True, kw_only=True):
    kind: Brake


class Misspoken(Struct, frozen=True, kw_only=True):
    problem: Problem | Literal["tool_unavailable"]
    detail: str


class Retried(Struct, frozen=True, kw_only=True):
    code: str
    wait_ms: int


class Noted(Struct, frozen=True, kw_only=True):
    """A decision that the trace keeps: `event` on the turn, with plain values."""

    event: str
    values: dict[str, str | int | float | bool]


Note: TypeAlias = Noted | TurnStarted | Thought | ToolCalled | ToolResulted | Admission | Braked | Misspoken | Retried
Effect: TypeAlias = AskModel | CallTool | Measure | Note  # a Note is answered by None


# --- events: the driver to the loop


class Replied(Struct, frozen=True, kw_only=True):
    """`metered` False: no model was called (the extractive answerer). `elapsed_ms`: since the run's start, monotonic."""

    text: str
    reasoning: str
    usage: ChatUsage | None
    finish_reason: str
    metered: bool
    elapsed_ms: int
    calls: tuple[FunctionCall, ...] = ()
    wants_reasoning: bool = False


class AskFailed(Struct, frozen=True, kw_only=True):
    """`code`: of an UpstreamError, "time" when the run's clock cut the call off, or a tool's when no model was asked.

    `heard`: text, reasoning and calls that had come by then. `window_tokens`: the provider's own limit, where it says one.
    """

    code: str
    message: str
    retryable: bool
    retry_after_s: float | None
    heard: str
    elapsed_ms: int
    metered: bool = True
    window_tokens: int | None = None


class Returned(Struct, frozen=True, kw_only=True):
    """`result` None: cut off by the run's clock. `at_ms`: UTC."""

    result: ToolResult | None
    at_ms: int
    elapsed_ms: int


class Measured(Struct, frozen=True, kw_only=True):
    text: str
    tokens: int
    elapsed_ms: int


Event: TypeAlias = Replied | AskFailed | Returned | Measured


# --- the end


class Broken(Struct, frozen=True, kw_only=True):
    """No answer: why, as a code that deterministic texts exist for."""

    code: str
    message: str
    retryable: bool


class Outcome(Struct, frozen=True, kw_only=True):
    """`reason`: "finished", "refused", "clarification", or the code of what closed the tools or broke the run."""

    ending: Finish | Broken
    reason: str
    closed: str | None  # why the tools were closed before the model finished by itself
    ledger: Ledger
    spent: Usage
    limitations: tuple[Limitation, ...]
    turns: int
