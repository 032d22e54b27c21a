"""Spans and run records as rows of the trace store, as JSON arrays of their columns. Runs in the writer's thread; redaction happens here.

What holds nothing that looks like a secret is encoded as it is: one search through the JSON instead of one through each text.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, get_args

import msgspec
from opentelemetry.sdk.trace import Event

from shared.telemetry import names
from shared.telemetry.artifacts import ARTIFACT_PREFIX
from shared.telemetry.buffer import Ended
from shared.telemetry.plain import plain
from shared.telemetry.redact import Redactor
from shared.types.runs import Answer, RunRecord
from shared.types.traces import AttributeValue, RunSummary, Stop

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
_PLAIN: Final = frozenset(
    {str, bool, int, float, tuple, list}
)  # whatever else somebody may give an attribute is told as text
_SUFFIX: Final = ".sha256"
_json = msgspec.json.Encoder(order="deterministic")
_sorted = msgspec.json.Encoder(order="sorted")  # as `_json` writes what was made of dicts


def trace_hex(trace_id: int) -> str:
    return f"{trace_id:032x}"


def span_row(ended: Ended, redactor: Redactor) -> tuple[bytes, list[bytes]]:
    """A row of table `spans`, and those of table `artifacts` for the contents that it refers to. Raises: ValueError for a span that never had a context."""
    span = ended.span
    context = span.get_span_context()
    if context is None:
        raise ValueError("a span without a context")
    given = plain(span.attributes)
    if not ended.full:
        for name in names.CONTENTS & given.keys():
            del given[name]
    ids = (trace_hex(context.trace_id), f"{context.span_id:016x}")
    message = span.status.description
    run_id, import_id = given.get(names.RUN_ID), given.get(names.IMPORT_ID)
    row = (
        *ids,
        f"{span.parent.span_id:016x}" if span.parent else None,
        run_id if isinstance(run_id, str) else None,
        import_id if isinstance(import_id, str) else None,
        _column(span.name),
        span.start_time or 0,
        span.end_time or 0,
        _STATUS[span.status.status_code.value],
        _column(redactor.text(message)) if message else None,
        _json_of(given, redactor),
        f"[{','.join(_event_json(event, redactor) for event in span.events)}]",
    )
    return _json.encode(row), [_json.encode((*ids, *artifact)) for artifact in _artifacts(given)]


def _artifacts(given: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Name, hash, size in bytes."""
    for key, value in given.items():
        if key.endswith(_SUFFIX) and key.startswith(ARTIFACT_PREFIX):
            name = key.removeprefix(ARTIFACT_PREFIX).removesuffix(_SUFFIX)
            yield name, value, given.get(f"{ARTIFACT_PREFIX}{name}.bytes", 0)


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


def run_row(record: RunRecord, redactor: Redactor) -> bytes:
    """A row of table `runs`. Only configured secrets are removed: an answer may rightly quote a document that shows a key's shape."""
    answer = record.answer
    return _json.encode(
        (
            answer.run_id,
            answer.status,
            _encoded(summary(record), redactor),
            _encoded(record, redactor),
            None if record.access is None else _json.encode(record.access).decode(),
            record.asker,
            answer.conversation_id,
        )
    )


def _encoded(value: RunSummary | RunRecord, redactor: Redactor) -> str:
    """JSON of what is left without the secrets; taken out of its texts, never out of the JSON itself."""
    text = _sorted.encode(value).decode()
    if redactor.knows_none_of(text):
        return text
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


def citation_rows(record: RunRecord) -> list[bytes]:
    """Rows of table `citations`."""
    cited = dict.fromkeys(citation.block_id for citation in record.answer.citations)
    return [_json.encode((block_id, record.answer.run_id)) for block_id in cited]


def _column(text: str) -> str:
    """SQLite reads a text out of JSON no further than a null character."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")


def _json_of(attributes: Mapping[str, Any], redactor: Redactor) -> str:
    """A JSON object without secrets."""
    if _PLAIN.issuperset(map(type, attributes.values())):
        text = _json.encode(attributes).decode()
        if redactor.finds_none_in(text):
            return text
    return _json.encode({key: _value(value, redactor) for key, value in attributes.items()}).decode()


def _event_json(event: Event, redactor: Redactor) -> str:
    """A JSON object like SpanEvent."""
    name, attributes = _json.encode(event.name).decode(), _json_of(plain(event.attributes), redactor)
    return f'{{"name":{name},"at_ns":{event.timestamp},"attributes":{attributes}}}'


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
