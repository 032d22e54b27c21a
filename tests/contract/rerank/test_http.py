"""The rerank adapter against a provider that answers in several shapes and fails as real ones do."""

import asyncio
from collections.abc import Generator
from typing import Any

import pytest

from shared.errors import SettingsError, UpstreamError
from shared.rerank.fake import FakeReranker
from shared.rerank.http import HttpReranker
from shared.rerank.open import open_reranker
from shared.rerank.port import Reranked
from shared.settings import RerankSettings
from tests.doubles.provider import Fault, Hang, Provider, Raw, Reset, Scores, provider_double

QUERY = "膜元件多久更换一次"
TEXTS = ["泵房巡检每四小时一次", "payment is due in 30 days", "膜元件每两年更换一次"]


@pytest.fixture
def provider() -> Generator[Provider]:
    with provider_double() as provider:
        yield provider


def ask(provider: Provider, texts: list[str] = TEXTS, **settings: Any) -> Reranked:
    async def once() -> Reranked:
        values: dict[str, Any] = {
            "base_url": provider.base_url,
            "api_key": "sk-secret",
            "model": "bge-reranker-v2-m3",
            **settings,
        }
        reranker = HttpReranker(RerankSettings(**values))
        try:
            return await reranker.rerank(QUERY, texts)
        finally:
            await reranker.close()

    return asyncio.run(once())


def failing(provider: Provider, **settings: Any) -> UpstreamError:
    with pytest.raises(UpstreamError) as caught:
        ask(provider, **settings)
    return caught.value


def test_without_an_address_nothing_is_reranked() -> None:
    assert open_reranker(RerankSettings()) is None


def test_the_fake_and_the_adapter_agree(provider: Provider) -> None:
    faked = asyncio.run(FakeReranker().rerank(QUERY, TEXTS))
    assert ask(provider) == faked
    assert max(faked.scores) == faked.scores[2]


def test_the_request_asks_for_a_score_of_every_text(provider: Provider) -> None:
    ask(provider)
    (request,) = provider.requests
    assert request.path == "/v1/rerank"
    assert request.body == {"model": "bge-reranker-v2-m3", "query": QUERY, "documents": TEXTS, "top_n": 3}
    assert request.headers["authorization"] == "Bearer sk-secret"


def test_dashscope_is_asked_at_its_own_path() -> None:
    dashscope, jina = (
        HttpReranker(RerankSettings(base_url=base_url, model="m"))
        for base_url in ("https://dashscope.aliyuncs.com/compatible-api/v1", "https://api.jina.ai/v1/")
    )
    assert [dashscope.url, jina.url] == [
        "https://dashscope.aliyuncs.com/compatible-api/v1/reranks",
        "https://api.jina.ai/v1/rerank",
    ]


def test_text_embeddings_inference_is_asked_in_its_own_words(provider: Provider) -> None:
    provider.script_rerank(Scores(shape="tei", given=(0.1, 0.2, 0.9)))
    assert ask(provider, api="tei").scores == (0.1, 0.2, 0.9)
    assert provider.requests[0].body == {"query": QUERY, "texts": TEXTS, "truncate": True}


@pytest.mark.parametrize("shape", ["jina", "cohere", "siliconflow", "voyage"])
def test_every_shape_comes_back_in_the_order_of_the_texts_with_its_tokens(provider: Provider, shape: Any) -> None:
    provider.script_rerank(Scores(shape=shape, given=(-3.5, 0.0, 7.25)))
    tokens = 3 * len(QUERY) + sum(map(len, TEXTS))
    assert ask(provider) == Reranked(scores=(-3.5, 0.0, 7.25), tokens=tokens)


def test_tokens_are_estimated_when_the_provider_tells_none(provider: Provider) -> None:
    provider.script_rerank(Scores(wrong="no_usage"))
    told = ask(provider)
    assert told.estimated
    assert told.tokens > len(TEXTS)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("half", "expected 3 scores, got 1"),
        ("repeated_index", "came twice"),
        ("index_beyond", "index 3 names no text"),
        ("no_score", "no finite number"),
    ],
)
def test_a_reply_without_exactly_one_score_for_each_text_is_refused_with_the_reason(
    provider: Provider, wrong: Any, said: str
) -> None:
    provider.script_rerank(Scores(wrong=wrong))
    error = failing(provider)
    assert (error.code, error.retryable) == ("provider_bad_reply", True)
    assert said in error.message
    assert "CITEBOUND_RERANK_BASE_URL" in error.message


@pytest.mark.parametrize(
    "body",
    [
        "<html>登录</html>",
        '{"results": [',
        "{}",
        "[1, 2, 3]",
        '{"results": [{"index": 0, "relevance_score": NaN}]}',
        '{"results": [{"index": 0, "relevance_score": 1e999}]}',
        '{"results": [{"index": 0, "relevance_score": "0.5"}]}',
        '{"results": [{"index": -1, "relevance_score": 0.5}]}',
        '{"results": [{"index": 0.5, "relevance_score": 0.5}]}',
        '{"results": [{"index": true, "relevance_score": 0.5}]}',
        '{"results": [{"relevance_score": 0.5}]}',
    ],
)
def test_what_is_no_score_is_a_bad_reply(provider: Provider, body: str) -> None:
    provider.script_rerank(Raw(pieces=(body,), content_type="application/json"))
    assert failing(provider, texts=["x"]).code == "provider_bad_reply"


def test_a_body_that_goes_on_and_on_is_left_when_no_scores_can_be_so_large(provider: Provider) -> None:
    provider.script_rerank(Raw(pieces=("{",), again=" " * 100_000, content_type="application/json"))
    error = failing(provider)
    assert error.code == "provider_bad_reply"
    assert "MB came" in error.message
    assert provider.wait(lambda one: one.gone == 1)


@pytest.mark.parametrize(
    ("fault", "code", "retryable"),
    [
        (Fault(status=401), "provider_auth", False),
        (Fault(status=402), "provider_quota", False),
        (Fault(status=404), "provider_bad_request", False),
        (Fault(status=429, headers={"retry-after": "3"}), "provider_rate_limited", True),
        (Fault(status=500), "upstream_unavailable", True),
        (Fault(status=503), "provider_overloaded", True),
        (Reset(), "provider_interrupted", True),
    ],
)
def test_a_fault_is_one_attempt_and_says_whether_another_can_help(
    provider: Provider, fault: Any, code: str, retryable: bool
) -> None:
    provider.script_rerank(fault)
    error = failing(provider)
    assert (error.code, error.retryable, len(provider.requests)) == (code, retryable, 1)
    assert error.retry_after_s == (3 if code == "provider_rate_limited" else None)
    assert "sk-secret" not in error.message


def test_a_provider_that_hangs_is_given_up(provider: Provider) -> None:
    provider.script_rerank(Hang())
    assert failing(provider, timeout_s=1).code == "provider_timeout"
    assert provider.wait(lambda one: one.gone == 1)


def test_nobody_there_is_said(provider: Provider) -> None:
    error = failing(provider, base_url="http://127.0.0.1:9/v1")
    assert error.code == "upstream_unavailable"
    assert error.message.startswith("The reranker at 127.0.0.1:9 ")


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"base_url": "ftp://x", "model": "m"}, "base_url"),
        ({"base_url": "http://x", "model": None}, "rerank.base_url"),
        ({"base_url": "http://x", "model": "m", "api_key": "a b\n"}, "api_key"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings: dict[str, Any], field: str) -> None:
    with pytest.raises(SettingsError) as caught:
        HttpReranker(RerankSettings(**settings))
    assert caught.value.field == field
