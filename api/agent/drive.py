"""The loop's hands: calls the model and the tools, turns notes into events and spans. Decides nothing."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol, assert_never

import msgspec
from msgspec import Struct
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, get_current_span

from api.agent.budget import Admitted, Refused
from api.agent.loop import Steps
from api.agent.observation import envelope
from api.agent.so_far import Call, RunSoFar
from api.agent.steps import (
    Admission,
    AskFailed,
    AskModel,
    Braked,
    CallTool,
    CountTokens,
    Effect,
    Event,
    Measure,
    Measured,
    Misspoken,
    Note,
    Noted,
    Outcome,
    Replied,
    Retried,
    Returned,
)
from api.tools.contract import ToolResult
from api.tools.recording import recorded
from shared.aside import aside, in_turn
from shared.clock import NowMs
from shared.errors import CiteboundError, UpstreamError
from shared.llm.port import Chat, ChatReply, ChatRequest, Function, Message
from shared.llm.shapes import call_shape, function_shape, message_shape
from shared.telemetry import names
from shared.telemetry.artifacts import Growing, attach
from shared.telemetry.tracing import tracer, within
from shared.types.events import RunEvent, Thought, ToolCalled, ToolResulted, TurnStarted
from shared.types.runs import RecordedCall


class Tools(Protocol):
    """api.tools.registry.Toolbox."""

    async def call(self, name: str, arguments: object) -> ToolResult: ...


class Answerer(Protocol):
    """Whatever replies to the loop's questions: a model, or the built-in extractive answerer."""

    async def reply(self, ask: AskModel) -> Replied | AskFailed: ...


class Stopwatch:
    """Milliseconds since the run began, on a clock that never jumps."""

    def __init__(self, read_ns: Callable[[], int] = time.monotonic_ns) -> None:
        self._read_ns = read_ns
        self._begun_ns = read_ns()

    def elapsed_ms(self) -> int:
        return (self._read_ns() - self._begun_ns) // 1_000_000

    def left_s(self, until_ms: int) -> float:
        return max(until_ms - self.elapsed_ms(), 0) / 1000


class Driver(Struct, frozen=True, kw_only=True):
    """Everything one run needs to act."""

    answerer: Answerer
    tools: Tools
    count: CountTokens
    emit: Callable[[RunEvent], None]
    called: Callable[[RecordedCall], None]
    watch: Stopwatch
    now_ms: NowMs
    checking: bool = False  # whether the loop itself holds claims against their sources, which takes ms


async def drive(steps: Steps, driver: Driver) -> Outcome:
    """Carry out every effect until the loop has its outcome. CancelledError passes; spans are ended."""
    turn: Span | None = None
    event: Event | None = None
    try:
        while True:
            replied = driver.checking and isinstance(event, Replied)
            effect = await in_turn(partial(_next, steps, event)) if replied else _next(steps, event)
            if isinstance(effect, Outcome):
                return effect
            event = None
            if isinstance(effect, TurnStarted):
                _end(turn)
                turn = tracer.start_span(names.TURN)
                turn.set_attributes({names.TURN_NUMBER: effect.turn, names.TURN_FINAL: effect.final})
                if effect.purpose:
                    turn.set_attribute(names.TURN_PURPOSE, effect.purpose)
                driver.emit(effect)
            elif isinstance(effect, AskModel | CallTool | Measure):
                assert turn is not None
                with within(turn):
                    event = await _act(effect, driver)
            else:  # a brake may hold before the first turn: then the run's own span gets it
                _note(effect, turn or get_current_span(), driver.emit)
    finally:
        _end(turn)


def _next(steps: Steps, event: Event | None) -> Effect | Outcome:
    try:
        return steps.send(event)
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome


async def _act(effect: AskModel | CallTool | Measure, driver: Driver) -> Event:
    if isinstance(effect, AskModel):
        return await driver.answerer.reply(effect)
    if isinstance(effect, Measure):
        text, tokens = await aside(len(effect.payload), lambda: _measured(effect, driver.count))
        return Measured(text=text, tokens=tokens, elapsed_ms=driver.watch.elapsed_ms())
    result = await _within(driver.watch.left_s(effect.until_ms), driver.tools.call(effect.tool, effect.arguments))
    size = 0 if result is None else len(result.payload)
    driver.called(await aside(size, lambda: recorded(effect.turn, effect.tool, effect.arguments, result)))
    return Returned(result=result, at_ms=driver.now_ms(), elapsed_ms=driver.watch.elapsed_ms())


def _measured(effect: Measure, count: CountTokens) -> tuple[str, int]:
    text = envelope("ok", tool=effect.tool, payload=effect.payload, message=effect.message)
    return text, count(text)


async def _within(seconds: float, work: Awaitable[ToolResult]) -> ToolResult | None:
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            return await work
    except TimeoutError:
        if limit.expired():
            return None
        raise


