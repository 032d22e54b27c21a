"""Traces as they are read: the spans of a run as a tree, and what is known of runs at a glance."""

from typing import Literal, TypeAlias

from msgspec import Struct

from shared.ids import DocId, RunId, SnapshotId
from shared.types.runs import Status

AttributeValue: TypeAlias = str | bool | int | float | list[str | bool | int | float]
Attributes: TypeAlias = dict[str, AttributeValue]
TraceLevel = Literal["metadata", "full"]
# limits that end the look-ups of a run before the model does
Stop = Literal["brake_count", "brake_gain", "brake_time", "context_budget_exceeded", "request_budget_exceeded"]


class SpanEvent(Struct, frozen=True, kw_only=True):
    name: str
    at_ns: int  # UTC, nanoseconds since 1970
    attributes: Attributes


class SpanNode(Struct, frozen=True, kw_only=True):
    """One span with everything beneath it, children by start."""

    trace_id: str  # 32 hex digits
    span_id: str  # 16 hex digits
    parent_id: str | None
    name: str
    start_ns: int  # UTC, nanoseconds since 1970
    end_ns: int
    status: Literal["unset", "ok", "error"]
    status_message: str | None
    attributes: Attributes
    events: tuple[SpanEvent, ...]
    children: tuple["SpanNode", ...] = ()


class Trace(Struct, frozen=True, kw_only=True):
    """What was kept of a run's or an import's spans.

    `partial`: something is known to be missing: it was dropped, or was not written yet when this was read.
    """

    partial: bool
    lost_spans: int
    lost_artifacts: int
    spans: tuple[SpanNode, ...]  # the roots, by start


class RunSummary(Struct, frozen=True, kw_only=True):
    run_id: RunId
    question: str
    status: Status
    termination_reason: str
    extractive: bool
    citations: int
    chat_tokens: int  # input and output
    embedding_tokens: int
    tool_calls: int
    snapshot_id: SnapshotId | None
    started_at_ms: int
    duration_ms: int
    rerun_of: RunId | None = None
    stopped_by: Stop | None = None  # the limit that ended its look-ups, or left something of what was found unread
    prompt_bundle: str | None = None  # id/version; None = it failed before it had one


class RunFilter(Struct, frozen=True, kw_only=True):
    """Which runs are wanted; every field given must fit. Bounds count as inside.

    `doc_ids`: one of them is cited. `text`: stands in the question, letter case aside. `before`: only runs older than this one.
    """

    status: Status | None = None
    stopped_by: Stop | Literal["any", "none"] | None = None
    min_tokens: int | None = None  # chat tokens
    max_tokens: int | None = None
    min_duration_ms: int | None = None
    max_duration_ms: int | None = None
    snapshot_id: SnapshotId | None = None
    prompt_bundle: str | None = None  # id/version, or the id alone: any version
    doc_ids: tuple[DocId, ...] = ()
    text: str | None = None
    before: RunId | None = None
