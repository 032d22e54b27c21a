"""The last call of a path: the answer from what was let in, without tools, ended in the run's protocol."""

from collections.abc import Generator, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from api.agent.asking import ask_last
from api.agent.conversation import Conversation
from api.agent.decisions import Ending, Finish, ProtocolError
from api.agent.ledger import Ledger
from api.agent.loop import Steps
from api.agent.prompting import Asked, task
from api.agent.protocols import decide, offered
from api.agent.state import State
from api.agent.steps import AskFailed, Effect, Event, Misspoken, Noted, Outcome
from shared.telemetry import names
from shared.types.events import Thought, TurnStarted
from shared.types.runs import PathName, ToolName

Opening: TypeAlias = Generator[Effect, Event | None, None]

_FINISHED: dict[Ending, str] = {"answer": "finished", "refusal": "refused", "clarification": "clarification"}
_NO_TOOLS: frozenset[ToolName] = frozenset()


def open_talk(state: State, asked: Asked, *, read_as: str | None) -> None:
    """Begin the conversation of a path that looks things up by itself: how to answer, what the snapshot holds, the question."""
    state.talk.offer(offered(state.start, final=True))
    start = state.start
    state.talk.say("system", state.wording.render("answering", collection=start.collection, protocol=start.protocol))
    state.talk.say("user", task(state.wording, asked, read_as=read_as))


def start_over(state: State) -> None:
    """Forget what was said and let in; what was spent stays spent."""
    state.talk = Conversation(state.count)
    state.ledger = Ledger()
    state.unread = None
    state.no_gain = 0
    state.remembered.clear()


def hand_over(state: State, path: PathName, reason: str) -> Opening:
    """Say in the trace that another path takes over."""
    yield Noted(event=names.ROUTE, values={"path": path, "reason": reason, "forced": False})


def answer(state: State, *, uncovered: Sequence[str] = (), careful: bool = False, closed: str | None = None) -> Steps:
    """`uncovered`: parts of the question that nothing was found for. `careful`: what was found may not be what is meant.
    `closed`: why looking things up ended early, if it did.
    """
    state.turn += 1
    yield TurnStarted(turn=state.turn, final=True, purpose="answer")
    blocks = len(state.ledger.blocks)
    state.talk.say(
        "user",
        state.wording.render(
            "answer",
            blocks=blocks,
            uncovered=list(uncovered),
            careful=careful,
            closed=closed is not None,
            protocol=state.start.protocol,
        ),
    )
    return (yield from last(state, closed=closed))


def last(state: State, *, closed: str | None = None) -> Steps:
    """The final call on the conversation as it stands."""
    reply = yield from ask_last(state)
    if isinstance(reply, AskFailed):
        code = "brake_time" if reply.code == "time" else reply.code
        return state.broken(code, reply.message, retryable=reply.retryable, closed=closed)
    decision = decide(reply, replace(state.start, tools=_NO_TOOLS), final=True)
    if decision.thought:
        yield Thought(turn=state.turn, text=decision.thought)
    if not isinstance(decision, Finish):
        problem = decision.problem if isinstance(decision, ProtocolError) else "tool_unavailable"
        yield Misspoken(problem=problem, detail="")
        return state.broken("finalization_failed", f"the last reply held no answer ({problem})", closed=closed)
    if decision.cut:
        state.limit("answer_cut")
    if closed is None and decision.kept:
        state.talk.say("assistant", decision.kept)
    return finished(state, decision, closed=closed)


def finished(state: State, decision: Finish, *, closed: str | None = None) -> Outcome:
    return state.outcome(decision, reason=closed or _FINISHED[decision.ending], closed=closed)
