"""`citebound figures`, against a stand-in for the API."""

import json
from collections.abc import Callable, Generator

import pytest

from scripts.citebound.__main__ import main
from shared.types.figures import Alert, DayFigures, Figures, StepTimes
from tests.unit.cli.served import Served, serving

TODAY = DayFigures(
    day="2026-11-30",
    runs=4,
    by_status={"complete": 3, "refused": 1},
    retrievals_per_run=2.5,
    brakes_per_run=0.5,
    no_answer_rate=0.25,
    citation_failure_rate=0.125,
    tokens_per_run={"chat_input": 900.0, "chat_output": 100.0},
    steps=(StepTimes(step="run", count=4, p50_s=0.25, p95_s=1.5),),
    snapshot_age_days=3.0,
    queue_depth=2,
    dropped=7,
)


@pytest.fixture
def api(own_folder: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> Generator[Served]:
    own_folder("")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    with serving() as served:
        monkeypatch.setenv("CITEBOUND_URL", served.url)
        yield served


def test_days_steps_and_alerts_are_shown(api: Served, capsys: pytest.CaptureFixture[str]) -> None:
    alert = Alert(day="2026-11-30", figure="dropped", value=7, threshold=0)
    api.give("GET /api/figures", Figures(days=(DayFigures(day="2026-11-29"), TODAY), alerts=(alert,)))
    assert main(["figures", "--days", "2"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert api.asked == ["GET /api/figures?days=2"]
    assert ["2026-11-29", "0", "–", "–", "–", "–", "–", "–", "–", "–", "0", "0"] in lines
    expected = ["2026-11-30", "4", "2.5", "0.5", "25%", "12%", "1000.0", "250", "ms", "1.50", "s", "3.0", "2", "7"]
    assert expected in lines
    assert ["run", "4", "250", "ms", "1.50", "s"] in lines
    assert ["!", "2026-11-30:", "dropped", "7", ">", "0"] in lines


def test_for_programs_it_is_the_reply_itself(api: Served, capsys: pytest.CaptureFixture[str]) -> None:
    api.give("GET /api/figures", Figures(days=(TODAY,), alerts=()))
    assert main(["figures", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["days"][0]["by_status"] == {"complete": 3, "refused": 1}
