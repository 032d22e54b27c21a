"""Any provider with OpenAI's `/chat/completions`: OpenAI, DeepSeek, DashScope, SiliconFlow, vLLM, llama.cpp, Ollama, …"""

import asyncio
import hashlib
import time
from collections.abc import Callable
from typing import Any

import msgspec

from shared.complaints import Complaint, complaint_in
from shared.errors import SettingsError, UpstreamError
from shared.llm.dialect import Dialect, dialect_after, dialect_for
from shared.llm.port import ChatProfile, ChatReply, ChatRequest, Message
from shared.llm.reading import ReplyReader
from shared.llm.shapes import function_shape, message_shape
from shared.llm.sse import EventParser
from shared.llm.window import LearnedWindow
from shared.settings import ChatSettings
from shared.upstream import bearer, complained, complaint_body, failure, host_of, retry_after_s, upstream
from shared.wire.bodies import whole
from shared.wire.endpoint import Answer, Endpoint

_MOVED = (
    0.1  # a deadline is put off once this part of it has passed: for every piece it would cost more than reading it
)
_GOODBYE_S = 0.25  # for the end of the body behind the end mark, so that the connection can be used again
_MOST_WHOLE = 32_000_000  # bytes; 128,000 tokens with escapes and likelihoods have some 20 MB


class OpenAIChat:
    """Always streams, so that a dead provider is told from a slow one.

    Time-outs: until the first token of text or reasoning (keep-alive comments don't count: a queue is waiting too), then between any
    two pieces, comments included; that one may be noticed a tenth late. Behind the finish reason comments don't count: the answer is whole.
    There is none for the whole answer: the harness has the wall clock.
    """

    def __init__(self, settings: ChatSettings) -> None:
        """Raises: SettingsError: address, model or key are missing or impossible."""
        if settings.base_url is None or settings.model is None:
            raise SettingsError("A chat provider needs base_url and model.", field="chat.base_url")
        self._host = host_of(settings.base_url)
        self._settings = settings
        self._dialect = dialect_for(settings, host=self._host)
        self._window = LearnedWindow()
        self._endpoint = Endpoint(
            settings.base_url.rstrip("/") + "/chat/completions",
            headers={**bearer(settings.api_key), "accept": "text/event-stream"},
        )

    @property
    def model(self) -> str:
        return f"{self._host}/{self._settings.model}"

    @property
    def profile(self) -> ChatProfile:
        return profile_of(self._settings)

    @property
    def window_tokens(self) -> int | None:
        return self._window.tokens

    async def reply(self, request: ChatRequest, *, on_piece: Callable[[str], None] | None = None) -> ChatReply:
        dialect = self._dialect
        while True:
            try:
                body = request_body(request, self._settings, dialect)
                reply = await self._attempt(body, request.max_output_tokens, on_piece)
                self._window.answered(reply.usage)
                return reply
            except _Refused as refused:
                other = dialect_after(dialect, refused.complaint)
                if other is None:
                    self._window.refused(refused.error.window_tokens)
                    raise refused.error from None
                # Nothing was generated or paid for: what follows is still the same attempt.
                dialect = self._dialect = other

    async def close(self) -> None:
        self._endpoint.close()

    async def _attempt(
        self, body: dict[str, Any], most_tokens: int, on_piece: Callable[[str], None] | None
    ) -> ChatReply:
        reader = ReplyReader(host=self._host, most_tokens=most_tokens, api_key=self._settings.api_key)
        heard = on_piece or _unheard
        try:
            await self._read(body, reader, heard)
            if rest := reader.end():
                heard(rest)
        except UpstreamError as error:
            error.partial_text = reader.text
            raise
        return ChatReply(
            text=reader.text,
            reasoning=reader.reasoning,
            usage=reader.usage,
            finish_reason=reader.finish_reason or "stop",
            model=reader.model or str(self._settings.model),
            calls=reader.calls,
            wants_reasoning=self._dialect.wants_reasoning,
        )

    async def _read(self, body: dict[str, Any], reader: ReplyReader, heard: Callable[[str], None]) -> None:
        try:
            async with asyncio.timeout(self._settings.first_token_timeout_s) as deadline:
                with upstream(self._host):
                    answer = await self._endpoint.post(body)
                    try:
                        await self._check(answer)
                        await self._listen(answer, reader, heard, deadline)
                    finally:
                        await answer.close()
        except TimeoutError as error:
            if not reader.complete:
                raise failure("provider_timeout", host=self._host) from error
        except UpstreamError:
            # The line may break between the finish reason and the usage: the answer is whole, its usage unknown.
            if not reader.complete:
                raise

    async def _check(self, answer: Answer) -> None:
        """Raises: _Refused; UpstreamError for a page of a portal or a proxy."""
        if answer.status == 200:
            if "text/html" in answer.headers.get("content-type", ""):
                raise failure("provider_bad_reply", host=self._host)
            return
        complaint = complaint_in(await complaint_body(answer), status=answer.status)
        pause_s = retry_after_s(answer.headers, now_s=time.time())
        key = self._settings.api_key
        raise _Refused(complaint, complained(complaint, host=self._host, api_key=key, retry_after_s=pause_s))

    async def _listen(
        self, answer: Answer, reader: ReplyReader, heard: Callable[[str], None], deadline: asyncio.Timeout
    ) -> None:
        if "application/json" in answer.headers.get("content-type", ""):  # didn't care that a stream was asked for
            heard(reader.take(await whole(answer.piece, most_bytes=_MOST_WHOLE)))
            return
        now_s, idle_s, put_off_at = asyncio.get_running_loop().time, self._settings.idle_timeout_s, 0.0
        parser = EventParser(most_bytes=_MOST_WHOLE)
        while not reader.done and (piece := await answer.piece()):
            going_on = not reader.complete  # behind the finish reason only what brings something counts
            for data in parser.feed(piece):
                if new := reader.take(data):
                    heard(new)
                    going_on = True
            if going_on and reader.begun and (now := now_s()) >= put_off_at:
                deadline.reschedule(now + (1 + _MOVED) * idle_s)
                put_off_at = now + _MOVED * idle_s
        if reader.done:
            deadline.reschedule(now_s() + _GOODBYE_S)
            while not reader.overrun and await answer.piece():  # who overran may write on for long
                pass
            return
        for data in parser.finish():
            if new := reader.take(data, cut=True):
                heard(new)


