"""What a span's row holds, whichever way it was made."""

import json
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import Status, StatusCode

from shared.telemetry.buffer import Ended
from shared.telemetry.redact import REMOVED, Redactor
from shared.telemetry.rows import run_row, span_row
from tests.unit.telemetry.factories import a_record

SECRET = 'pa"ss\\水泵'
KEY = "sk-a1B2c3D4e5F6g7H8i9"
VALUES = st.one_of(
    st.text(max_size=30),
    st.sampled_from([f"口令是 {SECRET}。", f"用 {KEY} 调用", "task-list", "Bearer of bad news"]),
    st.booleans(),
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False),
    st.lists(st.sampled_from(["停", KEY, SECRET]), max_size=3),
    st.none(),
    st.just(b"bytes"),
)

_tracer = TracerProvider(sampler=ALWAYS_ON, shutdown_on_exit=False).get_tracer("tests")
_redactor = Redactor([SECRET])
COLUMNS = "trace_id span_id parent_id run_id import_id name start_ns end_ns status status_message attributes events"


def columns(row: bytes) -> dict[str, Any]:
    return dict(zip(COLUMNS.split(), msgspec.json.decode(row), strict=True))


def clean(value: Any) -> Any:
    """What each text by itself becomes."""
    match value:
        case str():
            return _redactor.text(value)
        case bool() | int() | float():
            return value
        case list() | tuple():
            return [clean(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
        case _:
            return _redactor.text(str(value))


@given(
    attributes=st.dictionaries(st.text(min_size=1, max_size=9), VALUES, max_size=6), events=st.lists(VALUES, max_size=3)
)
def test_attributes_and_events_are_kept_as_they_are_but_for_what_looks_like_a_secret(
    attributes: dict[str, Any], events: list[Any]
) -> None:
    span = _tracer.start_span("turn", attributes=attributes)
    for value in events:
        span.add_event("决定", {"value": value})
    span.end()
    row, artifacts = span_row(Ended(span, full=True), _redactor)  # pyright: ignore[reportArgumentType]  an SDK span can be read
    found = columns(row)
    assert json.loads(found["attributes"]) == {key: clean(value) for key, value in attributes.items()}
    assert [(event["name"], event["attributes"]) for event in json.loads(found["events"])] == [
        ("决定", {"value": clean(value)}) for value in events
    ]
    assert artifacts == []


def test_a_null_character_cuts_off_no_column() -> None:
    span = _tracer.start_span("execute_tool 搜\0索")
    span.set_status(Status(StatusCode.ERROR, f"a\0b {SECRET}"))
    span.end()
    found = columns(span_row(Ended(span, full=False), _redactor)[0])  # pyright: ignore[reportArgumentType]
    assert (found["name"], found["status_message"]) == ("execute_tool 搜\ufffd索", f"a\ufffdb {REMOVED}")


def test_a_record_is_written_the_same_whether_or_not_something_had_to_be_searched_in_its_texts() -> None:
    harmless = Redactor(["never-in-it"])
    searched = Redactor(["unsupported"])  # stands nowhere but may: `supported` is a word of the record
    record = a_record(question="滤芯多久换一次？")
    assert run_row(record, harmless) == run_row(record, searched)
    changed = run_row(a_record(question="滤芯 supported 吗"), Redactor(["supported"]))
    assert json.loads(msgspec.json.decode(changed)[3])["answer"]["question"] == f"滤芯 {REMOVED} 吗"
    plain, looked_into = (msgspec.json.decode(run_row(record, one)) for one in (harmless, Redactor(["supported"])))
    assert plain == looked_into  # the verdict is a word of a closed set: found by the search, left where it is
