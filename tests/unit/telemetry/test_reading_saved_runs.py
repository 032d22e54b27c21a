"""Files that people open as saved runs: whatever they hold, they are read or refused with a reason."""

import msgspec
import pytest
from hypothesis import given, strategies

from shared.saved_runs import Unreadable, read_run_file
from shared.telemetry.runfile import hashes_in
from shared.types.runfiles import RunFile
from tests.unit.telemetry.factories import a_saved_run

FILE = a_saved_run({"citebound.artifact.prompt.sha256": "ab"}, {"ab": "系统提示：只引用原文。"})
(SPAN,) = FILE.trace.spans
DATA = msgspec.json.encode(FILE)


def test_a_saved_run_is_read_as_it_was_saved_also_as_editors_leave_it() -> None:
    assert read_run_file(DATA) == FILE
    assert read_run_file(b"\xef\xbb\xbf" + msgspec.json.format(DATA, indent=2) + b"\r\n") == FILE


def nested(levels: int) -> bytes:
    head, tail = DATA.split(b'"children":[]')
    inner = msgspec.json.encode(SPAN).replace(b'"children":[]', b'"children":[%s]')
    opening, closing = inner.split(b"%s")
    return (
        head
        + b'"children":['
        + opening * levels
        + b"".join([msgspec.json.encode(SPAN)])
        + closing * levels
        + b"]"
        + tail
    )


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        ("这不是 JSON".encode(), "no_json"),
        (b"PK\x03\x04\x00\x00", "no_json"),
        (DATA[: len(DATA) // 2], "no_json"),
        (DATA + b"x", "no_json"),
        (b"[" * 100_000, "foreign"),
        (b"{}", "foreign"),
        (b"[]", "foreign"),
        (b"null", "foreign"),
        (b'{"format": 1}', "foreign"),
        (b'{"format": "other-1"}', "foreign"),
        (b'{"format": "citebound-run-2", "app_version": "9.0"}', "newer"),
        (b'{"format": "citebound-run-0"}', "older"),
        (b'{"format": "citebound-run-1"}', "damaged"),
        (DATA.replace(b'"duration_ms":250', b'"duration_ms":"long"'), "damaged"),
        (DATA.replace(b'"status":"ok"', b'"status":"fine"'), "damaged"),
        (nested(100_000), "no_json"),
    ],
)
def test_what_is_no_run_is_refused_with_its_reason(data: bytes, why: str) -> None:
    found = read_run_file(data)
    assert isinstance(found, Unreadable)
    assert found.why == why


def test_a_newer_file_names_the_version_that_saved_it_and_a_damaged_one_the_place() -> None:
    newer = read_run_file(b'{"format": "citebound-run-2", "app_version": "9.0", "record": {"other": 1}}')
    assert newer == Unreadable(why="newer", detail="citebound-run-2", saved_by="9.0")
    damaged = read_run_file(DATA.replace(b'"duration_ms":250', b'"duration_ms":"long"'))
    assert isinstance(damaged, Unreadable)
    assert "$.record.answer.duration_ms" in damaged.detail


@pytest.mark.parametrize("levels", [50, 150])
def test_spans_however_deep_are_walked_without_recursion(levels: int) -> None:
    found = read_run_file(nested(levels))
    assert isinstance(found, RunFile)
    assert list(hashes_in(found.trace.spans)) == ["ab"]


@given(strategies.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    assert isinstance(read_run_file(data), Unreadable)


@given(strategies.integers(0, len(DATA) - 1), strategies.integers(0, 255))
def test_a_saved_run_with_any_byte_changed_is_read_or_refused(at: int, byte: int) -> None:
    assert isinstance(read_run_file(DATA[:at] + bytes([byte]) + DATA[at + 1 :]), RunFile | Unreadable)
