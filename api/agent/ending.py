"""How a run comes to its answer: the final call, in which nothing but endings is offered, and what an ending is called.

The loop's last turn, the answer of every other path and the repair of a strict one are the same call. Pure, like the loop.
"""

from collections.abc import Generator
from typing import TypeAlias

from api.agent.asking import ask_last
from api.agent.decisions import Decision, Ending, Finish, ProtocolError
from api.agent.protocols import decide, offered
from api.agent.state import State
from api.agent.steps import AskFailed, Effect, Event, Misspoken, Outcome
from shared.types.events import Thought

Steps: TypeAlias = Generator[Effect, Event | None, Outcome]
Deciding: TypeAlias = Generator[Effect, Event | None, Decision | AskFailed]

_REASONS: dict[Ending, str] = {"answer": "finished", "refusal": "refused", "clarification": "clarification"}


def finished(state: State, decision: Finish, *, closed: str | None) -> Outcome:
    """`closed`: why the tools were closed before the model finished by itself."""
    return state.outcome(decision, reason=closed or _REASONS[decision.ending], closed=closed)


def last(state: State, *, closed: str | None) -> Steps:
    """The final call on the conversation as it stands, and the outcome it comes to; its reply stands in the conversation."""
    decision = yield from last_decision(state)
    if isinstance(decision, AskFailed):
        code = "brake_time" if decision.code == "time" else decision.code
        return state.broken(code, decision.message, retryable=decision.retryable, closed=closed)
    if not isinstance(decision, Finish):
        problem = decision.problem if isinstance(decision, ProtocolError) else "tool_unavailable"
        yield Misspoken(problem=problem, detail="")
        return state.broken("finalization_failed", f"the last reply held no answer ({problem})", closed=closed)
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
