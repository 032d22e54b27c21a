"""Answer without looking anything up: small talk, and work on a text that stands in the message. It cites nothing and says so."""

from msgspec.structs import replace

from api.agent.ending import Steps, last
from api.agent.prompting import Asked, task
from api.agent.protocols import offered
from api.agent.state import State


def direct(state: State, asked: Asked) -> Steps:
    state.start = replace(state.start, tools=frozenset())  # their names are words like any other here
    state.talk.offer(offered(state.start, final=True))
    state.talk.say("system", state.wording.render("direct"))
    state.limit("not_looked_up")
    return (yield from last(state, lambda _: task(state.wording, asked), closed=None, purpose="direct"))
