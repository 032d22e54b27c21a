"""From the OpenTelemetry SDK into the buffer."""

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor

from shared.telemetry import names
from shared.telemetry.artifacts import keeps_contents
from shared.telemetry.buffer import Buffer, Ended


class BufferProcessor(SpanProcessor):
    """Runs in whatever thread a span ends in; does nothing but hand it over."""

    def __init__(self, buffer: Buffer) -> None:
        self._buffer = buffer

    def on_end(self, span: ReadableSpan) -> None:
        self._buffer.put_span(Ended(span, keeps_contents()))


class Relay(SpanProcessor):
    """The one processor of the process: OpenTelemetry lets a provider be set once and none of its processors be removed.

    Every span takes over `names.INHERITED` from its parent, so that a run's spans are found without walking the tree.
    """

    def __init__(self) -> None:
        self._receivers: tuple[SpanProcessor, ...] = ()

    def add(self, receiver: SpanProcessor) -> None:
        self._receivers = (*self._receivers, receiver)

    def remove(self, receiver: SpanProcessor) -> None:
        self._receivers = tuple(one for one in self._receivers if one is not receiver)

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        parent = trace.get_current_span(parent_context)
        if isinstance(parent, ReadableSpan) and parent.attributes:
            for name in names.INHERITED:
                if (value := parent.attributes.get(name)) is not None:
                    span.set_attribute(name, value)
        for receiver in self._receivers:
            receiver.on_start(span, parent_context)

    def on_end(self, span: ReadableSpan) -> None:
        for receiver in self._receivers:
            receiver.on_end(span)
