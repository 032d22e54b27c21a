"""What smoke says at its end."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from scripts.citebound.__main__ import main
from scripts.citebound.commands.smoke import SmokeReport, print_report
from shared.types.runs import Answer
from tests.unit.cli.shapes import an_answer, an_import

TIMINGS = {"start": 1000, "import": 2000}


def a_report(answer: Answer | None) -> SmokeReport:
    return SmokeReport(
        passed=False, answer=answer, citations=(), imported=an_import(), snapshot=None, timings_ms=TIMINGS
    )


def test_a_refusal_is_told_as_nothing_answered_and_the_timings_once(capsys: pytest.CaptureFixture[str]) -> None:
    print_report(a_report(an_answer(status="refused", text="", citations=(), termination_reason="refused")))
    captured = capsys.readouterr()
    assert captured.out.splitlines()[-1] == "failed: nothing was answered (refused)"
    assert (captured.out + captured.err).count("1.00 s") == 1


def test_an_import_that_did_not_complete_is_told_without_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    print_report(a_report(None))
    assert capsys.readouterr().out.splitlines()[-1] == "failed: the import did not complete"


@pytest.mark.parametrize(
    "given", [["--docs", "{here}"], ["--docs", "{here}", "--question", " "], ["--question", "多久？"]]
)
def test_smoke_that_cannot_begin_prints_one_json_value(
    given: list[str], tmp_path: Path, own_folder: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    own_folder("")
    assert main(["smoke", "--json", *(word.format(here=tmp_path) for word in given)]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["remedy"]
