"""What holds for every tool: errors as payloads, one retry, spans."""

import json
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from shared.errors import UpstreamError
from shared.telemetry import names
from tests.contract.tools.corpus import CORPUS, EXPENSES, LEAVE
from tests.contract.tools.world import Watched, World, attributes, recorded_spans
from tests.promises import promise

BUSY = UpstreamError("provider_rate_limited", "The embedding provider is busy.", retry_after_s=3.0)
BROKEN = UpstreamError("provider_timeout", "The embedding provider did not answer in time.")


@promise("P5")
def test_empty_wrong_and_broken_are_three_different_answers(world: World) -> None:
    world.publish(*CORPUS)
    empty = world.call("scan_term", {"term": "没有这几个字"})
    wrong = world.call("scan_term", {"term": "  "})
    world.embedder.faults = [BROKEN, BROKEN]
    broken = world.call("search_blocks", {"query": "年假"})

    assert (empty.result.error_code, empty.payload["empty_reason"]) == (None, "no_match")
    assert (wrong.error["code"], wrong.error["field"]) == ("invalid_argument", "term")
    assert (broken.error["code"], broken.error["retryable"]) == ("upstream_unavailable", True)
    assert [one.result.retryable for one in (empty, wrong, broken)] == [False, False, True]


def test_an_unknown_tool_is_an_invalid_argument_that_names_the_five(world: World) -> None:
    world.publish(LEAVE)

    called = world.call("delete_everything", {})

    assert (called.error["code"], called.error["field"]) == ("invalid_argument", "tool")
    assert "scan_term" in called.error["message"]


@pytest.mark.parametrize("arguments", [{"query": "\ud800"}, {"query": "年假", "doc_ids": ["\udfff"]}])
def test_half_a_character_is_refused_as_an_argument(world: World, arguments: dict[str, Any]) -> None:
    world.publish(LEAVE)

    assert world.call("search_blocks", arguments).error["code"] == "invalid_argument"


def test_a_term_with_a_zero_byte_is_scanned_like_any_other(world: World) -> None:
    world.publish(LEAVE)

    assert world.call("scan_term", {"term": "年假\0"}).payload["empty_reason"] == "no_match"


def test_the_payload_is_canonical(world: World) -> None:
    world.publish(*CORPUS)

    first, second = world.call("scan_term", {"term": "年假"}), world.call("scan_term", {"term": "年假"})

    assert first.result == second.result
    assert first.result.payload == msgspec.json.encode(first.payload)


def test_a_transient_fault_is_tried_once_more_after_the_time_the_provider_asks_for(world: World) -> None:
    world.publish(*CORPUS)
    world.embedder.faults = [BUSY]

    called = world.call("search_blocks", {"query": "年假"})

    assert called.result.error_code is None
    assert called.payload["blocks"]
    assert world.pauses == [3.0]


def test_a_second_transient_fault_is_the_answer(world: World) -> None:
    world.publish(*CORPUS)
    world.embedder.faults = [BROKEN, BUSY, BROKEN]

    called = world.call("search_blocks", {"query": "年假"})

    assert called.error == {"code": "upstream_unavailable", "message": BUSY.message, "retryable": True}
    assert len(world.embedder.faults) == 1


@pytest.mark.parametrize(
    "fault",
    [
        UpstreamError("provider_auth", "The key was refused."),
        UpstreamError("provider_quota", "The quota is used up."),
        UpstreamError("provider_rate_limited", "Come back in an hour.", retry_after_s=3600),
    ],
    ids=lambda fault: fault.code,
)
def test_a_fault_that_another_try_cannot_mend_is_not_tried_again(world: World, fault: UpstreamError) -> None:
    world.publish(*CORPUS)
    world.embedder.faults = [fault]

    called = world.call("search_blocks", {"query": "年假"})

    assert (called.error["code"], called.result.retryable) == ("upstream_unavailable", fault.retryable)
    assert world.pauses == []


def test_a_business_error_is_never_tried_again(world: World) -> None:
    world.publish(*CORPUS)

    with recorded_spans() as spans:
        world.call("list_blocks", {"doc_id": "zzzzzzzz"})

    assert [attributes(span)[names.ERROR_TYPE] for span in spans] == ["scope_not_found"]
    assert spans[0].status.is_unset


