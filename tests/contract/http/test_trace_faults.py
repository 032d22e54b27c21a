"""What becomes of traces when their store gives way: locked, full, or its writer gone. Answers never notice; losses are counted and shown."""

import ctypes
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from litestar import Litestar
from litestar.testing import TestClient
from prometheus_client.parser import text_string_to_metric_families

from shared.settings import TraceSettings
from shared.telemetry.setup import Telemetry
from tests.contract.http.site import Site
from tests.contract.telemetry.test_telemetry import locked
from tests.faults.site import mount_small_disk, unmount
from tests.faults.test_surroundings import fill

FEW = TraceSettings(queue=4, level="full")  # a run has more spans than this
DISK_MB = 2


@pytest.fixture
def asked(site: Site) -> Site:
    site.publish()
    site.with_the_real_agent()
    return site


def with_store(site: Site, folder: Path) -> None:
    """Traces in this folder, with room for few."""
    site.telemetry.close()
    site.telemetry = Telemetry(database=folder / "traces.db", artifacts=folder / "artifacts", settings=FEW)


def ask(client: TestClient[Litestar]) -> dict[str, Any]:
    reply = client.post("/api/runs", json={"question": "员工有几天年假？"})
    assert reply.status_code == 200, reply.text
    return reply.json()


def told(answer: dict[str, Any]) -> tuple[Any, ...]:
    """What an asker sees of it."""
    quotes = [citation["quote"] for citation in answer["citations"]]
    return answer["status"], answer["text"], answer["termination_reason"], quotes


def lost(client: TestClient[Litestar]) -> dict[str, float]:
    """As Prometheus is told."""
    return {
        sample.labels["kind"]: sample.value
        for family in text_string_to_metric_families(client.get("/metrics").text)
        for sample in family.samples
        if sample.name == "citebound_traces_dropped_total"
    }


def test_a_locked_store_changes_no_answer_and_what_finds_no_room_is_counted_and_marked(
    asked: Site, tmp_path: Path
) -> None:
    with_store(asked, tmp_path)
    with asked.client() as client:
        before = ask(client)
        assert asked.telemetry.flush(timeout_s=5)
        with locked(tmp_path / "traces.db"):
            during = [ask(client) for _ in range(3)]
            read = client.get(f"/api/runs/{during[0]['run_id']}").json()
            counted = lost(client)
        assert asked.telemetry.flush(timeout_s=10)
        traces = [client.get(f"/api/runs/{one['run_id']}/trace").json() for one in during]
        days = client.get("/api/figures").json()["days"]
    assert [told(one) for one in (*during, read)] == [told(before)] * 4
    assert counted["spans"] > 0
    assert counted["runs"] == 0
    assert [trace["partial"] for trace in traces].count(True) >= 2
    assert sum(trace["lost_spans"] for trace in traces) > 0
    assert days[-1]["runs"] == 4  # records have room of their own
    assert days[-1]["dropped"] > 0


def test_a_full_disk_changes_no_answer_and_its_losses_are_shown_when_there_is_room_again(
    asked: Site, disk: Path
) -> None:
    with_store(asked, disk)
    with asked.client() as client:
        before = ask(client)
        assert asked.telemetry.flush(timeout_s=5)
        fill(disk / "filler")
        during = [ask(client) for _ in range(3)]
        read = client.get(f"/api/runs/{during[-1]['run_id']}").json()
        counted = lost(client)
        (disk / "filler").unlink()
        assert asked.telemetry.flush(timeout_s=10)
        traces = [client.get(f"/api/runs/{one['run_id']}/trace").json() for one in during]
    assert [told(one) for one in (*during, read)] == [told(before)] * 4
    assert counted["spans"] > 0
    assert any(trace["partial"] and trace["lost_spans"] for trace in traces)
    with_store(asked, disk)
    with asked.client() as client:  # as another process finds them
        assert [told(client.get(f"/api/runs/{one['run_id']}").json()) for one in during] == [told(before)] * 3


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # that it dies is the point
def test_without_its_writer_answers_go_on_traces_are_partial_and_readiness_says_so(asked: Site, tmp_path: Path) -> None:
    with_store(asked, tmp_path)
    with asked.client() as client:
        before = ask(client)
        assert asked.telemetry.flush(timeout_s=5)
        kill_the_writer()
        during = [ask(client) for _ in range(2)]
        trace = client.get(f"/api/runs/{during[1]['run_id']}/trace").json()
        read = client.get(f"/api/runs/{during[1]['run_id']}").json()
        counted = lost(client)
        ready = client.get("/readyz")
    assert [told(one) for one in (*during, read)] == [told(before)] * 3
    assert trace["partial"]
    assert counted["spans"] > 0
    assert (ready.status_code, ready.json()["parts"]["traces"]["state"]) == (503, "failed")


@pytest.fixture
def disk(tmp_path: Path, site: Site) -> Generator[Path]:
    folder = tmp_path / "disk"
    if not mount_small_disk(folder, size_mb=DISK_MB):
        pytest.skip("a small disk can't be mounted here (needs root and tmpfs): what a full one does stays unproven")
    try:
        yield folder
    finally:
        site.telemetry.close()  # else the disk is busy
        unmount(folder)


def kill_the_writer() -> None:
    """From outside, as nothing in the product does: it ends at the next thing it does, whatever that is."""
    (writer,) = [thread for thread in threading.enumerate() if thread.name == "trace-writer"]
    assert writer.ident is not None
    killed = ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(writer.ident), ctypes.py_object(SystemExit))
    assert killed == 1
