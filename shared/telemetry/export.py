"""Send spans on to an OpenTelemetry collector or to Langfuse, when somebody asked for it. Off by default.

Both speak OTLP over HTTP (protobuf). A span leaves with secrets removed; contents (prompts, payloads, candidate lists, answers)
leave only when the exporter's setting allows it and the run's trace level is `full`. Nobody waits for an exporter: its queue is
bounded, what finds no room or is not taken is lost with a count.
Sources: OTLP/HTTP 1.x; Langfuse's OpenTelemetry endpoint (Basic authorization, x-langfuse-ingestion-version), FACTS.
"""

import base64
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from opentelemetry.sdk.trace import Event, ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from shared.blobs import Blobs
from shared.settings import LangfuseSettings, OtlpSettings
from shared.telemetry import langfuse, names
from shared.telemetry.artifacts import keeps_contents
from shared.telemetry.contents import Contents, contents_of, message_attributes
from shared.telemetry.redact import Redactor

QUEUE_SPANS = 4_096
BATCH_SPANS = 256
DELAY_MS = 250
REQUEST_S = 10.0
CLOSE_S = 3.0
LANGFUSE_PATH: Final = "/api/public/otel/v1/traces"

Attributes = Mapping[str, Any]
Adapt = Callable[[ReadableSpan, Contents], Attributes]  # further attributes that one receiver wants


class Exported(Struct, frozen=True, kw_only=True):
    """Spans of this process, by what became of them."""

    sent: int = 0
    refused: int = 0  # by the receiver, or it could not be reached
    dropped: int = 0  # no room in the queue
    waiting: int = 0


class Exporter(SpanProcessor):
    """A span processor with a bounded queue and a thread of its own."""

    def __init__(
        self,
        name: str,
        target: SpanExporter,
        *,
        adapt: Adapt,
        contents: bool,
        artifacts: Blobs,
        redactor: Redactor,
        queue: int = QUEUE_SPANS,
    ) -> None:
        """`artifacts`: where contents lie; read when a span is sent, some time after it ended."""
        self.name = name
        self._queue = queue
        self._contents = contents
        self._lock = threading.Lock()
        self._sent = self._refused = self._dropped = self._waiting = 0
        sender = _Sender(target, adapt=adapt, artifacts=artifacts, redactor=redactor, ended=self._ended)
        self._batches = BatchSpanProcessor(
            sender,
            max_queue_size=queue,
            schedule_delay_millis=DELAY_MS,
            max_export_batch_size=min(queue, BATCH_SPANS),
        )

    def on_end(self, span: ReadableSpan) -> None:
        """In whatever thread the span ends in: a copy of its attributes, nothing more."""
        with self._lock:
            if self._waiting >= self._queue:
                self._dropped += 1
                return
            self._waiting += 1
        self._batches.on_end(_with_level(span, full=self._contents and keeps_contents()))

    def exported(self) -> Exported:
        with self._lock:
            return Exported(sent=self._sent, refused=self._refused, dropped=self._dropped, waiting=self._waiting)

    def shutdown(self) -> None:
        """Blocking, `CLOSE_S` at most: what waits is sent if the receiver takes it in that time."""
        closing = threading.Thread(target=self._batches.shutdown, name=f"close-{self.name}", daemon=True)
        closing.start()
        closing.join(CLOSE_S)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._batches.force_flush(timeout_millis)

    def _ended(self, spans: int, *, sent: bool) -> None:
        with self._lock:
            self._waiting -= spans
            if sent:
                self._sent += spans
            else:
                self._refused += spans


class _Sender(SpanExporter):
    """In the exporter's thread: redacts, adds what the receiver wants, sends, counts."""

    def __init__(
        self,
        target: SpanExporter,
        *,
        adapt: Adapt,
        artifacts: Blobs,
        redactor: Redactor,
        ended: Callable[..., None],
    ) -> None:
        self._target = target
        self._adapt = adapt
        self._artifacts = artifacts
        self._redactor = redactor
        self._ended = ended

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = SpanExportResult.FAILURE
        try:
            result = self._target.export([self._outgoing(span) for span in spans])
        finally:
            self._ended(len(spans), sent=result is SpanExportResult.SUCCESS)
        return result

    def shutdown(self) -> None:
        self._target.shutdown()

    def _outgoing(self, span: ReadableSpan) -> ReadableSpan:
        contents = contents_of(span, self._artifacts)
        given = {**(span.attributes or {}), **message_attributes(contents), **self._adapt(span, contents)}
        return _copy(
            span,
            attributes=_redacted(given, self._redactor),
            events=[
                Event(event.name, _redacted(event.attributes or {}, self._redactor), event.timestamp)
                for event in span.events
            ],
        )


def open_exporters(
    otlp: OtlpSettings, lang: LangfuseSettings, *, artifacts: Blobs, secrets: Sequence[str]
) -> tuple[Exporter, ...]:
    """Those that the settings ask for; usually none."""
    redactor = Redactor(secrets)
    found: list[Exporter] = []
    if otlp.endpoint is not None:
        found.append(
            Exporter(
                "otlp",
                _target(otlp.endpoint, _authorization(otlp)),
                adapt=lambda span, contents: {},
                contents=otlp.contents,
                artifacts=artifacts,
                redactor=redactor,
            )
        )
    if lang.base_url is not None:
        pair = f"{lang.public_key}:{lang.secret_key}"
        headers = {
            "authorization": f"Basic {base64.b64encode(pair.encode()).decode()}",
            "x-langfuse-ingestion-version": "4",  # without it spans show up some ten minutes late
        }
        found.append(
            Exporter(
                "langfuse",
                _target(lang.base_url.rstrip("/") + LANGFUSE_PATH, headers),
                adapt=langfuse.attributes,
                contents=lang.contents,
                artifacts=artifacts,
                redactor=redactor,
            )
        )
    return tuple(found)


def _target(endpoint: str, headers: dict[str, str]) -> SpanExporter:
    from opentelemetry.exporter.otlp.proto.http import Compression  # 0.2 s that only a start which exports should pay
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter(endpoint=endpoint, headers=headers, timeout=REQUEST_S, compression=Compression.Gzip)


def _authorization(otlp: OtlpSettings) -> dict[str, str]:
    if otlp.api_key is None:
        return {}
    name = otlp.api_key_header.lower()
    return {name: f"Bearer {otlp.api_key}" if name == "authorization" else otlp.api_key}


def _with_level(span: ReadableSpan, *, full: bool) -> ReadableSpan:
    """Without contents unless they may leave. The level goes with the span: it is known only where the span ends."""
    given = span.attributes or {}
    attributes = {key: value for key, value in given.items() if full or key not in names.CONTENTS}
    return _copy(span, attributes={**attributes, names.TRACE_LEVEL: "full" if full else "metadata"}, events=span.events)


def _copy(span: ReadableSpan, *, attributes: Attributes, events: Sequence[Event]) -> ReadableSpan:
    return ReadableSpan(
        name=span.name,
        context=span.get_span_context(),
        parent=span.parent,
        resource=span.resource,
        attributes=attributes,
        events=events,
        links=span.links,
        kind=span.kind,
        status=span.status,
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def _redacted(attributes: Attributes, redactor: Redactor) -> dict[str, Any]:
    return {key: redactor.text(value) if isinstance(value, str) else value for key, value in attributes.items()}
