"""Any provider with the common `/rerank`: Jina, Cohere, SiliconFlow, vLLM, llama.cpp, Voyage, DashScope, …; or Hugging Face's TEI."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import httpx

from shared.errors import SettingsError
from shared.loopback import leads_to_loopback
from shared.rerank.port import Reranked
from shared.rerank.reading import BadReply, read_reply
from shared.settings import RerankSettings
from shared.upstream import bearer, failure, host_of, refusal, upstream
from shared.wire.transport import direct_transport

_CONNECT_S = 10.0
_PLURAL_HOST = "aliyuncs.com"  # DashScope's path is /reranks. 2026-11


class HttpReranker:
    """Scores are put back in the order of the texts by their index; a reply without exactly one for each is refused. For one event loop."""

    def __init__(self, settings: RerankSettings) -> None:
        """Raises: SettingsError: address, model or key are missing or impossible."""
        if settings.base_url is None or settings.model is None:
            raise SettingsError("A rerank provider needs base_url and model.", field="rerank.base_url")
        host = host_of(settings.base_url)
        self._who = f"The reranker at {host}"  # beside an embedding provider that may have failed instead
        path = "/reranks" if host.partition(":")[0].endswith(_PLURAL_HOST) else "/rerank"
        self.url = settings.base_url.rstrip("/") + path
        self._settings = settings
        self.model = settings.model
        self.depth = settings.depth
        trust_env = not leads_to_loopback(self.url)  # no proxy between two processes of one machine
        certificates = httpx.create_ssl_context(trust_env=trust_env)
        self._client = httpx.AsyncClient(
            transport=direct_transport(certificates, trust_env=trust_env),
            timeout=httpx.Timeout(None, connect=_CONNECT_S),  # a request as a whole is timed below
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
            trust_env=trust_env,
            verify=certificates,
            headers=bearer(settings.api_key),
        )

    async def rerank(self, query: str, texts: Sequence[str]) -> Reranked:
        response = await self._post(self._body(query, texts))
        if response.status_code != 200:
            raise refusal(
                response.status_code,
                response.headers,
                response.content,
                host=self._who,
                now_s=time.time(),
                api_key=self._settings.api_key,
            )
        try:
            return read_reply(response.content, query, texts)
        except BadReply as bad:
            remedy = "Check that CITEBOUND_RERANK_BASE_URL and _API fit the provider"
            raise failure("provider_bad_reply", host=self._who, said=f"{bad}. {remedy}") from bad

    async def close(self) -> None:
        await self._client.aclose()

    def _body(self, query: str, texts: Sequence[str]) -> dict[str, Any]:
        if self._settings.api == "tei":
            # the server holds one model; a text that is too long is shortened there instead of refused
            return {"query": query, "texts": list(texts), "truncate": True}
        return {"model": self.model, "query": query, "documents": list(texts), "top_n": len(texts)}

    async def _post(self, body: dict[str, Any]) -> httpx.Response:
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                with upstream(self._who):
                    return await self._client.post(self.url, json=body)
        except TimeoutError as error:
            raise failure("provider_timeout", host=self._who) from error
