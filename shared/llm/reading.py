"""A streamed chat completion, chunk by chunk, becomes one reply. Pure: bytes in, text and errors out.

Providers differ (facts of 2026-11): reasoning comes as reasoning_content, reasoning or thinking, or inside <think>…</think>;
usage comes in a chunk of its own, with the last choice, with every one, or never; text and finish_reason may share a chunk;
an error may come inside a stream that began with status 200.
"""

from typing import Any, cast

import msgspec
from msgspec import Struct

from shared.complaints import complaint_of
from shared.errors import UpstreamCode
from shared.llm.calls import CallReader
from shared.llm.port import ChatUsage, FunctionCall
from shared.llm.thinking import ThinkSplitter
from shared.upstream import complained, failure, tokens_told

DONE = b"[DONE]"
_CHARACTERS_A_TOKEN = 8  # at most, of ordinary text
_UNASKED = 20_000  # characters: providers that count reasoning beside what was asked for
# Reasons that take the answer back; any other, known or not ("eos", "end_turn"), is an end.
_FAILURES: dict[str, UpstreamCode] = {
    "content_filter": "provider_content_filtered",
    "sensitive": "provider_content_filtered",  # Zhipu
    "insufficient_system_resource": "provider_interrupted",  # DeepSeek
    "network_error": "provider_interrupted",  # Zhipu
    "error": "provider_interrupted",
    "abort": "provider_interrupted",  # vLLM, SGLang
}
_LENGTH = frozenset({"max_tokens", "model_length", "model_context_window_exceeded"})  # what others call "length"


class _Delta(Struct):
    content: Any = None
    refusal: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    thinking: Any = None
    tool_calls: Any = None
    function_call: Any = None


class _Choice(Struct):
    index: int = 0
    delta: _Delta | None = None
    message: _Delta | None = None  # of an answer that wasn't streamed
    finish_reason: str | None = None


class _Chunk(Struct):
    choices: list[_Choice] | None = None
    usage: dict[str, Any] | None = None
    model: str | None = None
    error: Any = None
    message: Any = None  # SiliconFlow puts an error's fields at the top
    code: Any = None


_CHUNK = msgspec.json.Decoder(_Chunk)


class ReplyReader:
    """`begun`: a token of text, reasoning or a call has come; `done`: so has the end mark, or more than was asked for.

    most_tokens: what was asked for. A provider that goes far beyond it is not listened to any longer: the answer counts as cut there.
    """

    def __init__(self, *, host: str, most_tokens: int, api_key: str | None = None) -> None:
        self._room = most_tokens * _CHARACTERS_A_TOKEN + _UNASKED
        self._host = host
        self._api_key = api_key
        self._think = ThinkSplitter()
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls = CallReader()
        self.finish_reason: str | None = None
        self.usage: ChatUsage | None = None
        self.model: str | None = None
        self.done = False

    @property
    def begun(self) -> bool:
        return bool(self._text or self._reasoning or self._calls.calls)

    @property
    def overrun(self) -> bool:
        """Whether as much has come as can be taken, and more may follow."""
        return self._room <= 0

    @property
    def text(self) -> str:
        return "".join(self._text)

    @property
    def reasoning(self) -> str:
        return "".join(self._reasoning)

    @property
    def calls(self) -> tuple[FunctionCall, ...]:
        return self._calls.calls

    @property
    def complete(self) -> bool:
        """Whether the answer is whole; its usage may still come."""
        return self.done or self.finish_reason is not None

    def take(self, data: bytes, *, cut: bool = False) -> str:
        """Read the data of one event, or a whole answer that wasn't streamed; returns the text, reasoning and calls that are new.

        cut: the event had no end, so that what can't be read is a broken stream and not a bad reply. Invalid UTF-8 becomes U+FFFD.

        Raises: UpstreamError: provider_bad_reply, provider_content_filtered, provider_interrupted, or what an error object says.
        """
        if self.done:
            return ""
        if data == DONE:
            self.done = True
            return ""
        try:
            chunk = _CHUNK.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return self._take_odd(data, error, cut=cut)
        return self._take_chunk(chunk)

    def end(self) -> str:
        """The stream is over: returns what was held back. Raises: UpstreamError: provider_interrupted if it ended too early."""
        text = self._add(*self._think.finish())
        if not self.complete:
            raise failure("provider_interrupted", host=self._host)
        self.finish_reason = self.finish_reason or "stop"
        return text

    def _take_odd(self, data: bytes, error: Exception, *, cut: bool) -> str:
        """What is not JSON in UTF-8."""
        text = data.decode(errors="replace")
        if not text.strip():
            return ""
        try:
            if not isinstance(error, RecursionError):
                return self._take_chunk(_CHUNK.decode(text))
        except (msgspec.DecodeError, RecursionError):
            pass
        raise failure("provider_interrupted" if cut else "provider_bad_reply", host=self._host) from error

    def _take_chunk(self, chunk: _Chunk) -> str:
        if chunk.error is not None or (chunk.choices is None and chunk.code and chunk.message):
            told = {"error": chunk.error} if chunk.error is not None else {"code": chunk.code, "message": chunk.message}
            raise complained(complaint_of(told), host=self._host, api_key=self._api_key)
        if chunk.model:
            self.model = chunk.model
        if chunk.usage:
            self.usage = usage_in(chunk.usage) or self.usage
        for choice in chunk.choices or ():
            if choice.index == 0:
                return self._choose(choice)
        return ""

    def _choose(self, choice: _Choice) -> str:
        delta = choice.delta or choice.message
        new = "" if delta is None else self._say(delta)
        reason = (choice.finish_reason or "").lower()
        if reason in _FAILURES:
            raise failure(_FAILURES[reason], host=self._host)
        if reason:
            self.finish_reason = "length" if reason in _LENGTH else reason
        if self.overrun:
            self.finish_reason, self.done = "length", True
        return new

    def _say(self, delta: _Delta) -> str:
        content = delta.content
        if (  # as nearly every chunk is
            content
            and isinstance(content, str)
            and self._think.passes
            and len(content) <= self._room
            and not (delta.reasoning_content or delta.reasoning or delta.thinking or delta.tool_calls)
            and delta.function_call is None
        ):
            self._room -= len(content)
            self._text.append(content)
            return content
        reasoning = _string(delta.reasoning_content) or _string(delta.reasoning) or _string(delta.thinking)
        text, thought = self._think.feed(_string(content) or _string(delta.refusal))
        new = self._add(text, reasoning + thought)
        called = self._calls.take(delta.tool_calls) + self._calls.take_legacy(delta.function_call)
        self._room -= len(called)
        return new + called

    def _add(self, text: str, reasoning: str) -> str:
        text = text[: max(0, self._room)]
        reasoning = reasoning[: max(0, self._room - len(text))]
        self._room -= len(text) + len(reasoning)
        if text:
            self._text.append(text)
        if reasoning:
            self._reasoning.append(reasoning)
        return reasoning + text


def usage_in(usage: dict[str, Any]) -> ChatUsage | None:
    """None where a provider sends zeros: no request is free of input."""
    input_tokens = tokens_told(usage.get("prompt_tokens"))
    if input_tokens == 0:
        return None
    return ChatUsage(
        input_tokens=input_tokens,
        output_tokens=tokens_told(usage.get("completion_tokens")),
        reasoning_tokens=tokens_told(_inside(usage, "completion_tokens_details", "reasoning_tokens")),
    )


def _inside(usage: dict[str, Any], group: str, name: str) -> Any:
    details = usage.get(group)
    return cast(dict[str, Any], details).get(name) if isinstance(details, dict) else None


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""
