"""The agent loop: decides, and does nothing itself.

A generator of effects: the driver calls the model and the tools and sends back what happened. Every run of it ends in
one Outcome: turns are bounded by the tool count, and two replies in a row without a usable action end the run.
Source: spec/05.
"""

from collections.abc import Generator
from typing import TypeAlias, assert_never, get_args

from api.agent.acting import act
from api.agent.asking import ask, withdraw
from api.agent.budget import LimitCode
from api.agent.decisions import TOO_SHORT, Decision, Finish, ProtocolError, ToolAction
from api.agent.ending import Steps, closed, correct, finished, last, misspoke
from api.agent.protocols import decide, offered
from api.agent.state import State
from api.agent.steps import (
    AskFailed,
    Braked,
    Effect,
    Event,
    Misspoken,
    Outcome,
)
from shared.types.events import Thought, TurnStarted

LOOP_VERSION = "2"
MISSPOKEN_IN_A_ROW = 2

Perhaps: TypeAlias = Generator[Effect, Event | None, Outcome | None]  # None: the run goes on


def run(state: State) -> Steps:
    """Decide a whole run, from the opening messages to its outcome. `state`: changed by this loop alone from here on.

    The model is told of the tool calls that the loop has itself: another path may have made some, or keep some back.
    """
    state.talk.offer(offered(state.start, final=False))
    calls = max(state.limits.max_tool_calls - state.spent.tool_calls, 0)
    told = state.start.limits.max_tool_calls
    state.talk.say("system", state.start.system if calls == told else state.start.system_for(calls))
    state.talk.say("user", state.start.task)
    outcome: Outcome | None = None
    while outcome is None:
        why = yield from closed(state, no_gain=state.no_gain)
        outcome = (yield from _turn(state)) if why is None else (yield from _stop(state, why))
    return outcome


def _stop(state: State, why: str) -> Steps:
    if state.turn == 0 and why in get_args(LimitCode):
        return state.broken(why, "question, history and tools leave no room for one turn")
    return (yield from _finalize(state, why))


def _turn(state: State) -> Perhaps:
    state.turn += 1
    yield TurnStarted(turn=state.turn, final=False)
    reply = yield from ask(state, final=False)
    if isinstance(reply, AskFailed):
        return (yield from _after_failure(state, reply))
    decision = decide(reply, state.start, final=False, asked_before=state.asked_for_ending)
    state.asked_for_ending = isinstance(decision, ProtocolError) and decision.problem == "no_ending"
    if decision.thought:
        yield Thought(turn=state.turn, text=decision.thought)
    state.heard(decision, reasoning=reply.reasoning if reply.wants_reasoning else "")
    return (yield from _decided(state, decision))


def _decided(state: State, decision: Decision) -> Perhaps:
    match decision:
        case Finish():
            return finished(state, decision, closed=None)
        case ProtocolError():
            return (yield from _misspoke(state, misspoke(decision)))
        case ToolAction(tool=tool) if tool not in state.start.tools:
            return (yield from _misspoke(state, misspoke(decision)))
        case ToolAction():
            state.misspoken = 0
            refused = yield from act(state, decision)
            return (yield from _finalize(state, refused)) if refused else None
        case _:
            assert_never(decision)


def _misspoke(state: State, misspoken: Misspoken) -> Perhaps:
    """Tell the model what was wrong; the second time in a row ends the run, with an answer if evidence is in hand."""
    yield misspoken
    state.misspoken += 1
    correct(state, misspoken, final=False)
    if state.misspoken < MISSPOKEN_IN_A_ROW:
        return None
    if not state.ledger.blocks:
        code = TOO_SHORT.get(misspoken.problem, "protocol_error")
        return state.broken(code, f"{MISSPOKEN_IN_A_ROW} replies in a row held no usable action")
    state.limit("protocol_error")
    return (yield from _finalize(state, "protocol_error"))


def _after_failure(state: State, failure: AskFailed) -> Steps:
    if failure.code == "time":
        state.limit("brake_time")
        yield Braked(kind="brake_time")
        return (yield from _finalize(state, "brake_time"))
    if failure.code == "provider_context_too_long" and (yield from withdraw(state, "context_budget_exceeded")):
        return (yield from _finalize(state, "context_budget_exceeded"))
    return state.broken(failure.code, failure.message, retryable=failure.retryable)


def _finalize(state: State, why: str) -> Steps:
    """The end: no tools, the best answer from what is in hand, or a stated end. `why`: what closed the tools."""

    def request(_: str | None) -> str:
        blocks = len(state.ledger.blocks)
        return state.wording.render("finalize", closed=why, blocks=blocks, protocol=state.start.protocol)

    return (yield from last(state, request, closed=why))
