"""The queue between whoever ends a span and the disk."""

import threading

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanContext, TraceFlags

from shared.telemetry.buffer import Buffer, Content, Ended, Losses
from tests.patience import PATIENCE_S
from tests.unit.telemetry.factories import a_record


def a_span(trace_id: int = 1) -> Ended:
    context = SpanContext(trace_id=trace_id, span_id=7, is_remote=False, trace_flags=TraceFlags(1))
    return Ended(ReadableSpan(name="turn", context=context), full=False)


def test_what_is_put_is_taken_once_and_in_order() -> None:
    buffer = Buffer(max_spans=3)
    spans = [a_span(), a_span(), a_span()]
    for span in spans:
        buffer.put_span(span)
    buffer.put_run(a_record())
    batch = buffer.take(linger_s=0)
    assert batch is not None
    assert all(taken is put for taken, put in zip(batch.spans, spans, strict=True))
    assert batch.runs == [a_record()]
    buffer.close()
    assert buffer.take(linger_s=0) is None


def test_a_span_without_room_is_counted_to_its_trace_and_forgotten() -> None:
    buffer = Buffer(max_spans=1)
    for trace_id in (5, 6, 6):
        buffer.put_span(a_span(trace_id))
    assert buffer.losses() == {6: Losses(spans=2)}
    assert buffer.dropped() == {"spans_dropped": 2}


def test_contents_are_bounded_by_their_bytes_not_their_number() -> None:
    buffer = Buffer(max_spans=1, max_content_bytes=10)
    for data in (b"12345", b"12345", b"1"):
        buffer.put_content(Content(9, "0" * 64, data))
    assert buffer.losses() == {9: Losses(artifacts=1)}
    batch = buffer.take(linger_s=0)
    assert batch is not None
    assert [content.data for content in batch.contents] == [b"12345", b"12345"]
    buffer.put_content(Content(9, "0" * 64, b"1234567890"))  # room again
    assert buffer.losses() == {}


def test_when_too_many_runs_wait_the_oldest_is_given_up() -> None:
    buffer = Buffer(max_spans=1, max_runs=2)
    for run_id in ("run_1", "run_2", "run_3"):
        buffer.put_run(a_record(run_id=run_id))
    batch = buffer.take(linger_s=0)
    assert batch is not None
    assert [record.answer.run_id for record in batch.runs] == ["run_2", "run_3"]
    assert batch.counters == {"runs_dropped": 1}


def test_after_closing_everything_is_lost_and_nothing_raises() -> None:
    buffer = Buffer(max_spans=9)
    buffer.close()
    buffer.put_span(a_span(3))
    buffer.put_content(Content(3, "0" * 64, b"1"))
    assert buffer.losses() == {3: Losses(spans=1, artifacts=1)}


@pytest.mark.parametrize("in_hand", [False, True], ids=["still inside", "already taken"])
def test_whoever_waits_is_told_when_his_own_span_is_done_and_not_before(in_hand: bool) -> None:
    buffer = Buffer(max_spans=9)
    buffer.put_span(a_span())
    taken = buffer.take(linger_s=0) if in_hand else None
    assert not buffer.wait_done(timeout_s=0)

    def write() -> None:
        batch = taken or buffer.take(linger_s=60)  # does not linger: somebody waits
        assert batch is not None
        buffer.done(batch)

    writer = threading.Thread(target=write)
    waiting = threading.Thread(target=lambda: told.append(buffer.wait_done(timeout_s=PATIENCE_S)))
    told: list[bool] = []
    waiting.start()
    writer.start()
    writer.join(PATIENCE_S)
    waiting.join(PATIENCE_S)
    assert told == [True]


def test_a_batch_that_could_not_be_written_is_told_of_with_the_next_one_and_counted_once() -> None:
    buffer = Buffer(max_spans=1)
    for trace_id in (5, 6):
        buffer.put_span(a_span(trace_id))
    buffer.put_run(a_record())
    failed = buffer.take(linger_s=0)
    assert failed is not None
    buffer.lose_batch(failed)
    buffer.put_span(a_span(7))
    following = buffer.take(linger_s=0)
    assert following is not None
    assert following.losses == {5: Losses(spans=1), 6: Losses(spans=1)}
    assert following.counters == {"spans_dropped": 2, "runs_dropped": 1}
    assert buffer.dropped() == {"spans_dropped": 2, "runs_dropped": 1}


def test_what_was_lost_since_the_start_stays_known_after_it_was_written() -> None:
    buffer = Buffer(max_spans=1)
    for trace_id in (5, 6):
        buffer.put_span(a_span(trace_id))
    assert buffer.take(linger_s=0) is not None
    assert buffer.dropped() == {"spans_dropped": 1}
