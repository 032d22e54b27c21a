"""Figures of days: added to while spans and runs are written, read after a restart, and held against thresholds."""

import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path

import pytest
from msgspec import structs
from opentelemetry import trace

from shared.settings import AlertSettings, TraceSettings
from shared.telemetry import names
from shared.telemetry.daily import DayCounts, stored_days
from shared.telemetry.figures import alerts_of, day_figures, read_figures
from shared.telemetry.measures import bucket_of
from shared.telemetry.setup import Telemetry
from shared.types.figures import Alert, DayFigures
from shared.types.runs import RunRecord
from tests.contract.telemetry.test_telemetry import locked
from tests.patience import PATIENCE_S
from tests.unit.telemetry.factories import a_record

DAY_MS = 86_400_000
NOON_MS = 20_000 * DAY_MS + DAY_MS // 2  # 2024-10-04
DAYS = ("2024-10-03", "2024-10-04")

Start = Callable[[], Telemetry]


@pytest.fixture
def start(tmp_path: Path) -> Generator[Start]:
    running: list[Telemetry] = []

    def start_one() -> Telemetry:
        running.append(
            Telemetry(
                database=tmp_path / "traces.db", artifacts=tmp_path / "artifacts", settings=TraceSettings(queue=2)
            )
        )
        return running[-1]

    yield start_one
    for one in running:
        one.close()


class ALibrary:
    """As old as the epoch, and busier by the hour."""

    def age_days(self, at_ms: int) -> float | None:
        return at_ms / DAY_MS

    def queue_depth(self, from_ms: int, until_ms: int) -> int:
        return round((until_ms - from_ms) / 3_600_000)


def at(ms: int, run_id: str, **more: object) -> RunRecord:
    record = a_record(run_id=run_id)
    return structs.replace(record, answer=structs.replace(record.answer, started_at_ms=ms, **more))


def a_braked_run(at_ms: int) -> None:
    tracer = trace.get_tracer(names.TRACER)
    with tracer.start_as_current_span(names.RUN) as span:
        span.add_event(names.CITATION, {"verdict": "unsupported"})
        turn = tracer.start_span(names.TURN, start_time=at_ms * 1_000_000)
        turn.add_event(names.BRAKE, {"kind": "brake_gain"})
        turn.add_event(names.PROTOCOL_ERROR, {"problem": "no_action"})
        turn.end(at_ms * 1_000_000)
        call = tracer.start_span(f"{names.CHAT} some-model", start_time=at_ms * 1_000_000)
        call.end(at_ms * 1_000_000 + 300_000_000)


def test_a_day_is_the_sum_of_its_runs_over_restarts_and_knows_nothing_of_another(start: Start, tmp_path: Path) -> None:
    before = start()
    before.keep(at(NOON_MS - DAY_MS, "run_1"))
    before.keep(at(NOON_MS, "run_2", status="refused"))
    before.close()
    after = start()
    after.keep(at(NOON_MS, "run_3", status="failed"))
    after.keep(at(NOON_MS, "run_4", duration_ms=2_000))
    a_braked_run(NOON_MS)
    assert after.flush(timeout_s=PATIENCE_S)
    found = read_figures(tmp_path / "traces.db", days=9, now_ms=NOON_MS, alerts=AlertSettings(), library=ALibrary())
    assert [(day.day, day.runs) for day in found.days] == [(DAYS[0], 1), (DAYS[1], 3)]
    today = found.days[1]
    assert today.by_status == {"complete": 1, "failed": 1, "refused": 1}
    assert (today.retrievals_per_run, today.no_answer_rate) == (1.0, 0.5)
    assert today.tokens_per_run == {"chat_input": 900, "chat_output": 40, "embedding": 9}
    assert (today.brakes, today.protocol_errors) == ({"brake_gain": 1}, 1)
    assert today.snapshot_age_days == NOON_MS / DAY_MS
    assert [day.queue_depth for day in found.days] == [24, 12]
    assert {one.step: one.count for one in today.steps} == {"run": 3, "model_call": 1}
    assert found.alerts == ()


def test_what_is_dropped_is_counted_for_the_day_on_which_it_was_noticed(start: Start, tmp_path: Path) -> None:
    telemetry = start()
    telemetry.keep(a_record())
    assert telemetry.flush(timeout_s=PATIENCE_S)
    with locked(tmp_path / "traces.db"):
        for _ in range(9):
            a_braked_run(NOON_MS)
    assert telemetry.flush(timeout_s=PATIENCE_S)
    dropped = telemetry.dropped()["spans_dropped"]
    counted = [
        number
        for day in stored_days(tmp_path / "traces.db", since="2025-01-01").values()
        for (name, label), number in day.counts.items()
        if (name, label) == ("dropped", "spans_dropped")
    ]
    assert dropped > 0
    assert sum(counted) == dropped


def test_where_nothing_was_written_yet_or_by_an_older_version_nothing_is_told_and_nothing_changed(
    tmp_path: Path,
) -> None:
    database = tmp_path / "traces.db"
    assert stored_days(database, since="") == {}
    assert not database.exists()
    with closing(sqlite3.connect(database)) as db:
        db.execute("create table runs (run_id text)")
    assert stored_days(database, since="") == {}


def test_only_what_is_above_its_threshold_on_a_day_with_enough_runs_is_an_alert() -> None:
    settings = AlertSettings(least_runs=4, snapshot_age_days=7.0)
    few = day_figures("d", a_day(runs=3), snapshot_age_days=7.0, queue_depth=50)
    enough = day_figures("d", a_day(runs=4), snapshot_age_days=8.0, queue_depth=51)
    assert list(alerts_of(few, settings)) == []
    assert list(alerts_of(enough, settings)) == [
        Alert(day="d", figure="snapshot_age_days", value=8.0, threshold=7.0),
        Alert(day="d", figure="queue_depth", value=51, threshold=50),
        Alert(day="d", figure="brakes_per_run", value=0.75, threshold=0.3),
        Alert(day="d", figure="citation_failure_rate", value=0.5, threshold=0.1),
        Alert(day="d", figure="run_p95_s", value=300.0, threshold=60.0),
    ]
    assert list(alerts_of(DayFigures(day="d", dropped=1), AlertSettings())) == [
        Alert(day="d", figure="dropped", value=1, threshold=0)
    ]


def a_day(*, runs: int) -> DayCounts:
    return DayCounts(
        counts={
            ("runs", "complete/finished"): runs,
            ("brakes", "brake_time"): 3,
            ("citations", "supported"): 1,
            ("citations", "removed"): 1,
            ("citations", "unchecked"): 8,
        },
        times={"run": {bucket_of(400): runs}},
    )
