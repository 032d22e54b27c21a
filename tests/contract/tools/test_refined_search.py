"""search_blocks with a reranker and with a preference: order, failures, cost, trace."""

import json
from collections.abc import Generator
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan

from shared.access import Access
from shared.rerank.fake import FakeReranker
from shared.rerank.http import HttpReranker
from shared.settings import RerankSettings
from shared.telemetry import names
from tests.contract.tools.corpus import CORPUS, EXPENSES, LEAVE
from tests.contract.tools.world import World, attributes, recorded_spans
from tests.doubles.provider import Fault, Provider, Scores, provider_double
from tests.factories import NOW_MS, a_document
from tests.promises import promise

DAY_MS = 86_400_000
QUERY = {"query": "年假可以跨年累计吗"}


@pytest.fixture
def provider() -> Generator[Provider]:
    with provider_double() as provider:
        yield provider


@pytest.fixture
def reranked(world: World, provider: Provider) -> World:
    """A world whose reranker is a provider on loopback."""
    world.publish(*CORPUS)
    settings = RerankSettings(base_url=provider.base_url, model="bge-reranker-v2-m3", depth=4)
    world.open_reranker = lambda: HttpReranker(settings)
    return world


def by_name(spans: list[ReadableSpan]) -> dict[str, dict[str, Any]]:
    return {span.name: attributes(span) for span in spans}


def candidates(span: dict[str, Any]) -> list[dict[str, Any]]:
    return json.loads(span[names.CANDIDATES])


def test_a_reranker_decides_about_its_depth_and_the_rest_follows_in_the_old_order(
    reranked: World, provider: Provider
) -> None:
    with recorded_spans() as spans:
        provider.script_rerank(Scores(given=(0.1, 0.9, -3.0, 0.5)))
        called = reranked.call("search_blocks", QUERY)

    span = by_name(spans)
    fused = [one["block_id"] for one in candidates(span[names.SEARCH_FUSION])]
    assert called.block_ids() == [fused[1], fused[3], fused[0], fused[2], fused[4]]
    assert span[names.SEARCH][names.RETRIEVAL_PROFILE] == "hybrid-scores-v2+rerank:bge-reranker-v2-m3@4"
    assert [(one["before"], one.get("rerank_score")) for one in candidates(span[names.SEARCH_RERANK])[:5]] == [
        (2, 0.9),
        (4, 0.5),
        (1, 0.1),
        (3, -3.0),
        (5, None),
    ]
    (request,) = provider.requests
    assert len(request.body["documents"]) == 4
    assert all(text.startswith((LEAVE.title, EXPENSES.title)) or "›" in text for text in request.body["documents"][:1])


def test_rerank_tokens_are_counted_apart_from_embedding_tokens(reranked: World) -> None:
    with recorded_spans() as spans:
        result = reranked.call("search_blocks", QUERY).result
    span = by_name(spans)
    assert 0 < result.embedding_tokens < result.rerank_tokens
    assert span[names.SEARCH_RERANK][names.RERANK_TOKENS] == result.rerank_tokens
    assert span["execute_tool search_blocks"][names.RERANK_TOKENS] == result.rerank_tokens
    assert span["execute_tool search_blocks"][names.EMBEDDING_TOKENS] == result.embedding_tokens


@promise("P8")
@pytest.mark.parametrize("fault", [Fault(status=500), Scores(wrong="half"), Scores(wrong="repeated_index")])
def test_a_search_whose_reranker_fails_twice_is_not_answered_in_the_old_order(
    reranked: World, provider: Provider, fault: Any
) -> None:
    provider.script_rerank(fault, fault)
    with recorded_spans() as spans:
        called = reranked.call("search_blocks", QUERY)
    assert called.error["code"] == "upstream_unavailable"
    assert called.error["retryable"] is True
    assert called.result.seen == ()
    assert called.result.embedding_tokens > 0
    assert [span.status.is_ok for span in spans if span.name == names.SEARCH_RERANK] == [False, False]


@promise("P8")
def test_a_reranker_that_fails_once_is_asked_again_and_one_that_refuses_is_not(
    reranked: World, provider: Provider
) -> None:
    provider.script_rerank(Fault(status=503))
    assert reranked.call("search_blocks", QUERY).result.error_code is None
    assert (len(provider.requests), reranked.pauses) == (2, [0.2])

    provider.script_rerank(Fault(status=401))
    assert reranked.call("search_blocks", QUERY).error["retryable"] is False
    assert (len(provider.requests), reranked.pauses) == (3, [0.2])


def test_nothing_is_sent_when_there_is_nothing_to_rank(reranked: World, provider: Provider) -> None:
    access = Access(labels=frozenset())
    reranked.call("scan_term", {"term": "年假"}, access=access)
    reranked.call("list_documents", {}, access=access)
    assert provider.requests == []


def test_a_reranker_reads_only_what_the_caller_may_read(world: World) -> None:
    published = world.publish(*CORPUS)
    reranker = FakeReranker(depth=100)
    world.open_reranker = lambda: reranker
    access = Access(labels=frozenset[str]())
    visible = {one.doc_id for one in published.documents if not one.access}
    assert len(visible) < len(published.documents)

    called = world.call("search_blocks", {"query": "海燕 年假 economy"}, access=access)

    hidden = [block.text for block in published.blocks() if block.doc_id not in visible]
    ((_, texts),) = reranker.asked
    assert not any(secret in text for text in texts for secret in hidden)
    assert {block["doc_id"] for block in called.payload["blocks"]} <= visible


OLD = a_document("制度2021.md", "年假可以跨年累计，最多五天。", updated_at_ms=NOW_MS - 900 * DAY_MS, source="旧")
NEW = a_document("制度2024.md", "年假可以跨年累计，最多三天。", updated_at_ms=NOW_MS, source="新")


def test_newer_documents_are_preferred_when_the_caller_says_so_and_only_then(world: World) -> None:
    published = world.publish(OLD, NEW)
    old, new = (published.doc_id(one.key) for one in (OLD, NEW))
    plain = world.call("search_blocks", QUERY)
    first = plain.payload["blocks"][0]["doc_id"]
    with recorded_spans() as spans:
        newer = world.call("search_blocks", QUERY, prefer="newer")

    assert [block["doc_id"] for block in newer.payload["blocks"]] == [new, old]
    assert {block["doc_id"] for block in plain.payload["blocks"]} == {new, old}
    span = by_name(spans)
    assert span[names.SEARCH][names.RETRIEVAL_PROFILE] == "hybrid-scores-v2+newer-v1"
    assert span[names.SEARCH_PREFERENCE][names.PREFERENCE] == "newer"
    (told, _) = candidates(span[names.SEARCH_PREFERENCE])
    assert (told["updated_at_ms"], told["before"]) == (NOW_MS, 1 if first == new else 2)


def test_more_trusted_documents_are_preferred_when_the_caller_says_so(world: World) -> None:
    web = a_document("a.md", "年假可以跨年累计，最多五天。", trust="web", source="网")
    official = a_document("b.md", "年假可以跨年累计，最多三天。", trust="official", source="官")
    published = world.publish(web, official)

    called = world.call("search_blocks", QUERY, prefer="trusted")

    assert called.payload["blocks"][0]["doc_id"] == published.doc_id("b.md")


def test_without_a_preference_nothing_is_preferred(world: World) -> None:
    world.publish(OLD, NEW)
    with recorded_spans() as spans:
        world.call("search_blocks", QUERY)
    assert names.SEARCH_PREFERENCE not in by_name(spans)
