"""Files that were made to cost much are not shown; a run that asks and reads a lot is."""

from typing import Any

from msgspec import structs

from api.web.run_file_size import (
    MOST_ASKS,
    MOST_OBJECTS,
    MOST_PARTS,
    MOST_PASSAGES,
    MOST_SHOWN,
    MOST_SOUGHT,
    fits_a_page,
)
from shared.telemetry import names
from shared.types.runfiles import RunFile
from shared.types.runs import ClaimCheck
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


def test_a_long_title_counts_as_often_as_marks_and_passages_show_it() -> None:
    file, text = a_file(), "年假五天。[1]" * 100
    cited = structs.replace(file.record.answer.citations[0], title="题" * (MOST_SHOWN // 100))
    assert not fits_a_page(with_answer(file, citations=(cited,), text=text))
    assert fits_a_page(with_answer(file, citations=(cited,), text="年假五天。[1]"))


def test_sentences_that_are_looked_for_in_a_text_too_long_do_not() -> None:
    claims = (ClaimCheck(sentence="年假十天。", markers=(1,), verdict="supported"),) * 1_000
    assert not fits_a_page(with_answer(a_file(), text="字" * (MOST_SOUGHT // 1_000 + 1), claims=claims))
    assert fits_a_page(with_answer(a_file(), text="字" * 1_000, claims=claims))


def test_more_candidates_than_a_page_can_list_do_not() -> None:
    listed = "[" + '{"block_id":"a.v1#1","rank":1,"score":1.0},' * (MOST_PASSAGES + 1)
    span = structs.replace(a_turn(1, "p", "r"), attributes={names.CANDIDATES: listed})
    assert not fits_a_page(a_file(span))


def with_answer(file: RunFile, **changes: Any) -> RunFile:
    answer = structs.replace(file.record.answer, **changes)
    return structs.replace(file, record=structs.replace(file.record, answer=answer))
