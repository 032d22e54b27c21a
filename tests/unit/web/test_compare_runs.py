"""Two runs beside each other, of records and traces made here."""

from typing import Any

from msgspec import structs

from api.web.compare_page import chosen
from api.web.compare_runs import AROUND, Figure, compared
from api.web.run_view import RunView, Version, run_view
from shared.ids import BlockId, SnapshotId
from shared.telemetry import names
from shared.types.runfiles import RunFile
from shared.types.runs import Limits, RunManifest, Usage
from shared.types.traces import SpanNode, Trace
from tests.unit.telemetry.factories import A_CITATION, a_record

MANIFEST = RunManifest(
    app_version="0.1.0",
    loop_version="1",
    protocol="react",
    tool_contract_version="1",
    retrieval_profile="hybrid",
    prompt_bundle="default/1",
    prompt_bundle_sha256="aa" * 32,
    model="scripted",
    embedding_version="e1",
    keyword_version="k1",
    snapshot_id=SnapshotId("snap_1"),
    snapshot_manifest_sha256="bb" * 32,
    limits=Limits(),
    access_sha256="cc" * 32,
)


def a_span(name: str, *children: SpanNode, **attributes: Any) -> SpanNode:
    return SpanNode(
        trace_id="0" * 32,
        span_id="1" * 16,
        parent_id=None,
        name=name,
        start_ns=0,
        end_ns=5,
        status="ok",
        status_message=None,
        attributes={key.replace("__", "."): value for key, value in attributes.items()},
        events=(),
        children=children,
    )


def a_turn(number: int, prompt: str, reply: str, *calls: SpanNode) -> SpanNode:
    artifacts = {"citebound__artifact__prompt__sha256": prompt, "citebound__artifact__reply__sha256": reply}
    return a_span(names.TURN, a_span(f"{names.CHAT} scripted", **artifacts), *calls, **{names.TURN_NUMBER: number})


def a_call(query: str) -> SpanNode:
    return a_span(f"{names.TOOL} search_blocks", **{names.TOOL_NAME: "search_blocks", names.TOOL_ARGUMENTS: query})


def a_view(
    *turns: SpanNode, contents: dict[str, str] | None = None, manifest: dict[str, Any] | None = None, **answer: Any
) -> RunView:
    record = a_record()
    whole = structs.replace(record.answer, manifest=structs.replace(MANIFEST, **(manifest or {})), **answer)
    trace = Trace(partial=False, lost_spans=0, lost_artifacts=0, spans=(a_span(names.RUN, *turns),))
    file = RunFile(
        format="citebound-run-1",
        app_version="0.1.0",
        record=structs.replace(record, answer=whole),
        trace=trace,
        contents=contents or {},
    )
    return run_view(file)


def test_a_run_differs_from_itself_in_nothing() -> None:
    view = a_view(a_turn(1, "p", "r"), contents={"p": '[{"role":"user","content":"问"}]', "r": "答"})
    both = compared(view, view)
    assert (both.same_question, both.same_answer, both.versions) == (True, True, ())
    assert both.same_versions > 8
    assert {one.where for one in both.cited} == {"both"}
    assert all(one.left == one.right for one in both.figures)
    prompts = both.turns[0].prompts
    assert prompts is not None
    assert (both.turns[0].differ, prompts.kept, prompts.differ, prompts.reply_differs) == (False, True, False, False)


def test_only_versions_that_differ_are_told_by_name_and_hash() -> None:
    left, right = a_view(), a_view(manifest={"model": "other", "snapshot_manifest_sha256": "dd" * 32})
    both = compared(left, right)
    assert [(one.what, one.left, one.right) for one in both.versions] == [
        ("model", Version(what="model", name="scripted"), Version(what="model", name="other")),
        *[("snapshot", *[Version(what="snapshot", name="snap_1", sha256=sha256 * 32) for sha256 in ("bb", "dd")])],
    ]


