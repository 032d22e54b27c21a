"""From a span that ends to a tree that is read, through the real SDK and a real file."""

import sqlite3
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec import structs
from opentelemetry import trace
from opentelemetry.trace import Span, StatusCode

from shared.access import OWNER, Access
from shared.blobs import Blobs
from shared.errors import NotFound
from shared.ids import RunId
from shared.settings import TraceSettings
from shared.telemetry import names
from shared.telemetry.artifacts import attach, trace_level
from shared.telemetry.buffer import Buffer, Content
from shared.telemetry.redact import REMOVED, Redactor
from shared.telemetry.setup import Telemetry
from shared.telemetry.store import TraceStore
from shared.telemetry.writer import Writer
from shared.types.traces import SpanNode, Trace
from tests.patience import PATIENCE_S
from tests.unit.telemetry.factories import a_record

SECRET = "provider-key-of-this-test"
RUN = RunId("run_1")

Start = Callable[..., Telemetry]


@pytest.fixture
def start(tmp_path: Path) -> Generator[Start]:
    running: list[Telemetry] = []

    def start_one(settings: TraceSettings | None = None) -> Telemetry:
        one = Telemetry(
            database=tmp_path / "traces.db",
            artifacts=tmp_path / "artifacts",
            settings=settings or TraceSettings(),
            secrets=[SECRET],
        )
        running.append(one)
        return one

    yield start_one
    for one in running:
        one.close()


@contextmanager
def a_run(run_id: str = RUN) -> Generator[Span]:
    tracer = trace.get_tracer(names.TRACER)
    with tracer.start_as_current_span(names.RUN, attributes={names.RUN_ID: run_id}) as span:
        with tracer.start_as_current_span(names.TURN, attributes={names.TURN_NUMBER: 1}):
            with tracer.start_as_current_span("execute_tool search_blocks", attributes={names.TOP_K: 8}) as tool:
                tool.set_attribute(names.CANDIDATES, '[{"block_id":"k3f9a2qd.v2#17"}]')
                tool.add_event(names.ADMISSION, {"tokens": 120, "admitted": True})
            with tracer.start_as_current_span(names.CHAT) as chat:
                attach(chat, "prompt", f"系统提示。密钥 {SECRET}。")
                chat.set_status(StatusCode.ERROR, f"401 for {SECRET}")
        yield span


def shape(nodes: tuple[SpanNode, ...]) -> list[object]:
    return [[node.name, shape(node.children)] if node.children else node.name for node in nodes]


def read(telemetry: Telemetry) -> Trace:
    assert telemetry.flush(timeout_s=PATIENCE_S)
    return telemetry.store.run_trace(RUN)


def test_spans_of_a_run_come_back_as_the_tree_they_were(start: Start) -> None:
    telemetry = start()
    with a_run():
        pass
    with a_run("run_2"):
        pass
    kept = read(telemetry)
    assert not kept.partial
    assert shape(kept.spans) == [[names.RUN, [[names.TURN, ["execute_tool search_blocks", names.CHAT]]]]]
    tool, chat = kept.spans[0].children[0].children
    assert tool.attributes == {names.TOP_K: 8, names.RUN_ID: RUN}
    assert [(event.name, event.attributes) for event in tool.events] == [
        (names.ADMISSION, {"tokens": 120, "admitted": True})
    ]
    assert (chat.status, chat.status_message) == ("error", f"401 for {REMOVED}")


def test_at_level_metadata_a_content_leaves_its_hash_and_size_and_nothing_else(start: Start) -> None:
    telemetry = start()
    with a_run():
        pass
    chat = read(telemetry).spans[0].children[0].children[1]
    sha256 = chat.attributes["citebound.artifact.prompt.sha256"]
    assert chat.attributes["citebound.artifact.prompt.bytes"] == len(f"系统提示。密钥 {REMOVED}。".encode())
    with pytest.raises(NotFound):
        telemetry.artifacts.read(str(sha256))


