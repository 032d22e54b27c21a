"""One tool action: run it or answer it from the run's memory, and let its result in whole or not at all."""

from collections.abc import Generator, Sequence
from typing import TypeAlias, cast

import msgspec
from msgspec import Struct

from api.agent import brakes, budget
from api.agent.budget import LimitCode, Refused, Verdict
from api.agent.decisions import ToolAction
from api.agent.ledger import Fetch
from api.agent.observation import NOTHING, HarnessStatus, envelope
from api.agent.state import LetIn, State
from api.agent.steps import Admission, CallTool, Effect, Event, Measure, Measured, Returned
from api.tools.contract import ToolResult
from shared.types.events import ToolCalled, ToolResulted

_BROKEN = frozenset({"collection_unavailable", "upstream_unavailable", "tool_internal_error"})

Acting: TypeAlias = Generator[Effect, Event | None, LimitCode | None]


def act(state: State, action: ToolAction, *, question: str | None = None) -> Acting:
    """One logical tool call; returns the limit that closes the tools now, if one does. `action.tool` is a known name.

    `question`: what is looked up, where the call has other words for it.
    """
    arguments = msgspec.json.encode(action.arguments, order="deterministic")
    state.count_tool_call()
    yield ToolCalled(turn=state.turn, tool=action.tool, arguments=arguments.decode())
    call = (action.tool, arguments)
    if call in state.remembered:
        yield _repeat(state, action, *state.remembered[call])
        return None
    event = yield CallTool(
        turn=state.turn, tool=action.tool, arguments=action.arguments, until_ms=state.deadlines.tools_ms
    )
    assert isinstance(event, Returned)
    state.elapsed_ms = event.elapsed_ms
    if event.result is None:  # the time brake holds before the next turn
        message = state.wording.render("observation", code="tool_timeout")
        yield _answer(state, action, "tool_unavailable", message=message)
        return None
    state.count_retrieval(event.result)
    if event.result.error_code in _BROKEN:  # broken is not empty: the reader must know
        state.limit(
            "tool_failed", tool=action.tool, error=event.result.error_code, message=_for_the_reader(event.result)
        )
    fetched_for = _fetched_for(action.arguments) if question is None else question
    refused = yield from _admit(state, action, event.result, fetched_for=fetched_for, at_ms=event.at_ms)
    if refused is None and not event.result.retryable:
        state.remembered[call] = (state.turn, bool(event.result.seen))
    return refused


def _admit(state: State, action: ToolAction, result: ToolResult, *, fetched_for: str, at_ms: int) -> Acting:
    """The one admission: the whole text or nothing of it."""
    context, spent, limits, rates = state.talk.context, state.spent, state.limits, state.rates
    bound = budget.refused_by_bytes(len(result.payload), context=context, spent=spent, limits=limits, rates=rates)
    if bound is not None:
        return (yield from _refuse(state, action, result, bound))
    measured = yield Measure(tool=action.tool, payload=result.payload, message=_aside(state, action))
    assert isinstance(measured, Measured)
    state.elapsed_ms = measured.elapsed_ms
    tokens = measured.tokens + budget.MESSAGE_TOKENS
    verdict = budget.admit(tokens, context=context, spent=spent, limits=limits, rates=rates)
    if isinstance(verdict, Refused):
        return (yield from _refuse(state, action, result, verdict))
    yield _decided(state, action, verdict)
    shown = frozenset(block.block_id for block in result.seen)
    state.no_gain = brakes.without_gain(state.no_gain, shown=shown, known=state.ledger.known(result.seen))
    place = state.talk.observe(measured.text, size=tokens)
    fetch = Fetch(
        snapshot_id=state.start.snapshot_id,
        turn=state.turn,
        tool=next(name for name in state.start.tools if name == action.tool),
        query=fetched_for,
        at_ms=at_ms,
    )
    told = state.resulted(action.tool, "ok", tokens=tokens, blocks=len(shown), error=result.error_code)
    state.let(LetIn(place=place, seen=result.seen, fetch=fetch, result=told))
    yield told
    return None


def _refuse(state: State, action: ToolAction, result: ToolResult, verdict: Refused) -> Acting:
    yield _decided(state, action, verdict)
    values = {"tokens": verdict.size, "limit": verdict.limit, "room": verdict.room}
    state.limit(verdict.code, tool=action.tool, **values)
    message = state.wording.render("observation", code=verdict.code, **values)
    state.talk.observe(envelope(verdict.code, tool=action.tool, message=message))
    blocks = len({block.block_id for block in result.seen})
    yield state.resulted(
        action.tool, verdict.code, tokens=verdict.tokens, size=verdict.size, blocks=blocks, admitted=False
    )
    return verdict.code


def _decided(state: State, action: ToolAction, verdict: Verdict) -> Admission:
    return Admission(
        tool=action.tool,
        verdict=verdict,
        used=state.talk.context.tokens(state.rates),
        limit=state.limits.max_context_tokens,
        reserve=budget.reserve(state.limits, state.rates),
    )


class _Refusal(Struct, frozen=True):
    message: str


class _Refused(Struct, frozen=True):
    error: _Refusal


def _for_the_reader(result: ToolResult) -> str:
    """What a snapshot that can't be searched says of itself and of what helps; nothing of other faults, which pass."""
    if result.error_code != "collection_unavailable":
        return ""
    return msgspec.json.decode(result.payload, type=_Refused).error.message


def _repeat(state: State, action: ToolAction, turn: int, showed_blocks: bool) -> ToolResulted:
    """Same call, same snapshot: the answer already stands in the conversation."""
    if showed_blocks:
        state.no_gain += 1
    message = state.wording.render("observation", code="repeated", turn=turn)
    return _answer(state, action, "ok", payload=msgspec.json.encode({"repeats_turn": turn}), message=message)


def _answer(
    state: State, action: ToolAction, status: HarnessStatus, *, payload: bytes = NOTHING, message: str
) -> ToolResulted:
    """An observation of the harness's own."""
    message = f"{message} {_aside(state, action)}".strip()
    text = envelope(status, tool=action.tool, payload=payload, message=message)
    size = state.talk.size(text)
    state.talk.observe(text, size=size)
    return state.resulted(action.tool, status, tokens=size, blocks=0)


def _aside(state: State, action: ToolAction) -> str:
    """What else is to be said of a reply of which more was called than one tool."""
    return state.wording.render("observation", code="one_call", dropped=action.dropped) if action.dropped else ""


def _fetched_for(arguments: dict[str, object]) -> str:
    """The sub-question or term in a call's arguments; for a listing, its scope."""
    for name in ("query", "term", "section_paths", "doc_id", "doc_ids"):
        said = arguments.get(name)
        if isinstance(said, str):
            return said
        if isinstance(said, Sequence):
            return ", ".join(map(str, cast("Sequence[object]", said)))
    return ""
