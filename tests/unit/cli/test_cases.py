"""`citebound feedback` and `citebound cases`, against a stand-in for the API."""

import json
from collections.abc import Callable, Generator

import pytest
from msgspec import structs

from scripts.citebound.__main__ import main
from shared.ids import BlockId, DocId, RunId, SnapshotId
from shared.types.cases import Case, EvaluationItem, Feedback, Gold, Said
from tests.unit.cli.served import Served, serving

CASE = Case(
    case_id="case_01",
    run_id=RunId("run_01"),
    question="年假有几天？",
    run_status="complete",
    termination_reason="finished",
    layer="ignored",
    status="open",
    gold=(1,),
    note="应为五天",
    said=(Said(by="asker", thumb="down", comment="少了一天", at_ms=1),),
    snapshot_id=SnapshotId("snap_01"),
    versions=None,
    made_at_ms=1,
    changed_at_ms=1,
)
GOLD = Gold(
    quote="五天年假。",
    block_id=BlockId("aaaaaaaa.v1#0"),
    doc_id=DocId("aaaaaaaa"),
    version=1,
    title="请假",
    source_label="制度",
    section_path="年假",
)


def an_item(case_id: str, *gold: Gold) -> EvaluationItem:
    return EvaluationItem(
        id=case_id,
        question="年假有几天？",
        gold=gold,
        snapshot_id=SnapshotId("snap_01"),
        layer="ignored",
        run_id=RunId("run_01"),
        note="",
    )


@pytest.fixture
def api(own_folder: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> Generator[Served]:
    own_folder("")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    with serving() as served:
        monkeypatch.setenv("CITEBOUND_URL", served.url)
        yield served


def test_a_thumb_down_shows_the_case_it_made(api: Served, capsys: pytest.CaptureFixture[str]) -> None:
    api.give("POST /api/runs/run_01/feedback", Feedback(run_id=RunId("run_01"), thumb="down", case=CASE))
    assert main(["feedback", "down", "run_01", "--comment", "少了一天", "--layer", "ignored"]) == 0
    assert api.last_body == {"thumb": "down", "comment": "少了一天", "layer": "ignored"}
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("case_01", "ignored", "年假有几天？", "少了一天", "[1]", "应为五天"))


def test_only_what_is_said_of_a_case_is_changed(api: Served) -> None:
    api.give("POST /api/cases/case_01", CASE)
    assert main(["cases", "mark", "case_01", "--gold", "1", "--gold", "2", "--close"]) == 0
    assert api.last_body == {"gold": [1, 2], "status": "closed"}
    assert main(["cases", "mark", "case_01", "--note", ""]) == 0
    assert api.last_body == {"note": ""}


def test_every_case_is_exported_as_a_line(api: Served, capsys: pytest.CaptureFixture[str]) -> None:
    other = structs.replace(CASE, case_id="case_02")
    api.give("GET /api/cases", [other, CASE])
    api.give("GET /api/cases/case_01/item", an_item("case_01", GOLD))
    api.give("GET /api/cases/case_02/item", an_item("case_02"))
    assert main(["cases", "export"]) == 0
    told = capsys.readouterr()
    lines = [json.loads(line) for line in told.out.splitlines()]
    assert [(one["id"], [gold["quote"] for gold in one["gold"]]) for one in lines] == [
        ("case_02", []),
        ("case_01", ["五天年假。"]),
    ]
    assert "1 of 2" in told.err


def test_cases_are_listed_by_status(api: Served, capsys: pytest.CaptureFixture[str]) -> None:
    api.give("GET /api/cases", [CASE])
    assert main(["cases", "--status", "open"]) == 0
    assert api.asked == ["GET /api/cases?status=open"]
    assert "case_01" in capsys.readouterr().out
