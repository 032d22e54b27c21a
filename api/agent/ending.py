"""How a run comes to its answer: what closes the tools, the final call, in which nothing but endings is offered, the outcome.

The loop's last turn, the answer of every other path and the repair of a strict one are the same call. Pure, like the loop.
"""

from collections.abc import Callable, Generator
from typing import TypeAlias

from api.agent import brakes
from api.agent.asking import ask_last, withdraw
from api.agent.budget import LimitCode, Refused
from api.agent.decisions import TOO_SHORT, Decision, Ending, Finish, ProtocolError
from api.agent.protocols import decide, offered
from api.agent.state import State
from api.agent.steps import AskFailed, Braked, Effect, Event, Misspoken, Outcome
from shared.types.events import Thought

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


def last(state: State, request: Request, *, closed: str | None) -> Steps:
    """The final call, and the outcome it comes to; its reply stands in the conversation.

    What was let in and doesn't fit into the call is withdrawn, the newest first, until it can be made. `closed`: why looking things
    up ended before; a withdrawal closes it as well. `request`: asks for the answer, given what closed; said last.
    """
    place = state.talk.say("user", request(closed))
    decision = yield from last_decision(state)
    while isinstance(decision, AskFailed) and (code := _TOO_LARGE.get(decision.code)):
        if not (yield from withdraw(state, code)):
            break
        closed = closed or code
        state.talk.replace(place, request(closed))
        decision = yield from last_decision(state)
    if isinstance(decision, AskFailed):
        code = "brake_time" if decision.code == "time" else decision.code
        return state.broken(code, decision.message, retryable=decision.retryable, closed=closed)
    if not isinstance(decision, Finish):
        problem = decision.problem if isinstance(decision, ProtocolError) else "tool_unavailable"
        yield Misspoken(problem=problem, detail="")
        code = TOO_SHORT.get(problem, "finalization_failed")
        return state.broken(code, f"the last reply held no answer ({problem})", closed=closed)
    if decision.cut:
        state.limit("answer_cut")
    state.heard(decision, reasoning="")
    return finished(state, decision, closed=closed)


def last_decision(state: State) -> Deciding:
    """What the model makes of a turn without tools."""
    state.talk.offer(offered(state.start, final=True))
    reply = yield from ask_last(state)
    if isinstance(reply, AskFailed):
        return reply
    decision = decide(reply, state.start, final=True)
    if decision.thought:
        yield Thought(turn=state.turn, text=decision.thought)
    return decision
