"""Any provider with the common `/rerank`: Jina, Cohere, SiliconFlow, vLLM, llama.cpp, Voyage, DashScope, …; or Hugging Face's TEI."""

import time
from collections.abc import Sequence
from typing import Any

from shared.errors import SettingsError
from shared.rerank.port import Reranked
from shared.rerank.reading import BadReply, read_reply
from shared.settings import RerankSettings
from shared.upstream import ask, bearer, failure, host_of, refusal
from shared.wire.endpoint import Endpoint

_FRAME_BYTES = 10_000  # of a text's score, and around them all
_CHARACTER_BYTES = 12  # some send the texts back; an escape of two halves
_PLURAL_HOST = "aliyuncs.com"  # DashScope's path is /reranks. 2026-11


class HttpReranker:
    """Scores are put back in the order of the texts by their index; a reply without exactly one for each is refused."""

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
        self._endpoint = Endpoint(self.url, headers=bearer(settings.api_key))

    async def rerank(self, query: str, texts: Sequence[str]) -> Reranked:
        told = await ask(
            self._endpoint,
            self._body(query, texts),
            host=self._who,
            timeout_s=self._settings.timeout_s,
            most_bytes=sum(_FRAME_BYTES + len(text) * _CHARACTER_BYTES for text in texts) + _FRAME_BYTES,
        )
        if told.status != 200:
            key = self._settings.api_key
            raise refusal(told.status, told.headers, told.content, host=self._who, now_s=time.time(), api_key=key)
        try:
            return read_reply(told.content, query, texts)
        except BadReply as bad:
            remedy = "Check that CITEBOUND_RERANK_BASE_URL and _API fit the provider"
            raise failure("provider_bad_reply", host=self._who, said=f"{bad}. {remedy}") from bad

    async def close(self) -> None:
        self._endpoint.close()

    def _body(self, query: str, texts: Sequence[str]) -> dict[str, Any]:
        if self._settings.api == "tei":
            # the server holds one model; a text that is too long is shortened there instead of refused
            return {"query": query, "texts": list(texts), "truncate": True}
        return {"model": self.model, "query": query, "documents": list(texts), "top_n": len(texts)}
