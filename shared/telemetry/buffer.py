"""What waits to be written: bounded, and never in the way of whoever puts something in."""

import threading
from collections import Counter, deque
from collections.abc import Mapping

from msgspec import Struct, field
from opentelemetry.sdk.trace import ReadableSpan

from shared.ids import RunId
from shared.types.runs import RunRecord

MAX_CONTENT_BYTES = 64 * 1024 * 1024  # artifacts waiting for the disk
MAX_RUNS = 1_000
MAX_LOSSES = 10_000  # traces whose losses are remembered until they are written


class Content(Struct, frozen=True):
    """Text of an artifact on its way to the content store."""

    trace_id: int
    sha256: str
    data: bytes


class Ended(Struct, frozen=True):
    """A span that is over. `full`: its contents may be kept."""

    span: ReadableSpan
    full: bool

    @property
    def trace_id(self) -> int:
        context = self.span.get_span_context()
        return context.trace_id if context else 0


class Losses(Struct, frozen=True):
    spans: int = 0
    artifacts: int = 0

    def plus(self, *, spans: int = 0, artifacts: int = 0) -> "Losses":
        return Losses(self.spans + spans, self.artifacts + artifacts)


class Batch(Struct, kw_only=True):
    """Everything that waited at one moment. `ticket`: every put before it is inside this or an earlier batch."""

    spans: list[Ended] = field(default_factory=list[Ended])
    contents: list[Content] = field(default_factory=list[Content])
    runs: list[RunRecord] = field(default_factory=list[RunRecord])
    losses: dict[int, Losses] = field(default_factory=dict[int, Losses])  # by trace_id
    counters: Counter[str] = field(default_factory=Counter[str])
    ticket: int = 0


