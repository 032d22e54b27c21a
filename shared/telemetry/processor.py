"""From the OpenTelemetry SDK into the buffer."""

import threading
from abc import abstractmethod
from collections import deque
from typing import Final

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor

from shared.telemetry import names
from shared.telemetry.artifacts import keeps_contents
from shared.telemetry.buffer import Buffer, Ended
from shared.telemetry.plain import plain

MOST_UNREAD: Final = 1_000  # spans: a second or two of a busy instance


class BufferProcessor(SpanProcessor):
    """Runs in whatever thread a span ends in; does nothing but hand it over."""

    def __init__(self, buffer: Buffer) -> None:
        self._buffer = buffer

    def on_end(self, span: ReadableSpan) -> None:
        self._buffer.put_span(Ended(span, keeps_contents()))


class Reader(SpanProcessor):
    """Reads ended spans not where they end but in batches: when the writer has its turn, when somebody asks, or when many wait.

    Any number of threads end spans, any settles.
    """

    def __init__(self) -> None:
        self._reading = threading.Lock()
        self._unread: deque[ReadableSpan] = deque()

    @abstractmethod
    def read(self, span: ReadableSpan) -> None:
        """One span after the other, in the order in which they ended; never two at once."""

    def on_end(self, span: ReadableSpan) -> None:
        self._unread.append(span)
        if len(self._unread) >= MOST_UNREAD:  # nobody writes, nobody asks
            self.settle()

    def settle(self) -> None:
        """Every span that ended before is read when this returns."""
        with self._reading:
            while self._unread:
                self.read(self._unread.popleft())


class Relay(SpanProcessor):
    """The one processor of the process: OpenTelemetry lets a provider be set once and none of its processors be removed.

    Every span takes over `names.INHERITED` from its parent, so that a run's spans are found without walking the tree.
    Receivers are told of ended spans only.
    """

    def __init__(self) -> None:
        self._receivers: tuple[SpanProcessor, ...] = ()

    def add(self, receiver: SpanProcessor) -> None:
        self._receivers = (*self._receivers, receiver)

    def remove(self, receiver: SpanProcessor) -> None:
        self._receivers = tuple(one for one in self._receivers if one is not receiver)

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        parent = trace.get_current_span(parent_context)
        if isinstance(parent, ReadableSpan):
            given = plain(parent.attributes)
            for name in names.INHERITED:
                if name in given:  # one by one: `set_attributes` costs more below four
                    span.set_attribute(name, given[name])

    def on_end(self, span: ReadableSpan) -> None:
        for receiver in self._receivers:
            receiver.on_end(span)
