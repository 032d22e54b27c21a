"""How a run comes to its answer: what closes the tools, the final call, in which nothing but endings is offered, the outcome.

The loop's last turn, the answer of every other path and the repair of a strict one are the same call. Pure, like the loop.
"""

from collections.abc import Callable, Generator
from typing import TypeAlias

from api.agent import brakes, budget
from api.agent.asking import ask_last, unaskable, withdraw
from api.agent.budget import LimitCode, Refused
from api.agent.decisions import TOO_SHORT, Decision, Ending, Finish, ProtocolError, ToolAction
from api.agent.observation import HarnessStatus, envelope
from api.agent.protocols import decide, offered
from api.agent.state import State
from api.agent.steps import AskFailed, Braked, Effect, Event, Misspoken, Outcome
from shared.types.events import Thought, TurnStarted

FINAL_TRIES = 2

Steps: TypeAlias = Generator[Effect, Event | None, Outcome]
Closing: TypeAlias = Generator[Effect, Event | None, str | None]
Deciding: TypeAlias = Generator[Effect, Event | None, Decision | AskFailed]
Request: TypeAlias = Callable[[str | None], str]

_TOO_LARGE: dict[str, LimitCode] = {
    "provider_context_too_long": "context_budget_exceeded",
    "context_budget_exceeded": "context_budget_exceeded",
    "request_budget_exceeded": "request_budget_exceeded",
}
_REASONS: dict[Ending, str] = {"answer": "finished", "refusal": "refused", "clarification": "clarification"}


def closed(state: State, *, no_gain: int = 0) -> Closing:
    """Why nothing more may be looked up, if so: a brake, or no answer would be affordable after it; said as a limitation.

    no_gain: look-ups in a row that brought nothing new, where that counts.
    """
    brake = brakes.due(
        tool_calls=state.spent.tool_calls, no_gain=no_gain, elapsed_ms=state.elapsed_ms, limits=state.limits
    )
    if brake is not None:
        state.limit(brake)
        yield Braked(kind=brake)
        return brake
    verdict = state.afford(final=False)
    if not isinstance(verdict, Refused):
        return None
    state.limit(verdict.code, tool="", tokens=verdict.tokens, limit=verdict.limit, room=verdict.room)
    return verdict.code


def finished(state: State, decision: Finish, *, closed: str | None) -> Outcome:
    """`closed`: why the tools were closed before the model finished by itself."""
    return state.outcome(decision, reason=closed or _REASONS[decision.ending], closed=closed)


def last(state: State, request: Request, *, closed: str | None, purpose: str = "") -> Steps:
    """The final call, and the outcome it comes to; its reply stands in the conversation.

    A reply that can't be used is told so and the call made once more, in a turn of its own, if that can be afforded (decision 0148).
    `closed`: why looking things up ended before. `request`: asks for the answer, given what closed. `purpose`: of the turns.
    """
    place: int | None = None
    tries = 0
    while True:
        tries += 1
        state.turn += 1
        yield TurnStarted(turn=state.turn, final=True, purpose=purpose)
        if place is None:
            place = state.talk.say("user", request(closed))
        decision, closed = yield from _carried(state, place, request, closed)
        if isinstance(decision, AskFailed):
            code = "brake_time" if decision.code == "time" else decision.code
            return state.broken(code, decision.message, retryable=decision.retryable, closed=closed)
        if isinstance(decision, Finish):
            if decision.cut:
                state.limit("answer_cut")
            return finished(state, decision, closed=closed)
        misspoken = misspoke(decision)
        yield misspoken
        correct(state, misspoken, final=True)
        if tries == FINAL_TRIES or unaskable(state) is not None:
            code = TOO_SHORT.get(misspoken.problem, "finalization_failed")
            return state.broken(code, f"the last reply held no answer ({misspoken.problem})", closed=closed)


def _carried(
    state: State, place: int, request: Request, closed: str | None
) -> Generator[Effect, Event | None, tuple[Decision | AskFailed, str | None]]:
    """The final call's decision and what closed: what was let in and doesn't fit into it is withdrawn, the newest first, until it can be made."""
    decision = yield from last_decision(state)
    while isinstance(decision, AskFailed) and (code := _TOO_LARGE.get(decision.code)):
        if not (yield from withdraw(state, code)):
            break
        closed = closed or code
        state.talk.replace(place, request(closed))
        decision = yield from last_decision(state)
    return decision, closed


def last_decision(state: State) -> Deciding:
    """What the model makes of a turn without tools."""
    state.talk.offer(offered(state.start, final=True))
    reply = yield from ask_last(state)
    if isinstance(reply, AskFailed):
        return reply
    decision = decide(reply, state.start, final=True)
    if decision.thought:
        yield Thought(turn=state.turn, text=decision.thought)
    state.heard(decision, reasoning=reply.reasoning if reply.wants_reasoning else "")
    return decision


def misspoke(decision: ToolAction | ProtocolError) -> Misspoken:
    """What is wrong with a decision that can't be carried out. A ToolAction: of a tool that may not be called."""
    if isinstance(decision, ToolAction):
        return Misspoken(problem="tool_unavailable", detail=decision.tool)
    return Misspoken(problem=decision.problem, detail=decision.detail)


def correct(state: State, misspoken: Misspoken, *, final: bool) -> None:
    """Tell the model what was wrong with the reply that stands last in the conversation."""
    message = state.wording.render(
        "protocol_error",
        problem=misspoken.problem,
        detail=misspoken.detail,
        tools=sorted(state.start.tools),
        reply_tokens=budget.reply_room(state.limits),
        protocol=state.start.protocol,
        final=final,
    )
    status: HarnessStatus = "tool_unavailable" if misspoken.problem == "tool_unavailable" else "protocol_error"
    state.talk.observe(envelope(status, message=message))
