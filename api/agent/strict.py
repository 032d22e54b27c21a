"""Strict citations: an answer whose sentences aren't all supported is sent back to the model once. Pure, like the loop.

What is still not supported after that is dropped by `finish`; a name or unit that is still not proved makes the answer partial.
Source: spec/05 "Strict mode repairs once by asking the model, then drops the claim".
"""

from msgspec import Struct
from msgspec.structs import replace

from api.agent.cited import CheckedClaim, problem
from api.agent.decisions import Finish
from api.agent.ending import Steps, last_decision
from api.agent.finish import Judged, judge
from api.agent.observation import quoted
from api.agent.state import State
from shared.types.events import TurnStarted


class Doubt(Struct, frozen=True, kw_only=True):
    """A sentence as the model wrote it, and what is wrong with it in words: JSON strings, for both may repeat what a document says."""

    sentence: str
    problem: str


def repairing(steps: Steps, state: State, *, question: str = "") -> Steps:
    """Run `steps` to their outcome; if sentences of its answer aren't supported, let the model mend it once.

    The repair is a last turn without tools, on what is left of budget and time; when it fails or is cut, or brings no
    better answer, the first one stands. `question`: as asked.
    """
    outcome = yield from steps
    if not isinstance(outcome.ending, Finish) or outcome.ending.ending != "answer":
        return outcome
    judged = judge(outcome, question)
    if not judged.unshown and not judged.unproved:
        return outcome
    state.turn += 1
    yield TurnStarted(turn=state.turn, final=True)
    doubts = _doubts([*judged.unshown, *judged.unproved], state)
    state.talk.say("user", state.wording.render("repair", doubts=doubts, protocol=state.start.protocol))
    decision = yield from last_decision(state)
    spent = replace(outcome, spent=state.spent, limitations=tuple(state.limitations), turns=state.turn)
    if not isinstance(decision, Finish) or decision.cut or decision.ending == "clarification":
        return spent
    repaired = replace(spent, ending=decision, reason="refused" if decision.ending == "refusal" else outcome.reason)
    again = judge(repaired, question)
    without_source = bool(judged.resolved.block_ids) and not again.resolved.block_ids and decision.ending == "answer"
    return spent if without_source or _wrong(again) > _wrong(judged) else repaired


def _wrong(judged: Judged) -> tuple[int, int]:
    return len(judged.unshown), len(judged.unproved)


def _doubts(claims: list[CheckedClaim], state: State) -> list[Doubt]:
    return [Doubt(sentence=quoted(one.claim.sentence), problem=quoted(problem([one], state.wording))) for one in claims]
