"""Spans opened our way are OpenTelemetry's: the same tree, the same context, the same faults."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import nullcontext
from contextvars import copy_context
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.trace import SpanKind, get_current_span

from shared.ids import RunId
from shared.settings import TraceSettings
from shared.telemetry import names
from shared.telemetry.setup import Telemetry
from shared.telemetry.tracing import tracer, within
from shared.types.traces import SpanNode
from tests.patience import PATIENCE_S

RUN = RunId("run_1")


@pytest.fixture
def telemetry(tmp_path: Path) -> Generator[Telemetry]:
    one = Telemetry(database=tmp_path / "traces.db", artifacts=tmp_path / "artifacts", settings=TraceSettings())
    yield one
    one.close()


def read(telemetry: Telemetry, run_id: str = RUN) -> tuple[SpanNode, ...]:
    assert telemetry.flush(timeout_s=PATIENCE_S)
    return telemetry.store.run_trace(RunId(run_id)).spans


def shape(nodes: tuple[SpanNode, ...]) -> list[Any]:
    return [[node.name, shape(node.children)] if node.children else node.name for node in nodes]


def faults(node: SpanNode) -> Any:
    events = [
        (event.name, {key: value for key, value in event.attributes.items() if key != "exception.stacktrace"})
        for event in node.events
    ]
    return node.name, node.status, node.status_message, events, [faults(child) for child in node.children]


@pytest.mark.parametrize(
    "fault",
    [None, ValueError("滤芯不在"), asyncio.CancelledError(), KeyboardInterrupt()],
    ids=lambda one: type(one).__name__,
)
def test_what_leaves_a_span_is_noted_as_opentelemetry_itself_notes_it(
    telemetry: Telemetry, fault: BaseException | None
) -> None:
    def work(opened: Any, turned: Any, run_id: str) -> None:
        with opened.start_as_current_span(names.RUN, attributes={names.RUN_ID: run_id}):
            turn = opened.start_span(names.TURN)
            try:
                with turned(turn), opened.start_as_current_span("chat m", kind=SpanKind.CLIENT):
                    if fault is not None:
                        raise fault
            finally:
                turn.end()

    found: list[Any] = []
    theirs = trace.get_tracer(names.TRACER)
    for opened, turned, run_id in ((tracer, within, RUN), (theirs, trace.use_span, "run_2")):
        with pytest.raises(type(fault)) if fault is not None else nullcontext():
            work(opened, turned, run_id)
        [root] = read(telemetry, run_id)
        found.append(faults(root))
    assert found[0] == found[1]


def test_a_span_is_the_current_one_inside_and_the_one_before_again_after(telemetry: Telemetry) -> None:
    before = get_current_span()
    with tracer.start_as_current_span(names.RUN) as outer:
        with tracer.start_as_current_span(names.TURN) as inner:
            assert get_current_span() is inner
        assert get_current_span() is outer
        with within(inner):
            assert get_current_span() is inner
        assert not inner.is_recording()
    assert get_current_span() is before


def test_what_leaves_a_span_that_notes_nothing_leaves_no_word_in_it(telemetry: Telemetry) -> None:
    run_id = RunId("run_quiet")
    with (
        pytest.raises(KeyError),
        tracer.start_as_current_span(names.RUN, attributes={names.RUN_ID: run_id}),
        tracer.start_as_current_span(names.TURN, notes=False),
    ):
        raise KeyError("张三的病历.pdf")
    [root] = read(telemetry, run_id)
    [quiet] = root.children
    assert (quiet.status, quiet.events) == ("unset", ())
    assert root.status == "error"


def test_tasks_and_threads_go_on_beneath_the_span_in_which_they_were_started(telemetry: Telemetry) -> None:
    async def step(name: str, other_is_inside: asyncio.Event, inside: asyncio.Event) -> None:
        with tracer.start_as_current_span(name):
            inside.set()
            async with asyncio.timeout(PATIENCE_S):
                await other_is_inside.wait()
            await asyncio.to_thread(note, f"{name}, in a thread")

    def note(name: str) -> None:
        with tracer.start_as_current_span(name):
            pass

    async def work() -> None:
        with tracer.start_as_current_span(names.RUN, attributes={names.RUN_ID: RUN}):
            one, two = asyncio.Event(), asyncio.Event()
            async with asyncio.TaskGroup() as group:
                group.create_task(step("一", two, one))
                group.create_task(step("二", one, two))
            here = copy_context()
            thread = threading.Thread(target=lambda: here.run(note, "三"))
            thread.start()
            thread.join(PATIENCE_S)

    asyncio.run(work())
    [[name, children]] = shape(read(telemetry))
    assert name == names.RUN
    assert sorted(children, key=str) == sorted(
        [["一", ["一, in a thread"]], ["二", ["二, in a thread"]], "三"], key=str
    )


def test_every_span_of_a_run_says_of_which_run_it_is_whoever_opened_it(telemetry: Telemetry) -> None:
    given = {names.RUN_ID: RUN, names.CONVERSATION: "conv_1"}
    theirs = trace.get_tracer("another library")
    with (
        tracer.start_as_current_span(names.RUN, attributes={**given, names.TOP_K: 8}),
        theirs.start_as_current_span("其他"),
        tracer.start_as_current_span(names.TURN),
    ):
        pass
    [root] = read(telemetry)
    other = root.children[0]
    assert [other.attributes, other.children[0].attributes] == [given, given]


def test_without_a_provider_spans_are_nothing_and_with_one_they_are_real_from_then_on() -> None:
    """In a process of its own: a provider is set once."""
    code = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from shared.telemetry.tracing import tracer
with tracer.start_as_current_span("nothing") as span:
    assert not span.is_recording() and not span.get_span_context().is_valid
trace.set_tracer_provider(TracerProvider(shutdown_on_exit=False))
with tracer.start_as_current_span("real") as span:
    assert span.is_recording() and trace.get_current_span() is span
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE_S)
