"""`citebound replay`, against a stand-in for the API."""

import json
from typing import Any

import pytest

from shared.ids import BlockId, RunId, SnapshotId
from shared.types.replays import (
    Changed,
    Difference,
    Gained,
    Lost,
    Moved,
    Replay,
    ReplayedCall,
    VersionChange,
)
from shared.types.runs import Fingerprint
from tests.unit.cli.conftest import Run
from tests.unit.cli.served import Served

A, B, C, D = (BlockId(f"{doc * 8}.v1#0") for doc in "abcd")
PATH = "POST /api/runs/run_01/replay"


def seen(*block_ids: BlockId) -> Fingerprint:
    return Fingerprint(
        payload_sha256="0" * 64,
        payload_bytes=10,
        blocks=len(block_ids),
        block_ids=block_ids,
        texts=tuple("0" * 16 for _ in block_ids),
    )


def a_call(outcome: Any = "same", **more: Any) -> ReplayedCall:
    given: dict[str, Any] = {"then": seen(A, B), "now": seen(A, B), **more}
    return ReplayedCall(turn=1, tool="search_blocks", arguments='{"query":"年假"}', outcome=outcome, **given)


def a_replay(outcome: Any = "same", *calls: ReplayedCall, **more: Any) -> Replay:
    return Replay(
        run_id=RunId("run_01"),
        snapshot_id=SnapshotId("snap_01"),
        retrieval_profile="hybrid-rrf-v1",
        outcome=outcome,
        calls=calls,
        **more,
    )


@pytest.mark.parametrize(("outcome", "code"), [("same", 0), ("different", 6), ("impossible", 7)])
def test_the_exit_code_tells_the_outcome_also_with_json(api: Served, run: Run, outcome: str, code: int) -> None:
    api.give(PATH, a_replay(outcome))
    assert run("replay", "run_01")[0] == code
    ended, out, _ = run("replay", "run_01", "--json")
    assert (ended, json.loads(out)["outcome"]) == (code, outcome)


def test_without_a_run_the_last_one_is_replayed(api: Served, run: Run) -> None:
    summary = {
        "run_id": "run_01", "question": "?", "status": "complete", "termination_reason": "finished", "extractive": True,
        "citations": 0, "chat_tokens": 0, "embedding_tokens": 0, "tool_calls": 1, "snapshot_id": None,
        "started_at_ms": 0, "duration_ms": 1,
    }  # fmt: skip
    api.give("GET /api/runs", [summary])
    api.give(PATH, a_replay("same", a_call()))
    code, out, _ = run("replay")
    assert code == 0
    assert "the same, 2 blocks" in out


def test_a_difference_is_shown_rank_by_rank(api: Served, run: Run) -> None:
    difference = Difference(
        gained=(Gained(block_id=D, rank=1),),
        lost=(Lost(block_id=B, rank=2, visible=True), Lost(block_id=C, rank=3, visible=False)),
        moved=(Moved(block_id=A, then=1, now=2),),
    )
    api.give(
        PATH, a_replay("different", a_call("different", then=seen(A, B, C), now=seen(D, A), difference=difference))
    )
    _, out, _ = run("replay", "run_01")
    assert [line.split() for line in out.splitlines() if line.strip()[:1].isdigit() and "#" in line] == [
        ["1", A, "+", D],
        ["2", B, "−", "↓", A],
        ["3", C, "!"],
    ]


def test_other_text_and_other_errors_stand_beside_one_another(api: Served, run: Run) -> None:
    difference = Difference(
        changed=(Changed(block_id=A, then="年假五天", now="年假十天"), Changed(block_id=B, then=None, now="x")),
        error_now="scope_not_found",
        payload=("--- then", "+++ now", '-  "total": 1', '+  "total": 2'),
    )
    api.give(PATH, a_replay("different", a_call("different", difference=difference)))
    _, out, _ = run("replay", "run_01")
    for line in (
        '− "年假五天"',
        '+ "年假十天"',
        "− (not kept)",
        "now: scope_not_found",
        '+  "total": 2',
    ):
        assert line in out


def test_what_is_gone_is_told_in_the_persons_language(api: Served, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = a_replay("impossible", reason="snapshot_gone", detail="This snapshot was removed at 2026-11-01.")
    api.give(PATH, gone)
    _, out, _ = run("replay", "run_01")
    assert "not possible · its snapshot is not here any more (snapshot_gone) · This snapshot was removed" in out
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert "无法重放 · 其快照已不存在 (snapshot_gone)" in run("replay", "run_01")[1]


def test_what_changed_since_and_why_a_call_was_skipped_is_said(api: Served, run: Run) -> None:
    since = (VersionChange(what="tool_contract_version", then="1", now="2"),)
    api.give(PATH, a_replay("same", a_call("skipped", reason="failed_then", now=None), since=since))
    _, out, _ = run("replay", "run_01")
    assert "skipped, 2 blocks; it failed then: nothing was seen (failed_then)" in out
    assert "tool_contract_version was 1, is 2" in out


def test_a_run_that_is_not_there_is_a_failure_and_no_outcome(api: Served, run: Run) -> None:
    api.refuse(PATH, 404, "not_found", "There is no such run, or you may not read it.")
    code, _, err = run("replay", "run_01")
    assert code == 1
    assert "no such run" in err
