"""Spans that are read in batches."""

import pytest
from opentelemetry.sdk.trace import ReadableSpan

from shared.telemetry import names
from shared.telemetry.metrics import Metrics, Moment
from shared.telemetry.processor import MOST_UNREAD, Reader
from shared.telemetry.seen import Heard, Seen


class Names(Reader):
    def __init__(self) -> None:
        super().__init__()
        self.read_so_far: list[str] = []

    def read(self, span: ReadableSpan) -> None:
        self.read_so_far.append(span.name)


def a_span(name: str, *, end_ms: int = 7, tokens: bool = True) -> ReadableSpan:
    attributes = {names.TOKENS_ESTIMATED: False} if tokens else {}
    return ReadableSpan(name=name, start_time=0, end_time=end_ms * 1_000_000, attributes=attributes)


def test_spans_are_read_in_order_and_once_when_somebody_settles() -> None:
    reader = Names()
    for name in ("问", "查", "答"):
        reader.on_end(a_span(name))
    assert reader.read_so_far == []
    reader.settle()
    reader.settle()
    assert reader.read_so_far == ["问", "查", "答"]


def test_where_nobody_settles_they_are_read_before_they_are_too_many() -> None:
    reader, span = Names(), a_span("turn")
    for _ in range(MOST_UNREAD):
        reader.on_end(span)
    assert len(reader.read_so_far) == MOST_UNREAD


def test_metrics_tell_of_a_span_that_ended_just_now() -> None:
    metrics = Metrics()
    metrics.on_end(a_span(f"{names.CHAT} m"))
    assert b'citebound_step_seconds_count{step="model_call"} 1.0' in metrics.text(Moment())


@pytest.mark.parametrize("service", ["chat", "embeddings"])
def test_who_answered_last_is_known_as_soon_as_it_did(service: str) -> None:
    seen = Seen()
    seen.on_end(a_span({"chat": f"{names.CHAT} m", "embeddings": names.SEARCH_EMBED}[service], end_ms=9))
    assert seen.of(service) == Heard(answered_at_ms=9)
