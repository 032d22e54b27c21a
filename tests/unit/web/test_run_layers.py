"""Which layer of a run failed, told from its file alone."""

import pytest
from msgspec import structs

from api.web.run_layers import Happenings
from api.web.run_view import run_view
from shared.ids import BlockId
from shared.telemetry import names
from shared.types.runfiles import RunFile
from shared.types.runs import ClaimCheck, Fingerprint, Limitation, RecordedCall, Retrieval, RunRecord, Usage
from shared.types.traces import SpanNode
from tests.unit.web.factories import a_citation, a_file, a_run, a_span, an_admission, an_event

BLOCK = "k3f9a2qd.v1#1"
CITED = a_citation(BLOCK, verdict="supported")


def a_turn(*, admitted: bool = True, failed: str = "", blocks: int = 1) -> SpanNode:
    call = a_span("execute_tool search_blocks", at_ms=1, result_blocks=blocks, failed=failed)
    return a_span(names.TURN, a_span("chat m"), call, ms=50, events=[an_admission(12, tokens=9_000, admitted=admitted)])


def happened(file: RunFile) -> Happenings:
    return run_view(file).happened


def reading(*seen: str) -> RunRecord:
    """A run that read these passages when it was asked what the rate for lodging is, and cites none."""
    record = a_run(read=[f"k3f9a2qd.v1#{n}" for n in range(len(seen))])
    ledger = tuple(
        structs.replace(one, seen=text, section_path="规定") for one, text in zip(record.ledger, seen, strict=True)
    )
    return structs.replace(record, ledger=ledger)


def states(found: Happenings) -> dict[str, str]:
    return {one.station: one.state for one in found.steps}


def test_nothing_stands_out_of_a_run_that_went_well() -> None:
    found = happened(a_file(a_run(read=[BLOCK], cited=[CITED]), a_turn()))
    assert (found.layer, found.first) == (None, None)
    assert set(states(found).values()) == {"good"}


WRONG: dict[str, tuple[str, RunFile]] = {
    "no tool was called": ("not_called", a_file(a_run(calls=0, usage=Usage(model_calls=1)))),
    "nothing was found": ("not_recalled", a_file(a_run(), a_turn(blocks=0))),
    "the budget refused it": ("refused_by_budget", a_file(a_run(), a_turn(admitted=False))),
    "the model left it aside": ("ignored", a_file(a_run(read=[BLOCK]), a_turn())),
    "something was refused, and what was read all the same was of no use": (
        "refused_by_budget",
        a_file(reading("访客在 B 门领取救生衣。"), a_turn(), a_turn(admitted=False)),
    ),
    "what was read is about something else": (
        "not_recalled",
        a_file(reading("访客在 B 门领取救生衣。", "消防泵每月测试一次。"), a_turn(blocks=2)),
    ),
    "what was read is about what was asked": (
        "ignored",
        a_file(reading("访客在 B 门领取救生衣。", "住宿费标准为每人每天 300 元。"), a_turn(blocks=2)),
    ),
    "what was read is in another language, where words tell nothing": (
        "ignored",
        a_file(reading("Visitors get theirs at gate B.", "消防泵每月测试一次。"), a_turn(blocks=2)),
    ),
    "its source says something else": (
        "cited_wrongly",
        a_file(a_run(read=[BLOCK], cited=[a_citation(BLOCK, verdict="unsupported")]), a_turn()),
    ),
    "a mark named nothing that was read": (
        "cited_wrongly",
        a_file(
            a_run(read=[BLOCK], cited=[CITED]),
            a_span(names.RUN, a_turn(), events=[an_event(names.CITATION, block_id="x.v1#9", verdict="removed")]),
        ),
    ),
    "a statement has no source": (
        "cited_wrongly",
        a_file(
            a_run(
                read=[BLOCK],
                cited=[CITED],
                claims=(ClaimCheck(sentence="另计。", markers=(), verdict="unsupported"),),
            ),
            a_turn(),
        ),
    ),
    "the model could not be reached": (
        "other",
        a_file(
            a_run(calls=0, status="failed", termination_reason="upstream_unavailable"),
            a_span(names.TURN, a_span("chat m", failed="upstream_unavailable")),
        ),
    ),
    "there was no room from the beginning": (
        "refused_by_budget",
        a_file(a_run(calls=0, status="failed", termination_reason="context_budget_exceeded")),
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_the_layer_that_failed_is_named(what: str) -> None:
    layer, file = WRONG[what]
    found = happened(file)
    assert found.layer == layer
    assert found.first is not None
    assert found.first.state == "bad"


def test_a_question_back_needs_neither_look_ups_nor_sources() -> None:
    found = happened(a_file(a_run(calls=0, status="clarification")))
    assert found.layer is None
    found = happened(a_file(a_run(read=[BLOCK], status="clarification"), a_turn()))
    assert found.layer is None


def test_something_refused_beside_what_was_read_is_worth_a_look_and_no_more() -> None:
    limitation = Limitation(code="context_budget_exceeded", text="装不下")
    found = happened(a_file(a_run(read=[BLOCK], cited=[CITED], limitations=(limitation,)), a_turn()))
    assert found.layer is None
    assert states(found)["let_in"] == "warn"


def test_a_tool_that_failed_for_good_is_no_empty_result() -> None:
    found = happened(a_file(a_run(), a_turn(failed="collection_unavailable", blocks=0)))
    assert (found.layer, states(found)["called"]) == ("not_called", "bad")


def test_without_its_trace_a_run_is_judged_by_its_record() -> None:
    shown = Fingerprint(
        payload_sha256="0" * 64, payload_bytes=9, blocks=2, block_ids=(BlockId(BLOCK), BlockId("z.v1#0"))
    )
    call = RecordedCall(turn=1, tool="search_blocks", arguments="{}", arguments_sha256="0" * 64, came_to=shown)
    record = a_run(read=[BLOCK], cited=[CITED])
    view = run_view(a_file(structs.replace(record, retrieval=Retrieval(scope=None, calls=(call,)))))
    assert view.happened.layer is None
    assert [(one.block_id, one.came) for one in view.blocks] == [(BLOCK, "cited"), ("z.v1#0", "returned")]
