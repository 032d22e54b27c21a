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

from shared.access import OWNER
from shared.settings import TraceSettings
from shared.telemetry.schema import BUSY_MS, open_traces
from shared.telemetry.setup import Telemetry
from tests.contract.http.site import Site
from tests.contract.telemetry.test_telemetry import locked
from tests.faults.site import mount_small_disk, unmount
from tests.faults.test_surroundings import fill
from tests.patience import PATIENCE_S

FEW = TraceSettings(queue=4, level="full")  # a run has more spans than this
DISK_MB = 2


@pytest.fixture
def asked(site: Site) -> Site:
    site.publish()
    site.with_the_real_agent()
    return site


def with_store(site: Site, folder: Path, settings: TraceSettings = FEW) -> None:
    """Traces in this folder; as a rule with room for few."""
    site.telemetry.close()
    site.telemetry = Telemetry(database=folder / "traces.db", artifacts=folder / "artifacts", settings=settings)


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
        assert asked.telemetry.flush(timeout_s=PATIENCE_S)
        with locked(tmp_path / "traces.db"):
            during = [ask(client) for _ in range(3)]
            read = client.get(f"/api/runs/{during[0]['run_id']}").json()
            counted = lost(client)
        assert asked.telemetry.flush(timeout_s=PATIENCE_S)
        traces = [client.get(f"/api/runs/{one['run_id']}/trace").json() for one in during]
        days = client.get("/api/figures").json()["days"]
    assert [told(one) for one in (*during, read)] == [told(before)] * 4
    assert counted["spans"] > 0
    assert counted["runs"] == 0
    assert [trace["partial"] for trace in traces].count(True) >= 2
    assert sum(trace["lost_spans"] for trace in traces) > 0
    assert sum(day["runs"] for day in days) == 4  # records have room of their own; midnight may have passed
    assert sum(day["dropped"] for day in days) > 0


def test_a_full_disk_changes_no_answer_and_its_losses_are_shown_when_there_is_room_again(
    asked: Site, disk: Path
) -> None:
    with_store(asked, disk)
    with asked.client() as client:
        before = ask(client)
        assert asked.telemetry.flush(timeout_s=PATIENCE_S)
        fill(disk / "filler")
        during = [ask(client) for _ in range(3)]
        read = client.get(f"/api/runs/{during[-1]['run_id']}").json()
        counted = lost(client)
        (disk / "filler").unlink()
        assert asked.telemetry.flush(timeout_s=PATIENCE_S)
        traces = [client.get(f"/api/runs/{one['run_id']}/trace").json() for one in during]
    assert [told(one) for one in (*during, read)] == [told(before)] * 4
    assert counted["spans"] > 0
    assert any(trace["partial"] and trace["lost_spans"] for trace in traces)
    with_store(asked, disk)
    with asked.client() as client:  # as another process finds them
        assert [told(client.get(f"/api/runs/{one['run_id']}").json()) for one in during] == [told(before)] * 3


@pytest.mark.parametrize("by", ["nothing", "another store"])
def test_a_store_that_is_removed_or_exchanged_loses_what_was_in_it_and_nothing_later(
    asked: Site, tmp_path: Path, caplog: pytest.LogCaptureFixture, by: str
) -> None:
    moved = tmp_path / "moved"
    moved.mkdir()
    with_store(asked, tmp_path, TraceSettings())
    with asked.client() as client:
        before = [ask(client) for _ in range(2)]
        assert asked.telemetry.flush(timeout_s=PATIENCE_S)
        for one in tmp_path.glob("traces.db*"):
            one.rename(moved / one.name)
        if by == "another store":
            open_traces(tmp_path / "traces.db", busy_ms=BUSY_MS).conn.close()
        after = [ask(client) for _ in range(2)]
        assert asked.telemetry.flush(timeout_s=PATIENCE_S)
        counted = lost(client)
        traces = [client.get(f"/api/runs/{one['run_id']}/trace").json() for one in after]
        (condition,) = [one for one in client.get("/api/health").json()["parts"] if one["part"] == "traces"]
    assert not any(trace["partial"] for trace in traces)
    assert (counted["runs"], counted["spans"] > 0) == (2, True)
    assert (condition["state"], condition["code"], condition["dropped"]) == ("note", "replaced", sum(counted.values()))
    (said,) = [one.getMessage() for one in caplog.records if one.name == "shared.telemetry.writer"]
    assert "2 runs that were in it are not found any more" in said
    with_store(asked, tmp_path)  # as another process finds them
    assert {one.run_id for one in asked.telemetry.list_runs(OWNER, limit=9)} == {one["run_id"] for one in after}
    with_store(asked, moved)
    assert {one.run_id for one in asked.telemetry.list_runs(OWNER, limit=9)} == {one["run_id"] for one in before}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # that it dies is the point
def test_without_its_writer_answers_go_on_traces_are_partial_and_readiness_says_so(asked: Site, tmp_path: Path) -> None:
    with_store(asked, tmp_path)
    with asked.client() as client:
        before = ask(client)
        assert asked.telemetry.flush(timeout_s=PATIENCE_S)
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