def test_a_bug_in_a_tool_ends_the_call_and_not_the_run(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.publish(*CORPUS)
    world.embedder.faults = [ZeroDivisionError("secret detail")]  # type: ignore[list-item]

    with recorded_spans() as spans:
        called = world.call("search_blocks", {"query": "年假"})

    assert called.error["code"] == "tool_internal_error"
    assert "secret detail" not in called.result.payload.decode()
    (record,) = [record for record in caplog.records if record.name == "api.tools.toolbox"]
    assert record.exc_info is not None
    assert record.exc_info[0] is ZeroDivisionError
    assert record.getMessage().rpartition(" ")[2] in called.error["message"]
    assert attributes(spans[-1])[names.ERROR_TYPE] == "ZeroDivisionError"
    assert [event.name for event in spans[-1].events] == ["exception"]


@pytest.mark.parametrize("failures", [1, 2])
def test_an_embedding_that_a_failed_search_bought_is_paid_for(world: World, failures: int) -> None:
    world.publish(*CORPUS)
    once = world.call("search_blocks", {"query": "年假"}).result.embedding_tokens
    Watched(world).faults = [UpstreamError("upstream_unavailable", "The engine is away.")] * failures

    with recorded_spans() as spans:
        called = world.call("search_blocks", {"query": "年假"})

    assert called.result.error_code == (None if failures == 1 else "upstream_unavailable")
    assert called.result.embedding_tokens == 2 * once
    attempts = [attributes(span) for span in spans if span.name == "execute_tool search_blocks"]
    assert [one[names.EMBEDDING_TOKENS] for one in attempts] == [once, once]


@promise("P10")
def test_a_search_leaves_its_candidates_ranks_scores_filter_and_steps(world: World) -> None:
    published = world.publish(*CORPUS)
    scope = sorted([published.doc_id(LEAVE.key), published.doc_id(EXPENSES.key)])

    with recorded_spans() as spans:
        called = world.call("search_blocks", {"query": "年假 economy"}, scope=scope)

    by_name = {span.name: attributes(span) for span in spans}
    assert set(by_name) == {
        "execute_tool search_blocks",
        names.SEARCH,
        names.SEARCH_EMBED,
        names.SEARCH_DENSE,
        names.SEARCH_KEYWORD,
        names.SEARCH_FUSION,
    }
    search, tool = by_name[names.SEARCH], by_name["execute_tool search_blocks"]
    assert json.loads(search[names.FILTER]) == {"doc_ids": scope, "access": None, "without": []}
    assert search[names.RETRIEVAL_PROFILE] == "hybrid-scores-v2"
    assert search[names.EMBEDDING_VERSION] == world.embedder.version
    assert by_name[names.SEARCH_KEYWORD][names.KEYWORD_TERMS] > 0
    dense, keyword, fused = (
        json.loads(by_name[name][names.CANDIDATES])
        for name in (names.SEARCH_DENSE, names.SEARCH_KEYWORD, names.SEARCH_FUSION)
    )
    assert [one["rank"] for one in dense] == list(range(1, 9))
    assert all(first["score"] >= second["score"] for first, second in pairwise(dense))
    assert [one["block_id"] for one in fused[:5]] == called.block_ids()
    for one in fused:
        ranks = [
            next((c["rank"] for c in branch if c["block_id"] == one["block_id"]), None) for branch in (dense, keyword)
        ]
        assert [one["dense_rank"], one["keyword_rank"]] == ranks
    share: float = by_name[names.SEARCH_FUSION][names.KEYWORD_SHARE]
    assert 0 < share <= 1
    by_dense, by_keyword = _from_0_to_1(dense), _from_0_to_1(keyword)
    best: dict[str, Any] = fused[0]
    by_meaning, by_word = by_dense[int(best["dense_rank"]) - 1], by_keyword[int(best["keyword_rank"]) - 1]
    expected = 0.5 * by_meaning + 0.5 * share * by_word
    assert best["score"] == pytest.approx(expected)
    assert tool[names.RESULT_BLOCKS] == 5
    assert tool[names.EMBEDDING_TOKENS] == called.result.embedding_tokens
    assert tool[names.TOOL_ARGUMENTS] == '{"query":"年假 economy"}'


def _from_0_to_1(candidates: list[dict[str, Any]]) -> list[float]:
    scores: list[float] = [one["score"] for one in candidates]
    return [(score - scores[-1]) / (scores[0] - scores[-1]) for score in scores]


@promise("P8")
def test_a_query_without_words_says_in_its_trace_that_only_one_branch_had_something_to_look_for(world: World) -> None:
    world.publish(*CORPUS)

    with recorded_spans() as spans:
        world.call("search_blocks", {"query": "？！"})

    [keyword] = [attributes(span) for span in spans if span.name == names.SEARCH_KEYWORD]
    assert (keyword[names.KEYWORD_TERMS], keyword[names.CANDIDATES]) == (0, "[]")


@promise("P10")
def test_both_attempts_are_in_the_trace(world: World) -> None:
    world.publish(*CORPUS)
    world.embedder.faults = [BROKEN]

    with recorded_spans() as spans:
        world.call("search_blocks", {"query": "年假"})

    first, second = [span for span in spans if span.name == "execute_tool search_blocks"]
    assert [attributes(span)[names.ATTEMPT] for span in (first, second)] == [1, 2]
    assert attributes(first)[names.ERROR_TYPE] == "provider_timeout"
    assert [(event.name, dict(event.attributes or {})["code"]) for event in first.events] == [
        (names.RETRY, "provider_timeout")
    ]
    assert names.ERROR_TYPE not in attributes(second)