def test_of_limits_that_differ_what_differs_is_marked() -> None:
    (limits,) = compared(a_view(), a_view(manifest={"limits": Limits(max_tool_calls=3)})).versions
    assert [part.text for part in limits.name if part.kind != "same"] == ["8", "3"]


def test_citations_are_in_common_or_only_on_one_side_whatever_their_markers() -> None:
    second = structs.replace(A_CITATION, marker=2, block_id=BlockId("k3f9a2qd.v3#17"), version=3)
    third = structs.replace(A_CITATION, marker=1, block_id=BlockId("zzzzzzzz.v1#1"))
    both = compared(
        a_view(citations=(A_CITATION, second)), a_view(citations=(third, structs.replace(A_CITATION, marker=2)))
    )
    told = [(one.where, one.citation.block_id, len(one.left), len(one.right)) for one in both.cited]
    assert told == [
        ("both", A_CITATION.block_id, 1, 1),
        ("left", second.block_id, 1, 0),
        ("right", third.block_id, 0, 1),
    ]


def test_figures_that_neither_has_are_left_out() -> None:
    both = compared(a_view(usage=Usage(model_calls=1)), a_view(usage=Usage(model_calls=3)))
    assert both.figures == (
        Figure(name="took", left=250, right=250),
        Figure(name="model_calls", left=1, right=3),
        Figure(name="citations", left=1, right=1),
    )


def test_turns_stand_beside_each_other_by_their_number_and_prompts_differ_message_by_message() -> None:
    contents = {
        "p1": '[{"role":"system","content":"只引用原文"},{"role":"user","content":"年假几天"}]',
        "p2": '[{"role":"system","content":"只引用原文"},{"role":"user","content":"年假有几天"}]',
        "r": "查一下",
    }
    left = a_view(a_turn(1, "p1", "r", a_call("年假")), contents=contents)
    right = a_view(a_turn(1, "p2", "r", a_call("假期")), a_turn(2, "gone", "r"), contents=contents)
    both = compared(left, right)
    first, second = both.turns
    assert first.differ
    assert first.prompts is not None
    assert [one.fate for one in first.prompts.messages] == ["same", "changed"]
    assert not first.prompts.reply_differs
    assert (second.left, second.prompts) == (None, None)


def test_of_a_long_prompt_only_what_stands_around_a_difference_is_shown() -> None:
    contents = {
        name: f'[{{"role":"user","content":"{"甲" * 2_000}\\n{last}"}}]'
        for name, last in (("p1", "五天"), ("p2", "三天"))
    }
    both = compared(a_view(a_turn(1, "p1", ""), contents=contents), a_view(a_turn(1, "p2", ""), contents=contents))
    assert both.turns[0].prompts is not None
    (message,) = both.turns[0].prompts.messages
    assert message.chars == 2_003
    assert sum(len(part.text) for part in message.parts) < 3 * AROUND
    assert [part.text for part in message.parts if part.kind != "same"] == ["五天", "三天"]


def test_prompts_that_were_not_kept_are_not_compared() -> None:
    both = compared(a_view(a_turn(1, "p", "r")), a_view(a_turn(1, "p", "r"), contents={"p": "[]", "r": "答"}))
    assert both.turns[0].prompts is not None
    assert not both.turns[0].prompts.kept


def test_ticked_runs_stand_in_the_order_in_which_they_began() -> None:
    assert chosen([("run", "run_2"), ("run", "run_1")]) == ["run_1", "run_2"]
    assert chosen([("left", "run_2"), ("right", "run_1")]) == ["run_2", "run_1"]
    assert chosen([("run", "run_1"), ("run", "run_1")]) == ["run_1"]
    assert chosen([("run", "run_1"), ("run", ""), ("other", "run_2")]) == ["run_1"]
    assert len(chosen([("run", f"run_{n}") for n in range(3)])) == 3
