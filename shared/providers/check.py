"""Whether a provider can be used as it is set: one real call, and what became of it as one of a closed set of codes.

Everybody who looks at a provider looks at it here: the page of settings, `/api/settings/check`, `citebound settings check`, `citebound doctor`.
The words for people are in words.py. No verdict holds a key: errors of providers come redacted from shared/upstream.py.
Source: spec/07 "Native API"; decision 0130.
"""

import asyncio
import re
import socket
import ssl
import time
from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from shared.embeddings.open import open_embedder
from shared.errors import CiteboundError, SettingsError, UpstreamError
from shared.llm.models import list_models
from shared.llm.open import open_chat
from shared.llm.port import ChatRequest, Function, Message
from shared.providers.verdict import Code, Part, Verdict
from shared.rerank.open import open_reranker
from shared.settings import ChatSettings, EmbeddingSettings, RerankSettings, Settings

PATIENCE_S = 30  # for one call; a local model that is being loaded takes that long
_TOKENS = 512  # room for hidden reasoning that can't be switched off; an obedient model uses three
_NO_SUCH_MODEL = re.compile(
    r"model.{0,80}(?:not (?:be )?(?:found|exist|supported)|does not exist|doesn't exist|unknown|invalid|not exist)"
    r"|(?:unknown|invalid|no such|unsupported) model|模型.{0,20}(?:不存在|无效)",
    re.IGNORECASE | re.DOTALL,
)
_BY_ERROR: dict[str, Code] = {
    "provider_auth": "wrong_key",
    "provider_quota": "no_credit",
    "provider_rate_limited": "rate_limited",
    "provider_overloaded": "overloaded",
    "provider_timeout": "timeout",
    "provider_no_tools": "no_tools",
    "provider_bad_reply": "not_compatible",
    "provider_interrupted": "broke_off",
    "upstream_unavailable": "overloaded",
}
_BY_FIELD: dict[str, Code] = {"api_key": "bad_key", "dimensions": "unknown_dimensions"}


async def check_part(settings: Settings, part: Part) -> Verdict:
    """Never raises for what a provider does. Costs some tokens."""
    match part:
        case "chat":
            return await check_chat(settings.chat)
        case "embedding":
            return await check_embedding(settings.embedding)
        case "rerank":
            return await check_rerank(settings.rerank)


async def check_chat(settings: ChatSettings) -> Verdict:
    """Whether the model says anything; with protocol `tools` also whether it may be offered functions."""
    verdict = Verdict(part="chat", code="off", base_url=settings.base_url, model=settings.model)
    if settings.base_url is None:
        return verdict
    if not settings.model:

        async def look() -> Verdict:
            return replace(verdict, code="no_model", models=await list_models(settings, timeout_s=PATIENCE_S))

        return await _tried(verdict, look)
    wait = {name: min(getattr(settings, name), PATIENCE_S) for name in ("first_token_timeout_s", "idle_timeout_s")}

    async def ask() -> Verdict:
        chat = open_chat(replace(settings, **wait))
        assert chat is not None
        try:
            reply = await chat.reply(_request(settings))
        finally:
            await chat.close()
        said_something = bool(reply.text.strip() or reply.calls)
        return replace(verdict, code="works" if said_something else "empty_answer", answered_by=reply.model)

    found = await _tried(verdict, ask)
    return found if found.code != "wrong_model" else replace(found, models=await _offered(settings))


async def check_embedding(settings: EmbeddingSettings) -> Verdict:
    """Whether a text becomes a vector of the expected length. The bundled model needs no check."""
    verdict = Verdict(part="embedding", code="off", base_url=settings.base_url, model=settings.model)
    if settings.provider == "local":
        return verdict

    async def embed() -> Verdict:
        embedder = open_embedder(replace(settings, timeout_s=min(settings.timeout_s, PATIENCE_S)), threads=1)
        try:
            await embedder.embed_query("试一试 test")
            return replace(verdict, code="works", answered_by=str(settings.model), dimensions=embedder.dimensions)
        finally:
            await asyncio.to_thread(embedder.close)

    return await _tried(verdict, embed)


async def check_rerank(settings: RerankSettings) -> Verdict:
    """Whether two texts get a score each."""
    verdict = Verdict(part="rerank", code="off", base_url=settings.base_url, model=settings.model)
    if settings.base_url is None:
        return verdict

    async def rank() -> Verdict:
        reranker = open_reranker(replace(settings, timeout_s=min(settings.timeout_s, PATIENCE_S)))
        assert reranker is not None
        try:
            await reranker.rerank("试一试", ["试一试 test", "other"])
            return replace(verdict, code="works", answered_by=reranker.model)
        finally:
            await reranker.close()

    return await _tried(verdict, rank)


async def _offered(settings: ChatSettings) -> tuple[str, ...]:
    """() where the provider doesn't say."""
    try:
        return await list_models(settings, timeout_s=PATIENCE_S)
    except CiteboundError:
        return ()


async def _tried(verdict: Verdict, call: Callable[[], Awaitable[Verdict]]) -> Verdict:
    began = time.monotonic()
    try:
        async with asyncio.timeout(2 * PATIENCE_S):  # a stream that never ends answers all the while
            found = await call()
    except TimeoutError:
        found = replace(verdict, code="timeout")
    except CiteboundError as error:
        found = replace(verdict, code=code_of(error), detail=error.message)
    return replace(found, took_ms=round((time.monotonic() - began) * 1000))


def _request(settings: ChatSettings) -> ChatRequest:
    schema = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
    functions = (Function(name="say", description="Says a word.", schema=schema),)
    return ChatRequest(
        messages=(Message(role="user", content="Reply with the one word: ok"),),
        max_output_tokens=_TOKENS,
        functions=functions if settings.protocol == "tools" else (),
    )


def code_of(error: CiteboundError) -> Code:
    """What an error of a provider's adapter means for whoever set the provider up."""
    if isinstance(error, SettingsError):
        return _BY_FIELD.get((error.field or "").rpartition(".")[2], "bad_address")
    if not isinstance(error, UpstreamError):
        return "refused"
    causes = list(_causes(error))
    if any(isinstance(one, ssl.SSLError) for one in causes) or "CERTIFICATE_VERIFY" in error.message:
        return "tls"
    if any(isinstance(one, socket.gaierror | UnicodeError) for one in causes):
        return "unknown_host"
    if any(isinstance(one, TimeoutError) for one in causes):
        return "timeout"
    if any(isinstance(one, OSError) for one in causes):
        return "unreachable"
    if error.code == "provider_bad_request":
        said = error.message.partition(f"(HTTP {error.http_status}): ")[2]  # by the provider; before it are our words
        if _NO_SUCH_MODEL.search(said):
            return "wrong_model"
        return "wrong_address" if error.http_status in (404, 405) else "refused"
    return _BY_ERROR.get(error.code, "refused")


def _causes(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    cause = error.__cause__
    while cause is not None and cause not in found:
        found.append(cause)
        cause = cause.__cause__ or cause.__context__
    return found
