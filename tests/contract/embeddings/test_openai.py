"""The OpenAI-compatible adapter against a provider that fails as real ones do."""

import asyncio
import base64
import json
import socket
import threading
from collections.abc import Generator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.embeddings.fake import word_vectors
from shared.embeddings.openai import OpenAIEmbedder, request_spans, version_of
from shared.errors import SettingsError, UpstreamError
from shared.settings import EmbeddingSettings
from tests.doubles.provider import Fault, Hang, Provider, Raw, Reply, Reset, Rule, Vectors, provider_double

TEXTS = ["泵房巡检每四小时一次", "payment is due in 30 days", "膜元件每两年更换"]


class Setup:
    """An embedder whose pauses are recorded instead of waited for."""

    def __init__(self, provider: Provider, **settings: object) -> None:
        self.provider = provider
        self.pauses: list[float] = []
        values = {"base_url": provider.base_url, "api_key": "sk-secret", "model": "m", "dimensions": 64, **settings}
        self.embedder = OpenAIEmbedder(EmbeddingSettings(provider="openai", **values), pause=self._pause)  # type: ignore[arg-type]

    async def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)

    @property
    def bodies(self) -> list[dict[str, object]]:
        return [request.body for request in self.provider.requests]


@pytest.fixture
def provider() -> Generator[Provider]:
    with provider_double() as provider:
        yield provider


@pytest.fixture
def setup(provider: Provider) -> Generator[Setup]:
    setup = Setup(provider)
    yield setup
    setup.embedder.close()


def test_the_request_carries_key_model_dimensions_and_texts(setup: Setup) -> None:
    setup.embedder.embed_passages(TEXTS)
    (request,) = setup.provider.requests
    assert request.body == {"model": "m", "input": TEXTS, "encoding_format": "float", "dimensions": 64}
    assert request.headers["authorization"] == "Bearer sk-secret"


def test_prefixes_keep_query_and_passage_apart(provider: Provider) -> None:
    setup = Setup(provider, query_prefix="query: ", passage_prefix="passage: ")
    setup.embedder.embed_passages(["泵房"])
    asyncio.run(setup.embedder.embed_query("泵房"))
    setup.embedder.close()
    assert [body["input"] for body in setup.bodies] == [["passage: 泵房"], ["query: 泵房"]]


def test_texts_are_split_into_requests_and_come_back_in_order(provider: Provider) -> None:
    texts = [f"第{number}段 paragraph {number}" for number in range(7)]
    setup = Setup(provider, batch=7)
    setup.embedder._most_inputs = 3  # pyright: ignore[reportPrivateUsage]  # as for a provider that takes three
    embedded = setup.embedder.embed_passages(texts)
    setup.embedder.close()
    assert [len(body["input"]) for body in setup.bodies] == [3, 3, 1]  # type: ignore[arg-type]
    assert embedded.vectors == pytest.approx(word_vectors(texts, 64), abs=1e-6)
    assert (embedded.tokens, embedded.estimated) == (sum(map(len, texts)), False)
    assert provider.state().embedded_twice == {}


@pytest.mark.parametrize("wrong", ["shuffled", "no_index", "unscaled"])
def test_order_is_restored_by_index_and_length_made_one(setup: Setup, wrong: str) -> None:
    setup.provider.script_embeddings(Vectors(wrong=wrong))  # type: ignore[arg-type]
    assert setup.embedder.embed_passages(TEXTS).vectors == pytest.approx(word_vectors(TEXTS, 64), abs=1e-6)
    assert setup.pauses == []


def test_base64_is_understood_as_well(setup: Setup) -> None:
    row = base64.b64encode(word_vectors(["x"], 64).tobytes()).decode()
    reply = json.dumps({"data": [{"index": 0, "embedding": row}], "usage": {"prompt_tokens": 1, "total_tokens": 1}})
    setup.provider.script_embeddings(Raw(pieces=(reply,), content_type="application/json"))
    assert (setup.embedder.embed_passages(["x"]).vectors == word_vectors(["x"], 64)).all()


def test_tokens_are_estimated_when_the_provider_tells_none(setup: Setup) -> None:
    setup.provider.script_embeddings(Vectors(wrong="no_usage"))
    embedded = setup.embedder.embed_passages(TEXTS)
    assert embedded.estimated
    assert embedded.tokens > len(TEXTS)


@pytest.mark.parametrize("wrong", ["dimensions", "half", "zero", "repeated_index"])
def test_a_wrong_reply_is_asked_for_again_once_and_then_refused(setup: Setup, wrong: str) -> None:
    setup.provider.script_embeddings(Vectors(wrong=wrong), Vectors(wrong=wrong))  # type: ignore[arg-type]
    with pytest.raises(UpstreamError) as caught:
        setup.embedder.embed_passages(TEXTS)
    assert caught.value.code == "provider_bad_reply"
    assert "expected" in caught.value.message
    assert len(setup.bodies) == 2

    setup.provider.script_embeddings(Vectors(wrong=wrong))  # type: ignore[arg-type]
    assert setup.embedder.embed_passages(TEXTS).vectors.shape == (3, 64)


