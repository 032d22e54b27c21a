"""Spans and run records as rows of the trace store. Runs in the writer's thread; redaction happens here."""

from collections.abc import Callable, Mapping
from typing import Any, Final, get_args

import msgspec
from opentelemetry.sdk.trace import Event

from shared.telemetry import names
from shared.telemetry.artifacts import ARTIFACT_PREFIX
from shared.telemetry.buffer import Ended
from shared.telemetry.redact import Redactor
from shared.types.runs import Answer, RunRecord
from shared.types.traces import Attributes, AttributeValue, RunSummary, SpanEvent, Stop

# Fields of a closed set of words, and codes: they can't hold a secret, and a secret may happen to be one of the words.
_WORDS = frozenset(
    {
        "status",
        "state",
        "stage",
        "verdict",
        "trust",
        "tool",
        "extent",
        "code",
        "termination_reason",
        "stopped_by",
        "format",
    }
)
STOPS: Final[tuple[Stop, ...]] = get_args(Stop)
_STATUS = {0: "unset", 1: "ok", 2: "error"}
_json = msgspec.json.Encoder(order="deterministic")


def trace_hex(trace_id: int) -> str:
    return f"{trace_id:032x}"


def span_row(ended: Ended, redactor: Redactor) -> dict[str, Any]:
    """Columns of table `spans`. Raises: ValueError for a span that never had a context."""
    span = ended.span
    context = span.get_span_context()
    if context is None:
        raise ValueError("a span without a context")
    given = span.attributes or {}
    attributes = _attributes({k: v for k, v in given.items() if ended.full or k not in names.CONTENTS}, redactor)
    message = span.status.description
    return {
        "trace_id": trace_hex(context.trace_id),
        "span_id": f"{context.span_id:016x}",
        "parent_id": f"{span.parent.span_id:016x}" if span.parent else None,
        "run_id": _text(attributes.get(names.RUN_ID)),
        "import_id": _text(attributes.get(names.IMPORT_ID)),
        "name": span.name,
        "start_ns": span.start_time or 0,
        "end_ns": span.end_time or 0,
        "status": _STATUS[span.status.status_code.value],
        "status_message": redactor.text(message) if message else None,
        "attributes": _json.encode(attributes).decode(),
        "events": _json.encode([_event(event, redactor) for event in span.events]).decode(),
    }


def artifact_rows(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of table `artifacts`: the contents that a span's row refers to."""
    attributes = msgspec.json.decode(row["attributes"], type=dict[str, Any])
    suffix = ".sha256"
    return [
        {
            "trace_id": row["trace_id"],
            "span_id": row["span_id"],
            "name": (name := key.removeprefix(ARTIFACT_PREFIX).removesuffix(suffix)),
            "sha256": value,
            "size_bytes": attributes.get(f"{ARTIFACT_PREFIX}{name}.bytes", 0),
        }
        for key, value in attributes.items()
        if key.startswith(ARTIFACT_PREFIX) and key.endswith(suffix)
    ]


def summary(record: RunRecord) -> RunSummary:
    answer = record.answer
    return RunSummary(
        run_id=answer.run_id,
        question=answer.question,
        status=answer.status,
        termination_reason=answer.termination_reason,
        extractive=answer.extractive,
        citations=len(answer.citations),
        chat_tokens=answer.usage.chat_input_tokens + answer.usage.chat_output_tokens,
        embedding_tokens=answer.usage.embedding_tokens,
        tool_calls=answer.usage.tool_calls,
        snapshot_id=answer.snapshot_id,
        started_at_ms=answer.started_at_ms,
        duration_ms=answer.duration_ms,
        rerun_of=record.rerun_of,
        stopped_by=_stopped_by(answer),
        prompt_bundle=answer.manifest.prompt_bundle if answer.manifest else None,
    )


def _stopped_by(answer: Answer) -> Stop | None:
    told = (answer.termination_reason, *(one.code for one in answer.limitations))
    return next((stop for code in told for stop in STOPS if stop == code), None)


def run_row(record: RunRecord, redactor: Redactor) -> dict[str, Any]:
    """Columns of table `runs`. Only configured secrets are removed: an answer may rightly quote a document that shows a key's shape."""
    return {
        "run_id": record.answer.run_id,
        "status": record.answer.status,
        "summary": _encoded(summary(record), redactor),
        "record": _encoded(record, redactor),
        "access": None if record.access is None else _json.encode(record.access).decode(),
        "asker": record.asker,
        "conversation_id": record.answer.conversation_id,
    }


def _encoded(value: RunSummary | RunRecord, redactor: Redactor) -> str:
    """JSON of what is left without the secrets; taken out of its texts, never out of the JSON itself."""
    return _json.encode(without_secrets(msgspec.to_builtins(value), redactor.known)).decode()


def without_secrets(value: Any, clean: Callable[[str], str]) -> Any:
    """Decoded JSON with every text cleaned but the words of closed sets."""
    match value:
        case str():
            return clean(value)
        case dict():
            return {
                key: inner if key in _WORDS else without_secrets(inner, clean)
                for key, inner in value.items()  # pyright: ignore[reportUnknownVariableType]
            }
        case list() | tuple():
            return [without_secrets(inner, clean) for inner in value]  # pyright: ignore[reportUnknownVariableType]
        case _:
            return value


def citation_rows(record: RunRecord) -> list[dict[str, Any]]:
    """Rows of table `citations`."""
    cited = dict.fromkeys(citation.block_id for citation in record.answer.citations)
    return [{"block_id": block_id, "run_id": record.answer.run_id} for block_id in cited]


def _text(value: AttributeValue | None) -> str | None:
    return value if isinstance(value, str) else None


def _event(event: Event, redactor: Redactor) -> SpanEvent:
    return SpanEvent(name=event.name, at_ns=event.timestamp, attributes=_attributes(event.attributes, redactor))


def _attributes(attributes: Mapping[str, Any] | None, redactor: Redactor) -> Attributes:
    return {key: _value(value, redactor) for key, value in (attributes or {}).items()}


def _value(value: Any, redactor: Redactor) -> AttributeValue:
    match value:
        case str():
            return redactor.text(value)
        case bool() | int() | float():
            return value
        case list() | tuple():
            return [redactor.text(item) if isinstance(item, str) else item for item in value]  # pyright: ignore[reportUnknownVariableType]
        case _:
            return redactor.text(str(value))
