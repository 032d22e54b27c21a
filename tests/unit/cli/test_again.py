"""`citebound audit` and `citebound rerun`, against a stand-in for the API."""

from collections.abc import Callable, Generator

import pytest

from scripts.citebound.__main__ import main
from shared.ids import RunId, SnapshotId
from shared.types.again import Audit, Once, Possible, Rerun
from tests.unit.cli.served import Served, serving

PATH = "POST /api/runs/run_01/rerun"


def once(number: int, *, passed: bool) -> Once:
    return Once(
        run_id=RunId(f"run_1{number}"),
        status="complete" if passed else "refused",
        termination_reason="finished",
        documents=(),
        passed=passed,
        failure=None if passed else "other_status",
        chat_tokens=0,
        duration_ms=9,
    )


def a_rerun(*passed: bool) -> Rerun:
    return Rerun(
        run_id=RunId("run_01"),
        snapshot_id=SnapshotId("snap_01"),
        criterion="same_status_and_documents",
        possible=True,
        passed=sum(passed),
        pass_rate=sum(passed) / len(passed),
        flips=1,
        runs=tuple(once(number, passed=one) for number, one in enumerate(passed)),
    )


@pytest.fixture
def api(own_folder: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> Generator[Served]:
    own_folder("")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    with serving() as served:
        monkeypatch.setenv("CITEBOUND_URL", served.url)
        yield served


@pytest.mark.parametrize(("passed", "code"), [((True, True), 0), ((True, False), 6)])
def test_a_rerun_tells_every_run_and_ends_with_how_many_passed(
    api: Served, capsys: pytest.CaptureFixture[str], passed: tuple[bool, ...], code: int
) -> None:
    api.give(PATH, a_rerun(*passed))
    assert main(["rerun", "run_01", "--times", "2", "--expect", "五天年假"]) == code
    assert api.last_body == {"times": 2, "expected_quote": "五天年假"}
    shown = capsys.readouterr().out
    assert f"{sum(passed)} of 2 passed" in shown
    assert "run_10" in shown
    assert ("other_status" in shown) is not all(passed)


def test_a_rerun_that_is_not_possible_says_why(api: Served, capsys: pytest.CaptureFixture[str]) -> None:
    api.give(
        PATH,
        Rerun(
            run_id=RunId("run_01"),
            snapshot_id=None,
            criterion="expected_quote",
            possible=False,
            reason="snapshot_gone",
            detail="It was removed.",
        ),
    )
    assert main(["rerun", "run_01"]) == 7
    assert "snapshot_gone" in capsys.readouterr().out


def test_an_audit_lists_the_four_kinds(api: Served, capsys: pytest.CaptureFixture[str]) -> None:
    again = (
        Possible(kind="audit", possible=True),
        Possible(kind="evidence", possible=False, reason="contents_not_kept", detail="Nothing was kept."),
    )
    found = Audit(run_id=RunId("run_01"), rerun_of=RunId("run_00"), versions=None, since=(), again=again)
    api.give("GET /api/runs/run_01/audit", found)
    assert main(["audit", "run_01"]) == 0
    shown = capsys.readouterr().out
    assert "✓ audit" in shown
    assert "✗ evidence" in shown
    assert "contents_not_kept" in shown
    assert "run_00" in shown
