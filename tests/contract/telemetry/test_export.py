"""Spans sent on: to a receiver that decodes them, over a real connection."""

import base64
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import StatusCode

from shared.blobs import Blobs
from shared.ids import RunId
from shared.settings import LangfuseSettings, OtlpSettings, TraceSettings
from shared.telemetry import names
from shared.telemetry.artifacts import attach, trace_level
from shared.telemetry.export import Exported, Exporter, open_exporters
from shared.telemetry.redact import REMOVED, Redactor
from shared.telemetry.setup import Telemetry
from shared.version import APP_VERSION
from tests.doubles.collector import Collector, collector
from tests.patience import PATIENCE_S

ROOT = Path(__file__).resolve().parents[3]
SECRET = "provider-key-of-this-test"
PROMPT = [{"role": "system", "content": "规则"}, {"role": "user", "content": f"住宿费标准？密钥 {SECRET}"}]
CALL = {"id": "c1", "type": "function", "function": {"name": "search_blocks", "arguments": "{}"}}

Start = Callable[..., Telemetry]


@pytest.fixture
def start(tmp_path: Path) -> Generator[Start]:
    running: list[Telemetry] = []

    def start_one(*, otlp: OtlpSettings | None = None, langfuse: LangfuseSettings | None = None) -> Telemetry:
        artifacts = tmp_path / "artifacts"
        one = Telemetry(
            database=tmp_path / "traces.db",
            artifacts=artifacts,
            settings=TraceSettings(),
            secrets=[SECRET],
            exporters=open_exporters(
                otlp or OtlpSettings(), langfuse or LangfuseSettings(), artifacts=Blobs(artifacts), secrets=[SECRET]
            ),
        )
        running.append(one)
        return one

    yield start_one
    for one in running:
        one.close()


@pytest.fixture
def receiver() -> Generator[Collector]:
    with collector() as one:
        yield one


def a_run(telemetry: Telemetry) -> None:
    """As the agent records it: a root, a model call that failed, a search."""
    tracer = trace.get_tracer(names.TRACER)
    root = {names.RUN_ID: "run_1", names.OPERATION: "invoke_agent", names.CONVERSATION: "conv_1"}
    with tracer.start_as_current_span(names.RUN, attributes=root) as run:
        attach(run, "question", "住宿费标准？")
        with tracer.start_as_current_span(names.CHAT, attributes={names.OPERATION: "chat"}) as chat:
            attach(chat, "prompt", json.dumps(PROMPT, ensure_ascii=False))
            attach(chat, "reply", "每人每天 300 元。")
            attach(chat, "calls", json.dumps([CALL]))
            chat.add_event(names.RETRY, {"code": f"401 {SECRET}"})
            chat.set_status(StatusCode.ERROR, "provider refused")
        with tracer.start_as_current_span(names.SEARCH, attributes={names.OPERATION: "retrieval"}) as search:
            search.set_attribute(names.CANDIDATES, '[{"block_id":"k3f9a2qd.v2#17"}]')
            search.set_attribute(names.FINISH_REASONS, ("stop",))
        with tracer.start_as_current_span(names.TOOL, attributes={names.OPERATION: "execute_tool"}) as tool:
            attach(tool, "payload", '{"blocks":[]}')
        attach(run, "answer", "每人每天 300 元。[1]")
    assert telemetry.flush(timeout_s=PATIENCE_S)


def otlp_to(receiver: Collector, *, contents: bool = False) -> OtlpSettings:
    return OtlpSettings(endpoint=f"{receiver.url}/v1/traces", api_key="the-receivers-key", contents=contents)


def langfuse_at(receiver: Collector, *, contents: bool = False) -> LangfuseSettings:
    return LangfuseSettings(base_url=receiver.url, public_key="pk-lf-1", secret_key="sk-lf-2", contents=contents)


def test_nothing_is_exported_unless_a_receiver_is_named(start: Start) -> None:
    assert start().exported() == {}


