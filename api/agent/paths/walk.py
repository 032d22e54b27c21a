"""From the router's decision to the run: every path is a generator of the same effects as the loop, for the same driver.

So budgets, admission, retries, deadlines, the ledger, verification and the trace hold for all of them by construction (decision 0078).
"""

from typing import assert_never

from msgspec.structs import replace

from api.agent.ending import Steps
from api.agent.loop import run
from api.agent.paths import query_tools
from api.agent.paths.checking import verified
from api.agent.paths.direct import direct
from api.agent.paths.pipeline import pipeline
from api.agent.paths.plan import plan
from api.agent.paths.router import Route
from api.agent.prompting import Asked, task
from api.agent.state import State
from api.agent.steps import Noted
from api.agent.strict import repairing
from shared.telemetry import names


def walk(state: State, asked: Asked, route: Route, *, has_model: bool, strict: bool = False) -> Steps:
    """Decide a whole run. `state`: a new one. `has_model` False: nobody can put a follow-up into words; `asked.plain` is used.

    `strict`: what no source shows is mended once, before claims are looked up again: what does not hold then can't come back.
    """
    steps = _answered(state, asked, route, has_model=has_model)
    if strict:
        steps = repairing(steps, state, question=asked.question)
    return (yield from (verified(state, steps) if route.path == "verify" else steps))


def _answered(state: State, asked: Asked, route: Route, *, has_model: bool) -> Steps:
    forced = route.reason == "forced"
    yield Noted(event=names.ROUTE, values={"path": route.path, "reason": route.reason, "forced": forced})
    if route.path == "direct":
        return (yield from direct(state, asked))
    question = asked.plain
    if asked.leans and has_model:
        question = (yield from query_tools.standalone(state, asked)) or question
    match route.path:
        case "pipeline":
            return (yield from pipeline(state, asked, question, may_hand_over=not forced))
        case "plan":
            return (yield from plan(state, asked, question))
        case "agent" | "verify":
            state.start = replace(state.start, task=task(state.wording, asked, read_as=question))
            return (yield from run(state))
        case _:
            assert_never(route.path)
