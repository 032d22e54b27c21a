"""What a check says of a provider that works, and of every way in which one does not."""

import asyncio
from collections.abc import Generator

import pytest
from msgspec.structs import replace

from shared.providers.check import check_chat, check_embedding, check_part, check_rerank
from shared.providers.verdict import Code
from shared.providers.words import told
from shared.settings import ChatSettings, EmbeddingSettings, RerankSettings, Settings
from tests.doubles.provider import Call, Fault, Provider, Raw, Reply, Reset, Say, provider_double

KEY = "sk-geheim-0815"


@pytest.fixture(scope="module")
def provider() -> Generator[Provider]:
    with provider_double() as one:
        yield one


def chat_at(provider: Provider) -> ChatSettings:
    return ChatSettings(base_url=provider.base_url, model="通义", api_key=KEY)


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (Say(text="好"), "works"),
        (Fault(status=401, message=f"Incorrect API key {KEY}"), "wrong_key"),
        (Fault(status=402), "no_credit"),
        (Fault(status=429, code="insufficient_quota"), "no_credit"),
        (Fault(status=429), "rate_limited"),
        (Fault(status=404, code="model_not_found", message="The model `通义` does not exist"), "wrong_model"),
        (Fault(status=400, message="Model Not Exist"), "wrong_model"),
        (Fault(status=404, body='{"error":"model \\"x\\" not found, try pulling it first"}'), "wrong_model"),
        (Fault(status=404, body="<html>"), "wrong_address"),
        (Fault(status=400, message=f"temperature is invalid {KEY}"), "refused"),
        (Fault(status=503), "overloaded"),
        (Fault(status=500), "overloaded"),
        (Raw(pieces=("<html>",), content_type="text/html"), "not_compatible"),
        (Reset(), "broke_off"),
        (Say(text=" "), "empty_answer"),
    ],
)
def test_every_answer_of_a_provider_has_a_name_and_words_in_both_languages(
    reply: Reply, code: Code, provider: Provider
) -> None:
    provider.script(reply)
    verdict = asyncio.run(check_chat(chat_at(provider)))
    assert verdict.code == code
    assert KEY not in repr(verdict)
    said = told(verdict)
    for one in (said.zh, said.en):
        assert one.what
        assert bool(one.remedy) != verdict.is_fine
    assert verdict.models == (("double",) if code == "wrong_model" else ())


@pytest.mark.parametrize(
    ("base_url", "code"),
    [
        ("http://127.0.0.1:9/v1", "unreachable"),
        ("http://nowhere.invalid/v1", "unknown_host"),
        ("llm.example/v1", "bad_address"),
        ("http://[", "bad_address"),
    ],
)
def test_a_server_that_is_not_there_is_told_from_an_address_that_is_none(base_url: str, code: Code) -> None:
    assert asyncio.run(check_chat(ChatSettings(base_url=base_url, model="m"))).code == code


def test_a_server_that_speaks_no_tls_is_told_so(provider: Provider) -> None:
    settings = replace(chat_at(provider), base_url=provider.base_url.replace("http:", "https:"))
    assert asyncio.run(check_chat(settings)).code == "tls"


def test_without_a_model_the_provider_s_are_offered(provider: Provider) -> None:
    verdict = asyncio.run(check_chat(replace(chat_at(provider), model=None)))
    assert (verdict.code, verdict.models) == ("no_model", ("double",))


@pytest.mark.parametrize(
    ("length", "code", "offered"), [(500, "no_model", 300), (1_000, "not_compatible", 0)], ids=["long", "too long"]
)
def test_a_list_of_models_is_read_up_to_a_size(length: int, code: Code, offered: int) -> None:
    with provider_double() as provider:
        provider.models = tuple(f"{n:0{length}}" for n in range(2_000))
        verdict = asyncio.run(check_chat(replace(chat_at(provider), model=None)))
    assert (verdict.code, len(verdict.models)) == (code, offered)


def test_a_model_that_shall_call_functions_is_asked_whether_it_can(provider: Provider) -> None:
    settings = replace(chat_at(provider), protocol="tools")
    provider.script(Fault(status=400, message="this model does not support tools"))
    assert asyncio.run(check_chat(settings)).code == "no_tools"
    provider.script(Say(calls=(Call(name="say", arguments='{"word": "ok"}'),)))
    assert asyncio.run(check_chat(settings)).code == "works"


def test_embeddings_and_reranking_are_tried_with_a_call_too(provider: Provider) -> None:
    embedding = EmbeddingSettings(provider="openai", base_url=provider.base_url, model="e", dimensions=256)
    verdict = asyncio.run(check_embedding(embedding))
    assert (verdict.code, verdict.dimensions) == ("works", 256)
    assert asyncio.run(check_embedding(replace(embedding, dimensions=None))).code == "unknown_dimensions"
    rerank = RerankSettings(base_url=provider.base_url, model="r")
    assert asyncio.run(check_rerank(rerank)).code == "works"
    provider.script_rerank(Fault(status=401))
    assert asyncio.run(check_rerank(rerank)).code == "wrong_key"


def test_nothing_that_is_off_is_called(provider: Provider) -> None:
    before = len(provider.requests)
    settings = Settings(data_dir="/nowhere")
    for part in ("chat", "embedding", "rerank"):
        verdict = asyncio.run(check_part(settings, part))
        assert (verdict.code, verdict.is_fine) == ("off", True)
        assert told(verdict).zh.what
    assert len(provider.requests) == before
