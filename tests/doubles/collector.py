"""A receiver of OTLP over HTTP on loopback: decodes what arrives with OpenTelemetry's own protocol classes."""

import gzip
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from msgspec import Struct
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtoSpan

from tests.patience import PATIENCE_S


class Received(Struct, frozen=True, kw_only=True):
    """A span as it came over the wire."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str | None
    kind: str  # as in OpenTelemetry's SpanKind
    attributes: Mapping[str, Any]
    events: tuple[tuple[str, Mapping[str, Any]], ...]
    resource: Mapping[str, Any]


class Request(Struct, frozen=True, kw_only=True):
    path: str
    headers: Mapping[str, str]  # names in lower case


class Collector:
    def __init__(self, *, status: int) -> None:
        self.requests: list[Request] = []
        self.spans: list[Received] = []
        self.raw: list[bytes] = []  # bodies, decompressed
        self._status = status
        self._arrived = threading.Condition()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def await_span(self, name: str) -> Received:
        """The first of that name; fails when none has come after `PATIENCE_S`."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: any(span.name == name for span in self.spans), PATIENCE_S), (
                f"no span {name!r} came; there are {[span.name for span in self.spans]}"
            )
            return next(span for span in self.spans if span.name == name)

    def await_request(self) -> Request:
        with self._arrived:
            assert self._arrived.wait_for(lambda: bool(self.requests), PATIENCE_S), "no request came"
            return self.requests[0]

    def take(self, path: str, headers: Mapping[str, str], body: bytes) -> int:
        data = gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body
        message = ExportTraceServiceRequest.FromString(data)
        with self._arrived:
            self.requests.append(Request(path=path, headers=headers))
            self.raw.append(data)
            for group in message.resource_spans:
                resource = _attributes(group.resource.attributes)
                for span in (span for scope in group.scope_spans for span in scope.spans):
                    self.spans.append(
                        Received(
                            name=span.name,
                            trace_id=span.trace_id.hex(),
                            span_id=span.span_id.hex(),
                            parent_id=span.parent_span_id.hex() or None,
                            kind=ProtoSpan.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_"),
                            attributes=_attributes(span.attributes),
                            events=tuple((event.name, _attributes(event.attributes)) for event in span.events),
                            resource=resource,
                        )
                    )
            self._arrived.notify_all()
        return self._status

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def collector(*, status: int = 200) -> Generator[Collector]:
    one = Collector(status=status)
    try:
        yield one
    finally:
        one.close()


def _handler(owner: Collector) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            status = owner.take(self.path, {key.lower(): value for key, value in self.headers.items()}, body)
            self.send_response(status)
            self.send_header("content-type", "application/x-protobuf")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    return Handler


def _attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(one) for one in value.array_value.values]
    return None if kind is None else getattr(value, kind)
