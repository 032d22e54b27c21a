"""What spans and records say in numbers: one reading for the metrics of a process and for the figures of a day. Pure."""

from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple, get_args

from opentelemetry.sdk.trace import ReadableSpan

from shared.telemetry import names
from shared.types.runs import RunRecord, ToolName

# Upper ends of the buckets of durations, seconds; above the last there is one more.
BUCKETS_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
RUN_STEP: Final = "run"
_TOOLS: Final = frozenset(get_args(ToolName))
_STEPS: Final = {
    names.SEARCH: "search",
    names.SEARCH_EMBED: "search_embed",
    names.SEARCH_DENSE: "search_dense",
    names.SEARCH_KEYWORD: "search_keyword",
    names.SEARCH_FUSION: "search_fusion",
    names.SEARCH_RERANK: "search_rerank",
}


class Count(NamedTuple):
    """`name`: runs (label: status/reason) | retrievals | brakes (kind) | protocol_errors (problem) | citations (verdict) | tokens (kind)."""

    name: str
    label: str
    amount: int


class Took(NamedTuple):
    step: str  # run | model_call | tool_NAME | search | search_embed | …
    seconds: float


def counts_of_run(record: RunRecord) -> Iterator[Count]:
    """Every run once, those that failed or were cancelled included."""
    answer, usage = record.answer, record.answer.usage
    yield Count("runs", f"{answer.status}/{answer.termination_reason}", 1)
    yield Count("retrievals", "", usage.tool_calls)
    yield Count("tokens", "chat_input", usage.chat_input_tokens)
    yield Count("tokens", "chat_output", usage.chat_output_tokens)
    yield Count("tokens", "reasoning", usage.reasoning_tokens)
    yield Count("tokens", "embedding", usage.embedding_tokens)
    yield Count("tokens", "rerank", usage.rerank_tokens)


def time_of_run(record: RunRecord) -> Took:
    return Took(RUN_STEP, record.answer.duration_ms / 1000)


def counts_of_span(span: ReadableSpan) -> Iterator[Count]:
    """What happened in a run beside its answer: brakes, protocol errors, and each citation that was checked or taken out."""
    for event in span.events:
        attributes = event.attributes or {}
        if event.name == names.BRAKE:
            yield Count("brakes", str(attributes.get("kind", "")), 1)
        elif event.name == names.PROTOCOL_ERROR:
            yield Count("protocol_errors", str(attributes.get("problem", "")), 1)
        elif event.name == names.CITATION:
            yield Count("citations", str(attributes.get("verdict", "")), 1)


def time_of_span(span: ReadableSpan) -> Took | None:
    """None for a span that is no step of interest, or never ended."""
    step = _step(span.name)
    if step is None or span.start_time is None or span.end_time is None:
        return None
    return Took(step, max(span.end_time - span.start_time, 0) / 1e9)


def bucket_of(seconds: float) -> int:
    """0 .. len(BUCKETS_S)"""
    return bisect_left(BUCKETS_S, seconds)


def quantile(buckets: dict[int, int], share: float) -> float | None:
    """Seconds beneath which `share` of the measured lie, as exact as a bucket is wide; None when nothing was measured.

    Within a bucket evenly spread, as Prometheus' histogram_quantile does; above the last end: that end.
    """
    total = sum(buckets.values())
    if not total:
        return None
    wanted, below = share * total, 0
    for place in sorted(buckets):
        if buckets[place] and below + buckets[place] >= wanted:
            if place == len(BUCKETS_S):
                break
            start = BUCKETS_S[place - 1] if place else 0.0
            return start + (BUCKETS_S[place] - start) * (wanted - below) / buckets[place]
        below += buckets[place]
    return BUCKETS_S[-1]


@lru_cache(maxsize=128)
def _step(name: str) -> str | None:
    """Few words: a label of every kind there is costs whoever scrapes it."""
    if name.startswith(names.CHAT + " "):
        return "model_call"
    tool = name.removeprefix(names.TOOL + " ")
    if tool != name:
        return f"tool_{tool}" if tool in _TOOLS else "tool_unknown"
    return _STEPS.get(name)
