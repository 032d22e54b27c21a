"""Files that were made to cost much are not shown; a run that asks and reads a lot is."""

from msgspec import structs

from api.web.run_file_size import MOST_ASKS, MOST_OBJECTS, MOST_PARTS, MOST_SHOWN, fits_a_page
from shared.types.runfiles import RunFile
from shared.types.traces import SpanNode, Trace
from tests.unit.telemetry.factories import a_record
from tests.unit.web.test_compare_runs import a_turn


def a_file(*spans: SpanNode, text: str = "", **contents: str) -> RunFile:
    record = a_record()
    return RunFile(
        format="citebound-run-1",
        app_version="0.1.0",
        record=structs.replace(record, answer=structs.replace(record.answer, text=text or record.answer.text)),
        trace=Trace(partial=False, lost_spans=0, lost_artifacts=0, spans=spans),
        contents=contents,
    )


def test_a_run_of_fifty_turns_with_full_contexts_fits() -> None:
    prompts = {f"p{n}": '{"block": "' + "年假" * 50_000 + '"}' for n in range(50)}
    assert fits_a_page(a_file(*[a_turn(n, f"p{n}", "r") for n in range(50)], r="答", **prompts))


def test_more_parts_than_a_run_has_do_not() -> None:
    turn = a_turn(1, "p", "r")
    assert not fits_a_page(a_file(*[turn] * (MOST_ASKS + 1)))
    assert not fits_a_page(a_file(*[structs.replace(turn, children=())] * (MOST_PARTS + 1)))
    assert not fits_a_page(a_file(turn, text="[1]" * MOST_PARTS))


def test_a_text_counts_as_often_as_it_is_shown() -> None:
    turn = a_turn(1, "p", "r")
    assert fits_a_page(a_file(turn, p="字" * (MOST_SHOWN // 200 + 1)))
    assert not fits_a_page(a_file(*[turn] * 200, p="字" * (MOST_SHOWN // 200 + 1)))
    assert not fits_a_page(a_file(*[turn] * 200, p="{}," * (MOST_OBJECTS // 200 + 1)))