def test_a_collector_gets_the_tree_as_it_was_recorded(start: Start, receiver: Collector) -> None:
    a_run(start(otlp=otlp_to(receiver)))
    root = receiver.await_span(names.RUN)
    chat, search = receiver.await_span(names.CHAT), receiver.await_span(names.SEARCH)
    assert root.parent_id is None
    assert chat.parent_id == search.parent_id == root.span_id
    assert chat.trace_id == search.trace_id == root.trace_id
    assert chat.attributes[names.RUN_ID] == "run_1"
    assert search.attributes[names.FINISH_REASONS] == ["stop"]
    request = receiver.await_request()
    assert (request.path, request.headers["content-type"]) == ("/v1/traces", "application/x-protobuf")
    assert request.headers["authorization"] == "Bearer the-receivers-key"


def test_spans_say_which_service_and_version_they_come_from(receiver: Collector, tmp_path: Path) -> None:
    """In a process of its own: a process names its service once, and other tests have been here before."""
    script = (
        "import sys\nfrom opentelemetry import trace\nfrom shared.layout import Layout\nfrom pathlib import Path\n"
        "from shared.settings import OtlpSettings, Settings\nfrom shared.telemetry.open import open_telemetry\n"
        "layout = Layout(root=Path(sys.argv[1]))\nlayout.create()\n"
        "settings = Settings(data_dir=sys.argv[1], otlp=OtlpSettings(endpoint=sys.argv[2]))\n"
        "telemetry = open_telemetry(settings, layout)\n"
        "trace.get_tracer('t').start_span('only').end()\ntelemetry.close()\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path), f"{receiver.url}/v1/traces"], check=True, cwd=ROOT)
    resource = receiver.await_span("only").resource
    assert (resource["service.name"], resource["service.version"]) == ("citebound", APP_VERSION)


def test_a_key_can_go_in_a_header_of_its_own(start: Start, receiver: Collector) -> None:
    a_run(start(otlp=OtlpSettings(endpoint=receiver.url, api_key="team-key", api_key_header="X-Team")))
    assert receiver.await_request().headers["x-team"] == "team-key"


@pytest.mark.parametrize("level", ["metadata", "full"])
@pytest.mark.parametrize("allowed", [False, True])
def test_contents_leave_only_from_a_full_trace_and_when_the_setting_says_so(
    start: Start, receiver: Collector, level: str, allowed: bool
) -> None:
    telemetry = start(otlp=otlp_to(receiver, contents=allowed))
    with trace_level("full" if level == "full" else "metadata"):
        a_run(telemetry)
    chat, search = receiver.await_span(names.CHAT), receiver.await_span(names.SEARCH)
    leaves = allowed and level == "full"
    assert (names.CANDIDATES in search.attributes) is leaves
    assert (names.INPUT_MESSAGES in chat.attributes) is leaves
    assert any("每人每天".encode() in body for body in receiver.raw) is leaves
    if leaves:
        assert json.loads(chat.attributes[names.INPUT_MESSAGES]) == [
            {"role": "system", "parts": [{"type": "text", "content": "规则"}]},
            {"role": "user", "parts": [{"type": "text", "content": f"住宿费标准？密钥 {REMOVED}"}]},
        ]
        assert json.loads(chat.attributes[names.OUTPUT_MESSAGES]) == [
            {
                "role": "assistant",
                "parts": [
                    {"type": "text", "content": "每人每天 300 元。"},
                    {"type": "tool_call", "id": "c1", "name": "search_blocks", "arguments": "{}"},
                ],
            }
        ]


def test_a_question_its_answer_and_what_tools_gave_leave_under_the_names_of_the_conventions(
    start: Start, receiver: Collector
) -> None:
    with trace_level("full"):
        a_run(start(otlp=otlp_to(receiver, contents=True)))
    root, tool = receiver.await_span(names.RUN), receiver.await_span(names.TOOL)
    assert json.loads(root.attributes[names.INPUT_MESSAGES]) == [
        {"role": "user", "parts": [{"type": "text", "content": "住宿费标准？"}]}
    ]
    assert json.loads(root.attributes[names.OUTPUT_MESSAGES]) == [
        {"role": "assistant", "parts": [{"type": "text", "content": "每人每天 300 元。[1]"}]}
    ]
    assert tool.attributes[names.TOOL_RESULT] == '{"blocks":[]}'


def test_no_secret_leaves(start: Start, receiver: Collector) -> None:
    with trace_level("full"):
        a_run(start(otlp=otlp_to(receiver, contents=True)))
    chat = receiver.await_span(names.CHAT)
    assert chat.events[0][1]["code"] == f"401 {REMOVED}"
    assert all(SECRET.encode() not in body for body in receiver.raw)


def test_langfuse_gets_types_a_session_and_the_error(start: Start, receiver: Collector) -> None:
    with trace_level("full"):
        a_run(start(langfuse=langfuse_at(receiver, contents=True)))
    root, chat, search = (receiver.await_span(name) for name in (names.RUN, names.CHAT, names.SEARCH))
    kinds = [span.attributes["langfuse.observation.type"] for span in (root, chat, search)]
    assert kinds == ["agent", "generation", "retriever"]
    for span in (root, chat, search):
        assert span.attributes["langfuse.session.id"] == "conv_1"
        assert span.attributes["langfuse.trace.metadata.run_id"] == "run_1"
    assert chat.attributes["langfuse.observation.level"] == "ERROR"
    assert root.attributes["langfuse.observation.input"] == "住宿费标准？"
    assert root.attributes["langfuse.observation.output"] == "每人每天 300 元。[1]"
    request = receiver.await_request()
    assert request.path == "/api/public/otel/v1/traces"
    assert request.headers["x-langfuse-ingestion-version"] == "4"
    assert base64.b64decode(request.headers["authorization"].removeprefix("Basic ")) == b"pk-lf-1:sk-lf-2"


def test_both_can_be_on_at_once_and_the_local_store_has_all(start: Start, receiver: Collector) -> None:
    with collector() as other:
        telemetry = start(otlp=otlp_to(receiver), langfuse=langfuse_at(other))
        a_run(telemetry)
        receiver.await_span(names.RUN)
        other.await_span(names.RUN)
        assert "langfuse.observation.type" not in receiver.await_span(names.CHAT).attributes
        assert len(telemetry.store.run_trace(RunId("run_1")).spans[0].children) == 3


def test_spans_that_a_receiver_refuses_are_counted(start: Start) -> None:
    with collector(status=400) as refusing:
        telemetry = start(otlp=otlp_to(refusing))
        a_run(telemetry)
        refusing.await_span(names.RUN)
        telemetry.close()
        counted = telemetry.exported()["otlp"]
        assert (counted.sent, counted.waiting) == (0, 0)
        assert counted.refused >= 3  # whatever else ends in this process at the same time is sent on as well


def test_what_finds_no_room_is_counted_and_nobody_waits(tmp_path: Path) -> None:
    class Stuck(SpanExporter):
        """A receiver that doesn't answer."""

        def __init__(self) -> None:
            self.answers = threading.Event()

        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            assert self.answers.wait(PATIENCE_S)
            return SpanExportResult.SUCCESS

    target = Stuck()
    exporter = Exporter(
        "otlp",
        target,
        adapt=lambda span, contents: {},
        contents=False,
        artifacts=Blobs(tmp_path),
        redactor=Redactor(),
        queue=4,
    )
    tracer = TracerProvider(shutdown_on_exit=False)
    tracer.add_span_processor(exporter)
    for _ in range(20):
        tracer.get_tracer("test").start_span("step").end()
    assert exporter.exported() == Exported(waiting=4, dropped=16)
    target.answers.set()
    exporter.shutdown()
    assert exporter.exported() == Exported(sent=4, dropped=16)