@pytest.mark.parametrize(
    "reply",
    [
        Raw(pieces=('{"data": [', "{"), content_type="application/json"),
        Raw(pieces=("<html>登录</html>",), content_type="text/html"),
        Raw(pieces=('{"data": [{"embedding": [NaN]}]}',), content_type="application/json"),
        Raw(pieces=('{"data": [{"embedding": [1e39]}]}',), content_type="application/json"),
        Raw(pieces=('{"data": [{"embedding": "!"}]}',), content_type="application/json"),
        Raw(
            pieces=('{"data": [{"embedding": "AADAfwAAwH8="}]}',), content_type="application/json"
        ),  # base64 of two NaN
    ],
)
def test_what_is_no_vector_is_a_bad_reply(provider: Provider, reply: Reply) -> None:
    setup = Setup(provider, dimensions=2 if "AADA" in str(reply) else 1)
    provider.script_embeddings(reply, reply)
    with pytest.raises(UpstreamError) as caught:
        setup.embedder.embed_passages(["x"])
    setup.embedder.close()
    assert caught.value.code == "provider_bad_reply"


def test_a_body_that_goes_on_and_on_is_left_when_no_vectors_can_be_so_large(setup: Setup) -> None:
    setup.provider.script_embeddings(*[Raw(pieces=("{",), again=" " * 500_000, content_type="application/json")] * 2)
    with pytest.raises(UpstreamError, match=r"more than 1\.8 MB came") as caught:
        setup.embedder.embed_passages(TEXTS)
    assert caught.value.code == "provider_bad_reply"
    assert setup.provider.wait(lambda provider: provider.gone == 2)


def test_a_refusal_that_goes_on_and_on_is_told_by_its_status(setup: Setup) -> None:
    setup.provider.script_embeddings(Fault(status=401, body=" " * 3_000_000))
    with pytest.raises(UpstreamError) as caught:
        setup.embedder.embed_passages(TEXTS)
    assert caught.value.code == "provider_auth"


@pytest.mark.parametrize(
    ("fault", "code", "pauses"),
    [
        (Fault(status=401), "provider_auth", []),
        (Fault(status=402), "provider_quota", []),
        (Fault(status=403), "provider_auth", []),
        (Fault(status=404), "provider_bad_request", []),
        (Fault(status=429), "provider_rate_limited", [1.0]),
        (Fault(status=429, headers={"Retry-After": "7"}), "provider_rate_limited", [7.0]),
        (Fault(status=429, headers={"retry-after-ms": "250"}), "provider_rate_limited", [0.25]),
        (Fault(status=429, headers={"Retry-After": "31"}), "provider_rate_limited", []),
        (Fault(status=429, code="insufficient_quota"), "provider_quota", []),
        (Fault(status=400, code="context_length_exceeded"), "provider_context_too_long", []),
        (Fault(status=500), "upstream_unavailable", [1.0]),
        (Fault(status=503), "provider_overloaded", [1.0]),
        (Reset(), "provider_interrupted", [1.0]),
    ],
)
def test_only_a_fault_that_may_pass_is_retried_and_only_once(
    setup: Setup, fault: Reply, code: str, pauses: list[float]
) -> None:
    setup.provider.script_embeddings(fault, fault)
    with pytest.raises(UpstreamError) as caught:
        setup.embedder.embed_passages(TEXTS)
    assert caught.value.code == code
    assert setup.pauses == pauses
    assert len(setup.bodies) == 1 + len(pauses)
    assert "127.0.0.1" in caught.value.message
    assert "sk-secret" not in caught.value.message
    assert setup.provider.state().embedded == 0


def test_the_wait_a_provider_asks_for_is_handed_on(setup: Setup) -> None:
    setup.provider.script_embeddings(Fault(status=429, headers={"Retry-After": "120"}))
    with pytest.raises(UpstreamError) as caught:
        setup.embedder.embed_passages(TEXTS)
    assert caught.value.retry_after_s == 120.0


def test_a_passing_fault_costs_no_text_twice(setup: Setup) -> None:
    setup.provider.rule(Rule(route="embeddings", reply=Fault(status=503), times=1))
    assert setup.embedder.embed_passages(TEXTS).vectors.shape == (3, 64)
    assert setup.provider.state().embedded == 3
    assert setup.provider.state().embedded_twice == {}


def test_a_query_is_attempted_once(setup: Setup) -> None:
    setup.provider.script_embeddings(Fault(status=503))
    with pytest.raises(UpstreamError) as caught:
        asyncio.run(setup.embedder.embed_query("泵房"))
    assert (caught.value.code, caught.value.retryable, len(setup.bodies)) == ("provider_overloaded", True, 1)


