"""Ask the model for something beside the conversation: a query, a plan, a judgement. It costs like any other call.

An aside is a turn of its own, with a prompt of the bundle, in the same budgets, with the same retry. What can't be had, because the
budget, the time or the provider does not allow it or the reply is no use, is None: a path goes on without it.
"""

from collections.abc import Callable, Generator
from typing import TypeAlias, TypeVar

from api.agent import metering
from api.agent.arguments import Unreadable, read_object
from api.agent.asking import ask
from api.agent.budget import Admitted
from api.agent.conversation import Conversation
from api.agent.hidden import without_hidden
from api.agent.metering import Context
from api.agent.state import State
from api.agent.steps import Effect, Event, Noted, Replied
from shared.telemetry import names
from shared.types.events import TurnStarted

T = TypeVar("T")
Aside: TypeAlias = Generator[Effect, Event | None, T | None]

MOST_TRIES = 20  # opening brackets looked at in one reply


def aside(
    state: State, purpose: str, prompt: str, read: Callable[[dict[str, object]], T | None], *, last: bool = False
) -> Aside[T]:
    """`prompt`: the whole message; the reply must hold a JSON object, which `read` makes something of, or None.

    `last`: the answer stands already, and what was kept back for it may be used.
    """
    state.turn += 1
    yield TurnStarted(turn=state.turn, final=False, purpose=purpose)
    reply = yield from _reply(state, prompt, last=last)
    found = None if reply is None else replied_object(reply)
    value = None if found is None else read(found)
    yield Noted(event=names.QUERY_TOOL, values={"name": purpose, "used": value is not None})
    return value


def last_is_affordable(state: State, prompt: str) -> bool:
    """Whether an aside that nothing comes after can be sent and paid for."""
    return _is_affordable(state, _beside(state, prompt), last=True)


def _reply(state: State, prompt: str, *, last: bool) -> Generator[Effect, Event | None, str | None]:
    beside = _beside(state, prompt)
    until_ms = state.deadlines.run_ms if last else state.deadlines.tools_ms
    if state.elapsed_ms >= until_ms or not _is_affordable(state, beside, last=last):
        return None
    own, state.talk = state.talk, beside
    try:
        reply = yield from ask(state, final=last)
    finally:
        state.talk = own
    return reply.text if isinstance(reply, Replied) else None


def _is_affordable(state: State, beside: Conversation, *, last: bool) -> bool:
    context = beside.context if last else metering.grown(_ahead(state), beside.context.added)
    return isinstance(state.afford(final=last, context=context), Admitted)


def _beside(state: State, prompt: str) -> Conversation:
    beside = Conversation(state.count)
    beside.say("user", prompt)
    return beside


def _ahead(state: State) -> Context:
    """What the run itself sends next, at least: before it has said anything, its opening."""
    if state.talk.context != Context():
        return state.talk.context
    return metering.grown(Context(), state.talk.size(state.start.system) + state.talk.size(state.start.task))


def replied_object(text: str) -> dict[str, object] | None:
    """The JSON object of a reply, with whatever stands round it."""
    said = without_hidden(text, acts_at=None) or ""
    at = -1
    for _ in range(MOST_TRIES):
        at = min((place for sign in "{｛" if (place := said.find(sign, at + 1)) >= 0), default=-1)
        if at < 0:
            return None
        try:
            read = read_object(said, at)
        except Unreadable:
            continue
        if not read.unclosed and read.value:
            return read.value
    return None


def one_line(value: object, *, most: int) -> str | None:
    """A string that a model gave, as one line; None for anything else, for nothing, and for what is longer than `most`."""
    if not isinstance(value, str):
        return None
    line = " ".join(value.split())
    return line if 0 < len(line) <= most else None
