"""What a run tells while it goes on; one Struct an event, `type` on the wire."""

from typing import TypeAlias

from msgspec import Struct

from shared.ids import RunId, SnapshotId
from shared.types.runs import Answer, Citation


class RunStarted(Struct, frozen=True, kw_only=True, tag_field="type", tag="run.started"):
    run_id: RunId
    snapshot_id: SnapshotId


class TurnStarted(Struct, frozen=True, kw_only=True, tag_field="type", tag="turn.started"):
    turn: int
    final: bool  # no tools any more
    purpose: str = ""  # of a turn that a path prescribes, e.g. rewrite; "" = the model decides


class Thought(Struct, frozen=True, kw_only=True, tag_field="type", tag="thought"):
    turn: int
    text: str


class ToolCalled(Struct, frozen=True, kw_only=True, tag_field="type", tag="tool.called"):
    turn: int
    tool: str
    arguments: str  # canonical JSON


class ToolResulted(Struct, frozen=True, kw_only=True, tag_field="type", tag="tool.result"):
    turn: int
    tool: str
    harness_status: str
    admitted: bool
    tokens: int
    blocks: int
    summary: str  # one line for people


class AnswerDelta(Struct, frozen=True, kw_only=True, tag_field="type", tag="answer.delta"):
    """A piece of the verified text; pieces joined are the answer's text."""

    text: str


class CitationMade(Struct, frozen=True, kw_only=True, tag_field="type", tag="citation"):
    citation: Citation


class RunCompleted(Struct, frozen=True, kw_only=True, tag_field="type", tag="run.completed"):
    answer: Answer


class RunFailed(Struct, frozen=True, kw_only=True, tag_field="type", tag="run.failed"):
    run_id: RunId
    code: str
    message: str
    retryable: bool
    answer: Answer | None = None


RunEvent: TypeAlias = (
    RunStarted
    | TurnStarted
    | Thought
    | ToolCalled
    | ToolResulted
    | AnswerDelta
    | CitationMade
    | RunCompleted
    | RunFailed
)