def test_a_provider_that_says_nothing_is_given_up_after_its_time(provider: Provider) -> None:
    setup = Setup(provider, timeout_s=1)
    provider.script_embeddings(Hang())
    with pytest.raises(UpstreamError) as caught:
        asyncio.run(setup.embedder.embed_query("泵房"))
    assert caught.value.code == "provider_timeout"
    assert provider.wait(lambda provider: provider.gone == 1)
    setup.embedder.close()


def test_cancelling_a_query_closes_its_connection(setup: Setup) -> None:
    setup.provider.script_embeddings(Hang())

    async def ask_and_leave() -> None:
        asking = asyncio.create_task(setup.embedder.embed_query("泵房"))
        assert await asyncio.to_thread(setup.provider.wait, lambda provider: len(provider.requests) == 1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    asyncio.run(ask_and_leave())
    assert setup.provider.wait(lambda provider: provider.gone == 1)


def test_a_query_is_asked_in_the_loop_of_its_caller_and_only_passages_start_a_thread(setup: Setup) -> None:
    before = set(threading.enumerate())
    asyncio.run(setup.embedder.embed_query("泵房"))
    assert not any("embedding" in thread.name for thread in set(threading.enumerate()) - before)
    setup.embedder.embed_passages(["泵房"])
    (started,) = (thread for thread in set(threading.enumerate()) - before if "embedding" in thread.name)
    setup.embedder.close()
    assert not started.is_alive()


def test_closing_ends_a_call_under_way(provider: Provider) -> None:
    setup = Setup(provider)
    provider.script_embeddings(Hang())

    async def ask_and_close() -> None:
        asking = asyncio.create_task(setup.embedder.embed_query("泵房"))
        assert await asyncio.to_thread(provider.wait, lambda provider: len(provider.requests) == 1)
        await asyncio.to_thread(setup.embedder.close)
        with pytest.raises(UpstreamError) as caught:
            await asking
        assert caught.value.code == "provider_interrupted"

    asyncio.run(ask_and_close())
    assert provider.wait(lambda provider: provider.gone == 1)


def test_nobody_listening_is_told_with_the_address(provider: Provider) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    setup = Setup(provider, base_url=f"http://127.0.0.1:{port}/v1")
    with pytest.raises(UpstreamError) as caught:
        setup.embedder.embed_passages(["x"])
    setup.embedder.close()
    assert (caught.value.code, caught.value.retryable) == ("upstream_unavailable", True)
    assert f"127.0.0.1:{port}" in caught.value.message


def test_a_model_of_one_length_that_refuses_dimensions_is_asked_without(provider: Provider) -> None:
    refusal = {"message": "Model is not matryoshka, can't set dimensions", "code": 400, "type": "BadRequestError"}
    provider.rule(
        Rule(route="embeddings", containing='"dimensions"', reply=Fault(status=400, body=json.dumps(refusal)))
    )
    setup = Setup(provider, dimensions=256)
    for _ in range(2):
        assert setup.embedder.embed_passages(["x"]).vectors.shape == (1, 256)
    setup.embedder.close()
    assert ["dimensions" in body for body in setup.bodies] == [True, False, False]


def test_the_native_length_of_a_known_model_is_not_asked_for(provider: Provider) -> None:
    setup = Setup(provider, model="BAAI/bge-m3", dimensions=None)
    with pytest.raises(UpstreamError) as caught:  # the double gives 256
        setup.embedder.embed_passages(["x"])
    setup.embedder.close()
    assert setup.embedder.dimensions == 1024
    assert "expected 1024 dimensions, got 256" in caught.value.message
    assert all("dimensions" not in body for body in setup.bodies)


@pytest.mark.parametrize(
    "settings",
    [
        {"model": "unknown", "dimensions": None},
        {"base_url": "api.example.test/v1"},
        {"api_key": "密钥"},
        {"model": None},
    ],
)
def test_settings_that_cannot_work_are_refused_at_once(provider: Provider, settings: dict[str, object]) -> None:
    with pytest.raises(SettingsError):
        Setup(provider, **settings)


def test_the_version_changes_with_all_that_changes_a_vector() -> None:
    versions = {
        version_of("m", 64, "", ""),
        version_of("n", 64, "", ""),
        version_of("m", 65, "", ""),
        version_of("m", 64, "query: ", ""),
        version_of("m", 64, "", "passage: "),
    }
    assert len(versions) == 5
    assert version_of("text-embedding-3-small", 1536, "", "").startswith("openai:text-embedding-3-small:1536:")


@given(st.lists(st.text(max_size=12), max_size=30), st.integers(min_value=1, max_value=9), st.integers(1, 40))
def test_request_spans_tile_the_texts_within_both_limits(texts: list[str], most_inputs: int, most_bytes: int) -> None:
    spans = request_spans(texts, most_inputs=most_inputs, most_bytes=most_bytes)
    assert [place for start, end in spans for place in range(start, end)] == list(range(len(texts)))
    for start, end in spans:
        assert end - start <= most_inputs
        assert end - start == 1 or sum(len(text.encode()) for text in texts[start:end]) <= most_bytes
