"""One logical model call: its attempts and what they cost; and what is taken out of a conversation that no call can carry."""

from collections.abc import Generator
from typing import TypeAlias

from msgspec.structs import replace

from api.agent import budget, metering
from api.agent.budget import LimitCode, Refused
from api.agent.metering import Heard, Sent
from api.agent.observation import envelope
from api.agent.state import State
from api.agent.steps import AskFailed, AskModel, Effect, Event, Replied, Retried

Asking: TypeAlias = Generator[Effect, Event | None, Replied | AskFailed]
Withdrawing: TypeAlias = Generator[Effect, Event | None, bool]

RETRY_WAIT_MS = 500  # when the provider names no time


def ask(state: State, *, final: bool) -> Asking:
    """At most one automatic retry, for faults that another try can help; every attempt is booked.

    Source: spec/05 "Retry".
    """
    until_ms = state.deadlines.run_ms if final else state.deadlines.tools_ms
    first = yield from _attempt(state, 1, final=final, wait_ms=0, until_ms=until_ms)
    if isinstance(first, Replied) or not first.retryable or not first.metered:  # the toolbox has tried again already
        return first
    wait_ms = RETRY_WAIT_MS if first.retry_after_s is None else round(first.retry_after_s * 1000)
    if state.elapsed_ms + wait_ms >= until_ms or isinstance(state.afford(final=final), Refused):
        return first
    yield Retried(code=first.code, wait_ms=wait_ms)
    return (yield from _attempt(state, 2, final=final, wait_ms=wait_ms, until_ms=until_ms))


def ask_last(state: State) -> Asking:
    """The final call, on whatever is left of budget and time."""
    code = unaskable(state)
    return _unasked(code, state.elapsed_ms) if code else (yield from ask(state, final=True))


def unaskable(state: State) -> str | None:
    """Why no final call can be made, if so."""
    verdict = state.afford(final=True)
    if isinstance(verdict, Refused):
        return verdict.code
    return "time" if state.elapsed_ms >= state.deadlines.run_ms else None


def withdraw(state: State, code: LimitCode) -> Withdrawing:
    """Refuse afterwards what was let in last of all that takes more room than its refusal; False when nothing does.

    What a call can't carry is no evidence for what it says, and leaves the conversation whole. `code`: the limit that it exceeds.
    """
    limit = state.limits.max_context_tokens if code == "context_budget_exceeded" else state.limits.max_request_tokens
    for explained in (True, False):  # where everything is small, the advice goes as well
        for one in reversed(state.let_in):
            told = one.result
            values = {"tokens": state.rates.scaled(told.tokens), "limit": limit, "room": 0}
            message = state.wording.render("observation", code=code, **values) if explained else ""
            text = envelope(code, tool=told.tool, message=message)
            if state.talk.size(text) < state.talk.size_at(one.place):
                if not state.has_limit(code):
                    state.limit(code, tool=told.tool, **values)
                state.talk.replace(one.place, text)
                state.withdraw(one)
                refused = state.resulted(told.tool, code, tokens=told.tokens, blocks=told.blocks, admitted=False)
                yield replace(refused, turn=told.turn)  # what was said of that turn holds no more
                return True
    return False


def _attempt(state: State, attempt: int, *, final: bool, wait_ms: int, until_ms: int) -> Asking:
    context = state.talk.context
    sent = Sent(
        context=context,
        tokens=context.tokens(state.rates),
        counted=state.talk.counted,
        asked=budget.asked_output(context=context, spent=state.spent, limits=state.limits, rates=state.rates),
    )
    event = yield AskModel(
        turn=state.turn,
        attempt=attempt,
        final=final,
        messages=state.talk.messages(),
        functions=state.talk.functions,
        input_tokens=sent.tokens,
        anchored=context.real,
        max_output_tokens=sent.asked,
        wait_ms=wait_ms,
        until_ms=until_ms,
    )
    assert isinstance(event, Replied | AskFailed)
    state.elapsed_ms = event.elapsed_ms
    if event.metered:
        _book(state, sent, event)
    if isinstance(event, AskFailed) and event.window_tokens is not None:
        state.learn_window(event.window_tokens)
    return event


def _book(state: State, sent: Sent, event: Replied | AskFailed) -> None:
    """What the call cost, and what it shows of the next ones."""
    usage = None if isinstance(event, AskFailed) else event.usage
    if isinstance(event, AskFailed):
        heard = Heard(tokens=state.count(event.heard), begun=bool(event.heard))
    else:
        heard = _heard(state, event)
    told = metering.believed(usage, sent, heard)
    cut = usage is not None and metering.cut_short(sent.context, sent.counted, usage)
    if isinstance(event, Replied):
        state.talk.sent(None if cut else told.input_tokens)
    state.spent = metering.charged(state.spent, sent, heard, told, state.rates)
    state.rates = metering.learned(state.rates, sent, heard, told, whole=not cut)
    if usage is not None and cut and not state.has_limit("provider_cut_prompt"):
        state.limit("provider_cut_prompt", told=usage.input_tokens, expected=sent.tokens)


def _heard(state: State, reply: Replied) -> Heard:
    thought = state.count(reply.reasoning)
    said = state.count(reply.text + "".join(call.name + call.arguments for call in reply.calls))
    return Heard(tokens=thought + said, reasoning=thought)


def _unasked(code: str, elapsed_ms: int) -> AskFailed:
    return AskFailed(
        code=code,
        message="nothing is left for a final answer",
        retryable=False,
        retry_after_s=None,
        heard="",
        elapsed_ms=elapsed_ms,
    )
