"""Any provider with OpenAI's `/embeddings`: OpenAI, DashScope, SiliconFlow, vLLM, Ollama, …"""

import asyncio
import base64
import binascii
import hashlib
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

import msgspec
import numpy as np
from msgspec import Struct

from shared.complaints import complaint_in
from shared.embeddings.own_loop import OwnLoop
from shared.embeddings.port import Axis, Embedded, Vectors
from shared.embeddings.text import clean
from shared.errors import SettingsError, UpstreamError
from shared.settings import EmbeddingSettings
from shared.text.tokens import count_tokens
from shared.upstream import Whole, ask, bearer, failure, host_of, refusal, tokens_told
from shared.wire.endpoint import Endpoint

# What a model gives when `dimensions` isn't asked for. 2026-11.
NATIVE_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
    "text-embedding-v3": 1024,
    "text-embedding-v4": 1024,
    "bge-m3": 1024,
    "bge-large-zh-v1.5": 1024,
    "qwen3-embedding-0.6b": 1024,
    "qwen3-embedding-4b": 2560,
    "qwen3-embedding-8b": 4096,
    "nomic-embed-text": 768,
    "mxbai-embed-large": 1024,
    "multilingual-e5-large": 1024,
}
# Inputs that one request may hold, where it is less than the 2,048 of OpenAI. 2026-11.
_MOST_INPUTS = {"dashscope": 10, "aliyuncs.com": 10, "siliconflow": 32}
# OpenAI takes 300,000 tokens in one request. A token is at least one byte of UTF-8, so bytes need no tokenizer of the provider's.
_MOST_BYTES = 300_000
_FRAME_BYTES = 1_000_000  # what a reply may have around its numbers, in bytes
_NUMBER_BYTES = 32  # in JSON, 17 digits on a line of its own
_MOST_DIMENSIONS = 8_192  # of models there are; one that gives others than are wanted is told of that, not of its size
_LONGEST_PAUSE_S = 30.0
_PAUSE_S = 1.0
_SMALLEST_NORM = 1e-6
_RECIPE = "clean-1 unit-1"  # what is done to every text and every vector


class _Item(Struct):
    embedding: list[float] | str
    index: int | None = None


class _Reply(Struct):
    data: list[_Item]
    usage: object = None


_REPLY = msgspec.json.Decoder(_Reply)