def _note(note: Note, turn: Span, emit: Callable[[RunEvent], None]) -> None:
    match note:
        case Thought() | TurnStarted():
            emit(note)
        case ToolCalled():
            turn.add_event(names.DECISION, {"tool": note.tool, "arguments": note.arguments})
            emit(note)
        case ToolResulted():
            turn.set_attributes(
                {
                    names.HARNESS_STATUS: note.harness_status,
                    names.OBSERVATION_TOKENS: note.tokens,
                    names.OBSERVATION_ADMITTED: note.admitted,
                    names.RESULT_BLOCKS: note.blocks,
                }
            )
            emit(note)
        case Admission(verdict=verdict, used=used, limit=limit, reserve=reserve):
            turn.add_event(
                names.ADMISSION,
                {
                    "tokens": verdict.tokens,
                    "used": used,
                    "limit": limit,
                    "reserve": reserve,
                    "admitted": isinstance(verdict, Admitted),
                    "at_least": isinstance(verdict, Refused) and verdict.at_least,
                    "code": "" if isinstance(verdict, Admitted) else verdict.code,
                },
            )
        case Braked(kind=kind):
            turn.add_event(names.BRAKE, {"kind": kind})
        case Misspoken(problem=problem):
            turn.add_event(names.PROTOCOL_ERROR, {"problem": problem})
        case Noted(event=event, values=values):
            turn.add_event(event, values)
        case Retried(code=code, wait_ms=wait_ms):
            turn.add_event(names.RETRY, {"code": code, "wait_ms": wait_ms})
        case _:
            assert_never(note)


def _end(span: Span | None) -> None:
    if span is not None:
        span.end()


class ModelAnswerer:
    """A chat model behind the port; one span an attempt, with the prompt as sent."""

    def __init__(
        self,
        chat: Chat,
        watch: Stopwatch,
        *,
        so_far: RunSoFar,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._chat = chat
        self._watch = watch
        self._so_far = so_far
        self._pause = pause  # seconds
        self._prompts = Growing("prompt", _message_json)
        self._functions = Growing("functions", _function_json)

    async def reply(self, ask: AskModel) -> Replied | AskFailed:
        provider, _, model = self._chat.model.partition("/")
        if ask.wait_ms:
            await self._pause(ask.wait_ms / 1000)
        with tracer.start_as_current_span(f"{names.CHAT} {model}", kind=SpanKind.CLIENT) as span:
            span.set_attributes(
                {
                    names.OPERATION: "chat",
                    names.PROVIDER: provider,
                    **_server(provider),
                    names.REQUEST_MODEL: model,
                    names.ATTEMPT: ask.attempt,
                    names.CONTEXT_TOKENS: ask.input_tokens,
                }
            )
            self._prompts.attach(span, ask.messages)
            if ask.functions:
                self._functions.attach(span, ask.functions)
            answer = await self._ask(ask)
            if isinstance(answer, AskFailed):
                span.set_attribute(names.ERROR_TYPE, answer.code)
                span.set_status(Status(StatusCode.ERROR, answer.message))
                attach(span, "reply", answer.heard)
                return answer
            _describe(span, answer)
            return Replied(
                text=answer.text,
                reasoning=answer.reasoning,
                usage=answer.usage,
                finish_reason=answer.finish_reason,
                metered=True,
                elapsed_ms=self._watch.elapsed_ms(),
                calls=answer.calls,
                wants_reasoning=answer.wants_reasoning,
            )

    async def _ask(self, ask: AskModel) -> ChatReply | AskFailed:
        call = self._so_far.call = Call(ask=ask, heard=[])
        answer = await self._answer(ask, call.heard)
        self._so_far.call = None
        return answer

    async def _answer(self, ask: AskModel, heard: list[str]) -> ChatReply | AskFailed:
        request = ChatRequest(messages=ask.messages, max_output_tokens=ask.max_output_tokens, functions=ask.functions)
        limit = asyncio.timeout(self._watch.left_s(ask.until_ms))
        try:
            async with limit:
                return await self._chat.reply(request, on_piece=heard.append)
        except CiteboundError as error:  # an address that no URL can be made of shows only when it is used
            return self._failed(
                error.code,
                error.message,
                retryable=error.retryable,
                retry_after_s=error.retry_after_s if isinstance(error, UpstreamError) else None,
                heard="".join(heard),
                window_tokens=error.window_tokens if isinstance(error, UpstreamError) else None,
            )
        except TimeoutError:
            if not limit.expired():
                raise
            return self._failed("time", "the time of this run was over", heard="".join(heard))

    def _failed(
        self,
        code: str,
        message: str,
        *,
        retryable: bool = False,
        retry_after_s: float | None = None,
        heard: str = "",
        window_tokens: int | None = None,
    ) -> AskFailed:
        return AskFailed(
            code=code,
            message=message,
            retryable=retryable,
            retry_after_s=retry_after_s,
            heard=heard,
            elapsed_ms=self._watch.elapsed_ms(),
            window_tokens=window_tokens,
        )


def _server(provider: str) -> dict[str, str | int]:
    """`provider`: host, or host:port; an IPv6 address is left whole, where it ends can't be told."""
    host, _, port = provider.rpartition(":")
    if ":" in host or not port.isdecimal() or not host:
        return {names.SERVER_ADDRESS: provider}
    return {names.SERVER_ADDRESS: host, names.SERVER_PORT: int(port)}


def _describe(span: Span, reply: ChatReply) -> None:
    told: dict[str, str | int | list[str]] = {
        names.RESPONSE_MODEL: reply.model,
        names.FINISH_REASONS: [reply.finish_reason],
        names.TOKENS_ESTIMATED: reply.usage is None,
    }
    if reply.usage is not None:
        told[names.INPUT_TOKENS] = reply.usage.input_tokens
        told[names.OUTPUT_TOKENS] = reply.usage.output_tokens
        told[names.REASONING_TOKENS] = reply.usage.reasoning_tokens
    span.set_attributes(told)
    attach(span, "reply", reply.text)
    if reply.calls:
        attach(span, "calls", msgspec.json.encode([call_shape(call) for call in reply.calls]).decode())
    if reply.reasoning:
        attach(span, "reasoning", reply.reasoning)


def _message_json(message: Message) -> bytes:
    return msgspec.json.encode(message_shape(message))


def _function_json(function: Function) -> bytes:
    return msgspec.json.encode(function_shape(function))