class Buffer:
    """Any number of threads put, one takes. A put costs a lock held for microseconds; when there is no room it is counted and forgotten."""

    def __init__(self, *, max_spans: int, max_content_bytes: int = MAX_CONTENT_BYTES, max_runs: int = MAX_RUNS) -> None:
        self._max_spans = max_spans
        self._max_content_bytes = max_content_bytes
        self._max_runs = max_runs
        self._lock = threading.Lock()
        self._arrived = threading.Condition(self._lock)  # something to take
        self._hurry = threading.Condition(self._lock)  # somebody waits for what is inside
        self._written = threading.Condition(self._lock)
        self._spans: deque[Ended] = deque()
        self._contents: deque[Content] = deque()
        self._content_bytes = 0
        self._runs: dict[RunId, RunRecord] = {}
        self._losses: dict[int, Losses] = {}
        self._counters: Counter[str] = Counter()  # not written yet
        self._dropped: Counter[str] = Counter()  # since the process began
        self._news = False  # something that was in no batch yet
        self._puts = 0
        self._done = 0
        self._listening = False  # the taker stands at `_arrived`
        self._waiting = 0  # how many stand in wait_done
        self._closed = False

    def put_span(self, span: Ended) -> None:
        with self._lock:
            if len(self._spans) >= self._max_spans or self._closed:
                self._lose(span.trace_id, spans=1)
                return
            self._spans.append(span)
            self._put()

    def put_content(self, content: Content) -> None:
        with self._lock:
            if self._content_bytes + len(content.data) > self._max_content_bytes or self._closed:
                self._lose(content.trace_id, artifacts=1)
                return
            self._contents.append(content)
            self._content_bytes += len(content.data)
            self._put()

    def put_run(self, record: RunRecord) -> None:
        """When too many wait, the oldest is given up."""
        with self._lock:
            while len(self._runs) >= self._max_runs:
                del self._runs[next(iter(self._runs))]
                self._count("runs_dropped", 1)
            self._runs[record.answer.run_id] = record
            self._put()

    def lose(self, trace_id: int, *, spans: int = 0, artifacts: int = 0) -> None:
        """Note that something of a trace is gone."""
        with self._lock:
            self._lose(trace_id, spans=spans, artifacts=artifacts)

    def lose_runs(self, count: int) -> None:
        with self._lock:
            self._count("runs_dropped", count)

    def lose_written(self, *, spans: int, runs: int) -> None:
        """The file with all of these is gone. Their traces read as partial without a note: nothing of them is found."""
        with self._lock:
            self._count("spans_dropped", spans)
            self._count("runs_dropped", runs)

    def lose_batch(self, batch: Batch) -> None:
        """What could not be written is lost; what the batch knew of earlier losses is told again. Wakes nobody by itself."""
        with self._lock:
            news = self._news
            for ended in batch.spans:
                self._lose(ended.trace_id, spans=1)
            self._count("runs_dropped", len(batch.runs))
            for trace_id, lost in batch.losses.items():
                self._remember(trace_id, spans=lost.spans, artifacts=lost.artifacts)
            self._counters += batch.counters
            self._news = news

    def take(self, *, linger_s: float) -> Batch | None:
        """Wait until something is there, let more gather for `linger_s` unless somebody waits for it; None once closed and empty."""
        with self._lock:
            self._listening = True
            self._arrived.wait_for(lambda: self._closed or self._news)
            self._listening = False
            # Not on `_arrived`: while more gathers, a put wakes nobody.
            self._hurry.wait_for(lambda: self._closed or self._waiting > 0, linger_s)
            if self._idle():
                return None
            batch = Batch(
                spans=list(self._spans),
                contents=list(self._contents),
                runs=list(self._runs.values()),
                losses=self._losses,
                counters=self._counters,
                ticket=self._puts,
            )
            self._spans.clear()
            self._contents.clear()
            self._content_bytes = 0
            self._runs.clear()
            self._losses, self._counters, self._news = {}, Counter(), False
            return batch

    def done(self, batch: Batch) -> None:
        """The batch is on disk, or given up."""
        with self._lock:
            self._done = max(self._done, batch.ticket)
            self._written.notify_all()

    def wait_done(self, *, timeout_s: float) -> bool:
        """Wait until everything put so far is on disk or given up; False when that takes longer."""
        with self._lock:
            puts = self._puts
            self._waiting += 1
            self._hurry.notify_all()
            try:
                return self._written.wait_for(lambda: self._done >= puts, timeout_s)
            finally:
                self._waiting -= 1

    def close(self) -> None:
        """Take nothing more in; what is inside can still be taken out."""
        with self._lock:
            self._closed = True
            self._arrived.notify_all()
            self._hurry.notify_all()

    def is_closed(self) -> bool:
        with self._lock:
            return self._closed

    def waiting(self) -> int:
        """Spans that are not on disk and not given up."""
        with self._lock:
            return len(self._spans)

    def losses(self) -> Mapping[int, Losses]:
        with self._lock:
            return dict(self._losses)

    def dropped(self) -> Mapping[str, int]:
        """Everything lost since the process began, by kind."""
        with self._lock:
            return dict(self._dropped)

    def _idle(self) -> bool:
        return not (self._spans or self._contents or self._runs or self._losses or self._counters)

    def _put(self) -> None:
        self._puts += 1
        self._news = True
        if self._listening:
            self._arrived.notify()

    def _lose(self, trace_id: int, *, spans: int = 0, artifacts: int = 0) -> None:
        self._count("spans_dropped", spans)
        self._count("artifacts_dropped", artifacts)
        self._remember(trace_id, spans=spans, artifacts=artifacts)

    def _count(self, kind: str, number: int) -> None:
        if number:
            self._counters[kind] += number
            self._dropped[kind] += number
            self._news = True

    def _remember(self, trace_id: int, *, spans: int, artifacts: int) -> None:
        if trace_id in self._losses or len(self._losses) < MAX_LOSSES:
            self._losses[trace_id] = self._losses.get(trace_id, Losses()).plus(spans=spans, artifacts=artifacts)