class OpenAIEmbedder:
    """Vectors are checked, put in order and scaled to unit length; nothing is cut off a text, the provider refuses what is too long.

    A query is asked in the event loop of its caller, whichever that is; cancelling it closes its connection. Passages are asked in a
    loop on a thread of the embedder's own. `pause`: waits between two attempts.
    """

    language_axis: Axis | None = None  # of somebody else's model nobody has measured it

    def __init__(
        self, settings: EmbeddingSettings, *, pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        """Raises: SettingsError: address, model, key or dimensions are missing or impossible."""
        if settings.base_url is None or settings.model is None:
            raise SettingsError("An embedding provider needs base_url and model.", field="embedding.base_url")
        self._host = host_of(settings.base_url)
        self._endpoint = Endpoint(settings.base_url.rstrip("/") + "/embeddings", headers=bearer(settings.api_key))
        self._settings = settings
        self._pause = pause
        native = NATIVE_DIMENSIONS.get(settings.model.rsplit("/", 1)[-1].split(":")[0].lower())
        dimensions = settings.dimensions or native
        if dimensions is None:
            raise SettingsError(
                f"The number of dimensions of {settings.model} isn't known. Set CITEBOUND_EMBEDDING_DIMENSIONS to it.",
                field="embedding.dimensions",
            )
        self.dimensions = dimensions
        self.version = version_of(settings.model, dimensions, settings.query_prefix, settings.passage_prefix)
        self.max_batch = settings.batch
        self.max_tokens = settings.max_tokens
        self._most_inputs = min([settings.batch, *(most for name, most in _MOST_INPUTS.items() if name in self._host)])
        self._asks_dimensions = dimensions != native
        self._loop = OwnLoop("embedding provider")

    def embed_passages(self, texts: Sequence[str]) -> Embedded:
        if not 1 <= len(texts) <= self.max_batch:
            raise ValueError(f"{len(texts)} texts, 1..{self.max_batch} allowed")
        return self._loop.run(self._passages(texts)).result()

    async def embed_query(self, text: str) -> Embedded:
        asked = [self._settings.query_prefix + clean(text)]
        return await self._request(asked)

    def close(self) -> None:
        self._endpoint.close()
        self._loop.stop()

    async def _passages(self, texts: Sequence[str]) -> Embedded:
        asked = [self._settings.passage_prefix + clean(text) for text in texts]
        parts = [
            await self._with_one_retry(asked[start:end])
            for start, end in request_spans(asked, most_inputs=self._most_inputs, most_bytes=_MOST_BYTES)
        ]
        return Embedded(
            vectors=np.concatenate([part.vectors for part in parts]),
            tokens=sum(part.tokens for part in parts),
            estimated=any(part.estimated for part in parts),
        )

    async def _with_one_retry(self, texts: list[str]) -> Embedded:
        try:
            return await self._request(texts)
        except UpstreamError as error:
            pause_s = _PAUSE_S if error.retry_after_s is None else error.retry_after_s
            if not error.retryable or pause_s > _LONGEST_PAUSE_S:
                raise
            await self._pause(pause_s)
        return await self._request(texts)

    async def _request(self, texts: list[str]) -> Embedded:
        body: dict[str, Any] = {"model": self._settings.model, "input": texts, "encoding_format": "float"}
        if self._asks_dimensions:
            body["dimensions"] = self.dimensions
        told = await self._ask(body)
        if told.status == 400 and self._asks_dimensions and _refuses_dimensions(told.content):
            # The model has one length only; whether it is the wanted one is checked below.
            self._asks_dimensions = False
            del body["dimensions"]
            told = await self._ask(body)
        if told.status != 200:
            key = self._settings.api_key
            raise refusal(told.status, told.headers, told.content, host=self._host, now_s=time.time(), api_key=key)
        try:
            return read_reply(told.content, texts, dimensions=self.dimensions)
        except BadReply as bad:
            raise failure("provider_bad_reply", host=self._host, said=str(bad)) from bad

    async def _ask(self, body: dict[str, Any]) -> Whole:
        most = _FRAME_BYTES + len(body["input"]) * max(self.dimensions, _MOST_DIMENSIONS) * _NUMBER_BYTES
        return await ask(self._endpoint, body, host=self._host, timeout_s=self._settings.timeout_s, most_bytes=most)


class BadReply(Exception):
    """A reply that isn't one vector per text; the text says what was expected and what came."""


def read_reply(content: bytes, texts: Sequence[str], *, dimensions: int) -> Embedded:
    """Rows in the order of `texts`, whatever order the provider answered in; floats or base64 of little-endian float32.

    Raises: BadReply.
    """
    try:
        reply = _REPLY.decode(content)
    except msgspec.DecodeError as error:
        raise BadReply(f"expected embeddings in OpenAI's form ({error})") from error
    if len(reply.data) != len(texts):
        raise BadReply(f"expected {len(texts)} vectors, got {len(reply.data)}")
    places = [place if item.index is None else item.index for place, item in enumerate(reply.data)]
    if sorted(places) != list(range(len(texts))):
        raise BadReply(f"expected the indices 0..{len(texts) - 1} once each")
    vectors: Vectors = np.empty((len(texts), dimensions), dtype=np.float32)
    for place, item in zip(places, reply.data, strict=True):
        vectors[place] = _unit(_numbers(item.embedding), dimensions)
    usage = cast(dict[str, object], reply.usage) if isinstance(reply.usage, dict) else {}
    if told := tokens_told(usage.get("prompt_tokens")) or tokens_told(usage.get("total_tokens")):
        return Embedded(vectors=vectors, tokens=told)
    return Embedded(vectors=vectors, tokens=sum(map(count_tokens, texts)), estimated=True)


def request_spans(texts: Sequence[str], *, most_inputs: int, most_bytes: int) -> list[tuple[int, int]]:
    """Spans [start, end) that tile `texts` in order; none above either limit, but a text above `most_bytes` goes alone."""
    spans: list[tuple[int, int]] = []
    start = held_bytes = 0
    for place, text in enumerate(texts):
        size_bytes = len(text.encode())
        if place > start and (place - start == most_inputs or held_bytes + size_bytes > most_bytes):
            spans.append((start, place))
            start, held_bytes = place, 0
        held_bytes += size_bytes
    if start < len(texts):
        spans.append((start, len(texts)))
    return spans


def version_of(model: str, dimensions: int, query_prefix: str, passage_prefix: str) -> str:
    """ "openai:MODEL:DIMENSIONS:HASH". The address isn't part of it: the same model elsewhere is the same model (decision 0031)."""
    identity = msgspec.json.encode([model, dimensions, query_prefix, passage_prefix, _RECIPE])
    return f"openai:{model}:{dimensions}:{hashlib.sha256(identity).hexdigest()[:8]}"


def _numbers(embedding: list[float] | str) -> Vectors:
    if isinstance(embedding, list):
        with np.errstate(over="ignore"):  # infinity is refused below
            return np.array(embedding, dtype=np.float64).astype(np.float32)
    try:
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4").astype(np.float32)
    except (binascii.Error, ValueError) as error:
        raise BadReply("expected base64 of float32 numbers") from error


def _unit(vector: Vectors, dimensions: int) -> Vectors:
    if vector.shape != (dimensions,):
        raise BadReply(
            f"expected {dimensions} dimensions, got {len(vector)}; check model and CITEBOUND_EMBEDDING_DIMENSIONS"
        )
    norm = float(np.linalg.norm(vector.astype(np.float64)))
    if not np.isfinite(norm) or norm < _SMALLEST_NORM:
        raise BadReply("expected finite numbers that are not all zero")
    return (vector / norm).astype(np.float32)


def _refuses_dimensions(content: bytes) -> bool:
    complaint = complaint_in(content, status=400)
    return complaint.param == "dimensions" or any(
        word in complaint.message.lower() for word in ("dimensions", "matryoshka")
    )