def test_at_level_full_the_content_is_kept_under_its_hash_without_secrets(start: Start) -> None:
    telemetry = start(TraceSettings(level="full"))
    with a_run():
        pass
    tool, chat = read(telemetry).spans[0].children[0].children
    kept = telemetry.artifacts.read(str(chat.attributes["citebound.artifact.prompt.sha256"]))
    assert kept.decode() == f"系统提示。密钥 {REMOVED}。"
    assert names.CANDIDATES in tool.attributes


def test_one_run_may_be_kept_in_full_while_the_others_are_not(start: Start) -> None:
    telemetry = start()
    with trace_level("full"), a_run():
        pass
    with a_run("run_2"):
        pass
    assert names.CANDIDATES in read(telemetry).spans[0].children[0].children[0].attributes
    other = telemetry.store.run_trace(RunId("run_2"))
    assert names.CANDIDATES not in other.spans[0].children[0].children[0].attributes


def test_a_finished_run_is_read_at_once_and_after_a_restart(start: Start) -> None:
    telemetry = start()
    telemetry.keep(a_record())
    assert telemetry.run_record(RUN, OWNER) == a_record()
    assert [one.run_id for one in telemetry.list_runs(OWNER, limit=9)] == [RUN]
    telemetry.close()
    again = start()
    assert again.run_record(RUN, OWNER) == a_record()
    assert [one.run_id for one in again.list_runs(OWNER, limit=9)] == [RUN]


def test_a_run_with_lone_surrogates_in_its_text_costs_no_other_run(start: Start) -> None:
    telemetry = start()
    telemetry.keep(structs.replace(a_record(), access=("\ud800",)))
    telemetry.keep(a_record(run_id="run_2"))
    assert telemetry.flush(timeout_s=PATIENCE_S)
    assert [one.run_id for one in telemetry.store.list_runs(OWNER, limit=9)] == ["run_2"]


def test_a_run_is_read_only_by_who_could_have_made_it(start: Start) -> None:
    telemetry = start()
    telemetry.keep(a_record(run_id="run_1", access=("hr",)))
    telemetry.keep(a_record(run_id="run_2", access=None))
    hr, sales = Access(labels=frozenset({"hr", "all"})), Access(labels=frozenset({"sales"}))
    assert telemetry.run_record(RunId("run_1"), hr) == a_record(run_id="run_1", access=("hr",))
    for run_id in ("run_1", "run_2", "run_3"):
        with pytest.raises(NotFound):
            telemetry.run_record(RunId(run_id), sales)
    assert telemetry.flush(timeout_s=PATIENCE_S)
    assert [one.run_id for one in telemetry.list_runs(hr, limit=9)] == ["run_1"]
    assert telemetry.list_runs(sales, limit=9) == []


def test_a_configured_secret_in_an_answer_is_not_written(start: Start, tmp_path: Path) -> None:
    telemetry = start()
    telemetry.keep(a_record(text=f"密钥是 {SECRET}"))
    telemetry.close()
    assert all(SECRET.encode() not in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    "secret", ["complete", "question", "internal", "supported", "finished", "search_blocks", "get_outline", "snapshot"]
)
def test_a_secret_that_is_a_word_of_ours_makes_no_record_unreadable(tmp_path: Path, secret: str) -> None:
    record = a_record(question=f"钥匙是 {secret} 吗？")
    telemetry = Telemetry(
        database=tmp_path / "t.db", artifacts=tmp_path / "a", settings=TraceSettings(), secrets=[secret]
    )
    telemetry.keep(record)
    telemetry.close()
    store = TraceStore(tmp_path / "t.db")
    kept = store.run_record(RUN, OWNER)
    assert kept == a_record(question=f"钥匙是 {REMOVED} 吗？")
    assert [one.status for one in store.list_runs(OWNER, limit=9)] == ["complete"]


