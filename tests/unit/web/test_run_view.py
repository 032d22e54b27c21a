"""A run as its page shows it."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from api.routes.languages import Lang
from api.web import frame
from api.web.run_budget import admission, budget
from api.web.run_spans import SCALE, rows
from api.web.run_view import Mark, RunView, run_view
from api.web.words import WORDS
from shared.telemetry import names
from shared.types.runfiles import RunFile
from shared.types.runs import ClaimCheck, Limits
from shared.types.traces import SpanEvent, SpanNode, Trace
from tests.unit.web.factories import (
    QUERY,
    a_citation,
    a_file,
    a_prompt,
    a_run,
    a_span,
    an_admission,
    an_event,
    candidates,
    sha256,
)

FIRST = a_prompt(("system", "规则"), ("user", "问题：住宿费标准是多少？"))
SECOND = a_prompt(("system", "规则"), ("user", "问题：住宿费标准是多少？"), ("assistant", "查"), ("user", "结果"))
REPLY, FINISH, PAYLOAD = "Action: search_blocks[…]", "Action: Finish[…]", '{"blocks":[{"text":"每人每天 300 元"}]}'


def a_search(**changes: Any) -> SpanNode:
    return a_span(
        names.SEARCH,
        a_span(names.SEARCH_DENSE, candidates=candidates("a.v1#1", "a.v1#2")),
        a_span(names.SEARCH_KEYWORD, candidates=candidates("a.v1#2", "b.v1#0"), keyword_terms=3),
        a_span(
            names.SEARCH_FUSION,
            candidates=candidates("a.v1#2", "a.v1#1", "b.v1#0", dense_rank=(2, 1, None), keyword_rank=(1, None, 2)),
            keyword_share=0.5,
        ),
        top_k=2,
        retrieval_profile="hybrid-scores-v2",
        **changes,
    )


def whole_run() -> RunFile:
    first = a_span(
        names.TURN,
        a_span(
            "chat scripted", at_ms=1, artifacts={"prompt": FIRST, "reply": REPLY}, input_tokens=900, output_tokens=20
        ),
        a_span(
            "execute_tool search_blocks",
            a_search(),
            at_ms=20,
            tool_name="search_blocks",
            tool_arguments=QUERY,
            result_blocks=2,
            artifacts={"payload": PAYLOAD},
        ),
        ms=50,
        turn_number=1,
        events=[an_event(names.DECISION, 19, tool="search_blocks", arguments=QUERY), an_admission(31, tokens=400)],
    )
    second = a_span(
        names.TURN,
        a_span("chat scripted", at_ms=51, artifacts={"prompt": SECOND, "reply": FINISH}, input_tokens=1_300),
        at_ms=50,
        ms=50,
        turn_number=2,
    )
    record = a_run(read=["a.v1#2", "a.v1#1"], cited=[a_citation("a.v1#2")])
    root = a_span(names.RUN, first, second, ms=100, trace_level="full")
    return a_file(record, root, contents=[FIRST, SECOND, REPLY, FINISH, PAYLOAD])


def test_a_turn_tells_what_was_asked_decided_called_and_let_in() -> None:
    first, second = run_view(whole_run()).turns
    assert (first.decision, second.decision) == ("tool", "answer")
    assert first.asks[0].reply.text == REPLY
    (call,) = first.calls
    assert call.admission is not None
    assert (call.tool, call.arguments, call.blocks) == ("search_blocks", QUERY, 2)
    assert (call.admission.admitted, call.admission.tokens, call.admission.room) == (True, 400, 5_000)
    assert [one.fate for one in first.asks[0].messages] == ["first", "first"]
    assert [one.fate for one in second.asks[0].messages] == ["same", "same", "added", "added"]


@pytest.mark.parametrize(("at_least", "said"), [(True, "≥ 9,000"), (False, " 9,000 ")])
def test_a_result_refused_by_its_bytes_is_told_as_at_least_that_large(at_least: bool, said: str) -> None:
    refusal = an_event(
        names.ADMISSION, 31, tokens=9_000, used=1_000, limit=8_000, reserve=2_000, admitted=False, at_least=at_least
    )
    call = a_span("execute_tool list_blocks", at_ms=20, tool_name="list_blocks")
    turn = a_span(names.TURN, call, ms=50, turn_number=1, events=[refusal])
    page = shown(run_view(a_file(a_run(), a_span(names.RUN, turn, ms=100))), "zh")
    assert ("≥ 9,000" in page, said in page) == (at_least, True)


def test_a_search_has_both_lists_and_what_became_of_each_block() -> None:
    (search,) = run_view(whole_run()).turns[0].calls[0].searches
    assert [one.block_id for one in search.dense] == ["a.v1#1", "a.v1#2"]
    assert [one.block_id for one in search.keyword] == ["a.v1#2", "b.v1#0"]
    best, second, third = search.found
    assert (best.block_id, best.dense_rank, best.dense_score, best.keyword_rank, best.keyword_score) == (
        "a.v1#2", 2, 0.5, 1, 1.0,
    )  # fmt: skip
    assert (second.keyword_rank, second.keyword_score) == (None, None)
    assert [best.returned, second.returned, third.returned] == [True, True, False]
    assert search.keyword_share == 0.5


def test_the_last_order_is_that_of_the_last_step() -> None:
    order = candidates("b.v1#0", "a.v1#2", "a.v1#1", before=(3, 1, 2), rerank_score=(9, 8, 7))
    search = a_search()
    search = structs.replace(search, children=(*search.children, a_span(names.SEARCH_RERANK, candidates=order)))
    root = a_span(names.TURN, a_span("execute_tool search_blocks", search))
    found = run_view(a_file(a_run(), root)).turns[0].calls[0].searches[0].found
    assert [(one.block_id, one.rerank_rank, one.rerank_score, one.returned) for one in found] == [
        ("a.v1#2", 2, 8.0, True),
        ("a.v1#1", 3, 7.0, False),
        ("b.v1#0", 1, 9.0, True),
    ]


def test_every_block_has_its_way_from_the_search_to_the_answer() -> None:
    cited, read, candidate = run_view(whole_run()).blocks
    assert (cited.block_id, cited.came, cited.dense, cited.keyword, cited.fused, cited.markers) == (
        "a.v1#2", "cited", 2, 1, 1, (1,),
    )  # fmt: skip
    assert (read.block_id, read.came, read.turn) == ("a.v1#1", "read", 1)
    assert (candidate.block_id, candidate.came, candidate.returned) == ("b.v1#0", "candidate", False)


def test_the_budget_of_a_turn_adds_up_to_the_limit() -> None:
    first, second = run_view(whole_run()).turns
    assert first.budget is not None
    assert second.budget is not None
    assert {one.part: one.tokens for one in first.budget.segments} == {
        "used": 1_000,
        "added": 400,
        "left": 4_600,
        "reserve": 2_000,
    }
    assert (first.budget.spent, second.budget.spent) == (920, 2_220)
    assert (first.budget.calls, second.budget.calls) == (1, 1)


def test_the_budget_of_a_turn_shows_the_reserve_that_decided() -> None:
    """More than the configured one where a provider counts more than we."""
    admitted = an_event(names.ADMISSION, 31, tokens=400, used=1_000, limit=6_000, reserve=3_400, admitted=True)
    told = budget(1_000, [admission(admitted)], Limits(), spent=0, calls=1)
    assert told.limit == 6_000
    assert {one.part: one.tokens for one in told.segments} == {
        "used": 1_000,
        "added": 400,
        "left": 1_200,
        "reserve": 3_400,
    }


def test_at_level_metadata_the_page_knows_what_was_not_kept() -> None:
    file = structs.replace(whole_run(), contents={})
    (root,) = file.trace.spans
    root = structs.replace(root, attributes={**root.attributes, names.TRACE_LEVEL: "metadata"})
    view = run_view(structs.replace(file, trace=structs.replace(file.trace, spans=(root,))))
    assert (view.kept.level, view.kept.contents, view.kept.missing) == ("metadata", 5, 5)
    ask = view.turns[0].asks[0]
    assert (ask.messages, ask.prompt.text, ask.prompt.sha256) == ((), None, sha256(FIRST))


def test_a_mark_has_the_verdict_of_its_own_sentence() -> None:
    citation = a_citation("a.v1#2", verdict="unsupported")
    right = ClaimCheck(sentence="每天 300 元。", markers=(1,), verdict="supported")
    wrong = ClaimCheck(sentence="餐费另计。", markers=(1,), verdict="unsupported")
    record = a_run(cited=[citation], text="每天 300 元。[1]餐费另计。[1] 见 [7]", claims=(right, wrong))
    text = run_view(a_file(record)).text
    assert [one.verdict if isinstance(one, Mark) else one for one in text] == [
        "每天 300 元。", "supported", "餐费另计。", "unsupported", " 见 [7]",
    ]  # fmt: skip


def test_turns_within_turns_show_a_call_of_the_model_once() -> None:
    """Only a file that was made up has them; a hundred of them would show it a hundred times."""
    turn = a_span(names.TURN, a_span("chat m", artifacts={"prompt": FIRST}), turn_number=9)
    for number in range(9):
        turn = a_span(names.TURN, turn, turn_number=number)
    told = run_view(a_file(a_run(), turn, contents=[FIRST])).turns
    assert [len(one.asks) for one in told] == [0] * 9 + [1]


def test_a_reply_in_a_conversation_beside_the_runs_own_is_compared_with_none_of_it() -> None:
    aside = a_prompt(("user", "改写这个问题"))
    spans = [
        a_span(names.TURN, a_span("chat m", artifacts={"prompt": one}), turn_number=n, at_ms=n, turn_purpose=purpose)
        for n, (one, purpose) in enumerate(((FIRST, ""), (aside, "rewrite"), (SECOND, "")), 1)
    ]
    turns = run_view(a_file(a_run(), *spans, contents=[FIRST, SECOND, aside])).turns
    assert [[one.fate for one in turn.asks[0].messages] for turn in turns] == [
        ["first", "first"],
        ["first"],
        ["same", "same", "added", "added"],
    ]


KEYS = [
    *(value for key, value in vars(names).items() if key.isupper() and isinstance(value, str)),
    *(f"citebound.artifact.{one}.{end}" for one in ("prompt", "reply", "payload") for end in ("sha256", "bytes")),
]
TEXTS = st.sampled_from(
    ["", "[", "[{}]", "{}", FIRST, '[{"role":1}]', candidates("a.v1#1"), "null", "第一轮", "[1]", "x" * 64]
)
VALUES = TEXTS | st.booleans() | st.integers(-(2**63), 2**63) | st.floats() | st.lists(TEXTS, max_size=2)
ATTRIBUTES: st.SearchStrategy[dict[str, Any]] = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=6)
TIMES = st.integers(-5, 20).map(lambda n: n * 10**6)
EVENTS = st.lists(st.builds(SpanEvent, name=st.sampled_from(KEYS), at_ns=TIMES, attributes=ATTRIBUTES), max_size=2)
NAMES = st.sampled_from([*KEYS, "chat m", "execute_tool x", "import stage parse", "", "别的"])


def spans(children: st.SearchStrategy[list[SpanNode]]) -> st.SearchStrategy[SpanNode]:
    return st.builds(
        SpanNode,
        trace_id=st.just("1" * 32),
        span_id=st.just("2" * 16),
        parent_id=st.none(),
        name=NAMES,
        start_ns=TIMES,
        end_ns=TIMES,
        status=st.sampled_from(("unset", "ok", "error")),
        status_message=st.none() | TEXTS,
        attributes=ATTRIBUTES,
        events=EVENTS.map(tuple),
        children=children.map(tuple),
    )


SPANS = st.recursive(spans(st.just(list[SpanNode]())), lambda inner: spans(st.lists(inner, max_size=3)), max_leaves=6)
RECORDS = st.sampled_from(
    [
        a_run(),
        a_run(manifest=None, status="failed", text="", calls=0),
        a_run(read=["a.v1#1"], cited=[a_citation("a.v1#1"), a_citation("a.v1#1", marker=2, verdict="unchecked")]),
    ]
)
FILES = st.builds(
    RunFile,
    format=st.just("citebound-run-1"),
    app_version=TEXTS,
    record=RECORDS,
    trace=st.builds(
        Trace,
        partial=st.booleans(),
        lost_spans=st.integers(0, 3),
        lost_artifacts=st.integers(0, 3),
        spans=st.lists(SPANS, max_size=2).map(tuple),
    ),
    contents=st.dictionaries(TEXTS, TEXTS, max_size=4),
)


@given(file=FILES, lang=st.sampled_from(("zh", "en")), here=st.booleans())
@settings(max_examples=60, deadline=None)  # the first compiles the templates
def test_any_file_of_a_run_can_be_shown(file: RunFile, lang: Lang, here: bool) -> None:
    assert 'id="left-turns"' in shown(run_view(file, prefix="left", here=here), lang)


def shown(view: RunView, lang: Lang) -> str:
    page = vars(frame)["_templates"].from_string(
        "{% import 'run_parts.html.j2' as run %}{{ run.happened(words, view) }}{{ run.kept(words, view) }}{{ run.whole(words, view) }}"
    )
    return page.render(words=WORDS[lang], view=view)


@given(roots=st.lists(SPANS, max_size=3))
@settings(max_examples=40)
def test_every_bar_stays_within_the_course(roots: list[SpanNode]) -> None:
    for row in rows(roots):
        assert row.start >= 0
        assert row.width > 0
        assert row.start + row.width <= SCALE
