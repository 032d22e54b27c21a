"""How the paths that look things up by themselves begin, hand over and answer from what was let in."""

from collections.abc import Generator, Sequence
from typing import TypeAlias

from api.agent.conversation import Conversation
from api.agent.ending import Steps, last
from api.agent.ledger import Ledger
from api.agent.observation import quoted
from api.agent.prompting import Asked, task
from api.agent.protocols import offered
from api.agent.state import State
from api.agent.steps import Effect, Event, Noted
from shared.telemetry import names
from shared.types.runs import PathName

Opening: TypeAlias = Generator[Effect, Event | None, None]


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
    state.let_in.clear()
    state.no_gain = 0
    state.remembered.clear()


def hand_over(state: State, path: PathName, reason: str) -> Opening:
    """Say in the trace that another path takes over."""
    yield Noted(event=names.ROUTE, values={"path": path, "reason": reason, "forced": False})


def answer(
    state: State,
    *,
    uncovered: Sequence[str] = (),
    unlooked: Sequence[str] = (),
    careful: bool = False,
    closed: str | None = None,
) -> Steps:
    """`uncovered`, `unlooked`: parts of the question that nothing was found for, that the search was not done with. `careful`: what was found may not be what is meant.
    `closed`: why looking things up ended early, if it did.
    """

    def request(closed: str | None) -> str:
        return state.wording.render(
            "answer",
            blocks=len(state.ledger.blocks),
            uncovered=list(map(quoted, uncovered)),
            unlooked=list(map(quoted, unlooked)),
            careful=careful,
            closed=closed is not None,
            protocol=state.start.protocol,
        )

    return (yield from last(state, request, closed=closed, purpose="answer"))