def test_a_content_that_can_not_be_kept_stops_nothing(tmp_path: Path) -> None:
    class Unreadable(Blobs):
        def put(self, data: bytes, *, lasting: bool = True) -> str:
            raise PermissionError(13, "Permission denied")

    buffer = Buffer(max_spans=9)
    writer = Writer(buffer, database=tmp_path / "t.db", blobs=Unreadable(tmp_path), redactor=Redactor())
    buffer.put_content(Content(7, "0" * 64, b"text"))
    buffer.put_run(a_record())
    writer.start()
    assert buffer.wait_done(timeout_s=PATIENCE_S)
    assert buffer.dropped() == {"artifacts_dropped": 1}
    buffer.close()
    writer.join(PATIENCE_S)
    assert TraceStore(tmp_path / "t.db").run_record(RUN, OWNER) == a_record()


def test_a_queue_that_is_full_loses_spans_with_a_count_and_says_that_the_trace_is_partial(
    start: Start, tmp_path: Path
) -> None:
    telemetry = start(TraceSettings(queue=2))
    telemetry.keep(a_record())
    assert telemetry.flush(timeout_s=PATIENCE_S)
    with locked(tmp_path / "traces.db"):
        with a_run():  # the writer can't write, two spans find room, more or less according to what it holds already
            pass
        for number in range(8):
            with a_run(f"run_{number}"):
                pass
        assert telemetry.dropped()["spans_dropped"] > 0
    assert telemetry.flush(timeout_s=PATIENCE_S)
    lost = [telemetry.store.run_trace(RunId(f"run_{number}")) for number in range(8)]
    assert any(one.partial for one in lost)
    assert telemetry.store.counters()["spans_dropped"] > 0


def test_a_locked_store_delays_nothing_and_loses_nothing_that_finds_room(start: Start, tmp_path: Path) -> None:
    telemetry = start()
    telemetry.keep(a_record(run_id="run_0"))
    assert telemetry.flush(timeout_s=PATIENCE_S)
    with locked(tmp_path / "traces.db"):
        with a_run():
            pass
        telemetry.keep(a_record())
        assert telemetry.run_record(RUN, OWNER) == a_record()
    assert shape(read(telemetry).spans) == [[names.RUN, [[names.TURN, ["execute_tool search_blocks", names.CHAT]]]]]


def test_a_store_that_can_not_be_opened_fails_no_caller_and_closing_ends(tmp_path: Path) -> None:
    (tmp_path / "traces.db").write_bytes(b"this is no database at all, and long enough to be seen as one" * 99)
    telemetry = Telemetry(
        database=tmp_path / "traces.db", artifacts=tmp_path / "artifacts", settings=TraceSettings(queue=1)
    )
    with a_run():
        pass
    telemetry.keep(a_record())
    assert telemetry.run_record(RUN, OWNER) == a_record()
    telemetry.close(timeout_s=0.1)


def test_a_run_whose_root_was_never_written_is_partial(start: Start) -> None:
    telemetry = start()
    tracer = trace.get_tracer(names.TRACER)
    root = tracer.start_span(names.RUN, attributes={names.RUN_ID: RUN})
    with trace.use_span(root, end_on_exit=False), tracer.start_as_current_span(names.TURN):
        pass
    with trace.use_span(root, end_on_exit=False), tracer.start_as_current_span(names.TURN):
        pass
    assert read(telemetry).partial
    root.end()
    assert not read(telemetry).partial


def test_nothing_is_recorded_any_more_after_closing(start: Start, tmp_path: Path) -> None:
    telemetry = start()
    telemetry.close()
    with a_run():
        pass
    assert TraceStore(tmp_path / "traces.db").run_trace(RUN).spans == ()


@contextmanager
def locked(database: Path) -> Generator[None]:
    """Another process in the middle of a write."""
    connection = sqlite3.connect(database, isolation_level=None)
    connection.execute("begin immediate")
    try:
        yield
    finally:
        connection.execute("rollback")
        connection.close()