class _Refused(Exception):
    """An answer other than 200: what was said, and the error that it is unless the request can do without something."""

    def __init__(self, complaint: Complaint, error: UpstreamError) -> None:
        super().__init__(error.message)
        self.complaint = complaint
        self.error = error


def _unheard(_: str) -> None:
    return


def request_body(request: ChatRequest, settings: ChatSettings, dialect: Dialect) -> dict[str, Any]:
    """`extra_body` has the last word."""
    body: dict[str, Any] = {
        "model": settings.model,
        "messages": [_message(message, dialect) for message in request.messages],
        "stream": True,
        dialect.token_limit: request.max_output_tokens,
    }
    if request.functions:
        body["tools"] = [function_shape(function) for function in request.functions]
        if dialect.one_call:
            body["parallel_tool_calls"] = False
    if dialect.usage_option:
        body["stream_options"] = {"include_usage": True}
    if dialect.temperature:
        body["temperature"] = settings.temperature
    if dialect.quiet:
        body |= dialect.quiet[0]
    return body | settings.extra_body


def profile_of(settings: ChatSettings) -> ChatProfile:
    """Of `extra_body` only the names are told: it may say what is nobody's business. Its values count in the hash."""
    same = (settings.base_url, settings.model, settings.temperature, settings.reasoning, settings.extra_body)
    said = [f"temperature {settings.temperature}", f"reasoning {settings.reasoning}"]
    if settings.extra_body:
        said.append(f"extra_body {' '.join(sorted(settings.extra_body))}")
    whole = msgspec.json.encode(same, order="deterministic")
    return ChatProfile(name=", ".join(said), sha256=hashlib.sha256(whole).hexdigest())


def _message(message: Message, dialect: Dialect) -> dict[str, Any]:
    shape = message_shape(message)
    if dialect.wants_reasoning and message.call is not None:
        shape.setdefault("reasoning_content", "")  # wanted even where there was none
    return shape
