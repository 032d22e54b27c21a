"""Open spans, with as few steps as OpenTelemetry's API allows: its own way is three nested generators for each span.

The spans are the provider's, whoever set it, and nothing without one; the context is OpenTelemetry's, in tasks and threads as ever.
"""

from collections.abc import Mapping
from contextvars import Token
from types import TracebackType
from typing import Final

from opentelemetry import context
from opentelemetry.context import Context
from opentelemetry.trace import (
    ProxyTracer,
    Span,
    SpanKind,
    Status,
    StatusCode,
    Tracer,
    get_tracer,
    set_span_in_context,
)

from shared.telemetry import names

Value = str | int | float | bool | list[str]


class Current:
    """`with`, once: the span is the current one inside; an Exception that leaves is noted on it, as `use_span` does."""

    __slots__ = ("_ends", "_notes", "_span", "_token")

    def __init__(self, span: Span, *, ends: bool, notes: bool = True) -> None:
        """`ends`: the span ends with the block. `notes`: exceptions."""
        self._span = span
        self._ends = ends
        self._notes = notes
        self._token: Token[Context] | None = None

    def __enter__(self) -> Span:
        self._token = context.attach(set_span_in_context(self._span))
        return self._span

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._token is not None:
            context.detach(self._token)
        try:
            if self._notes and isinstance(error, Exception) and self._span.is_recording():
                self._span.record_exception(error)
                self._span.set_status(Status(StatusCode.ERROR, f"{type(error).__name__}: {error}"))
        finally:
            if self._ends:
                self._span.end()


class Spans:
    """Starts spans beneath the current one, by the tracer of the process, which is looked for until a provider was set."""

    def __init__(self) -> None:
        self._tracer: Tracer | None = None

    def start_span(
        self, name: str, *, kind: SpanKind = SpanKind.INTERNAL, attributes: Mapping[str, Value] | None = None
    ) -> Span:
        """The caller ends it."""
        return (self._tracer or self._found()).start_span(name, kind=kind, attributes=attributes)

    def start_as_current_span(
        self,
        name: str,
        *,
        kind: SpanKind = SpanKind.INTERNAL,
        attributes: Mapping[str, Value] | None = None,
        notes: bool = True,
    ) -> Current:
        """Started now, to be entered at once. `notes`: exceptions that leave it."""
        return Current(self.start_span(name, kind=kind, attributes=attributes), ends=True, notes=notes)

    def _found(self) -> Tracer:
        tracer = get_tracer(names.TRACER)
        if not isinstance(tracer, ProxyTracer):  # a provider is set once and for good
            self._tracer = tracer
        return tracer


tracer: Final = Spans()


def within(span: Span) -> Current:
    """`with`, once: the span is the current one, and goes on afterwards."""
    return Current(span, ends=False)
