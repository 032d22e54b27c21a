"""Search once, judge what came, answer: two model calls where the loop would need three or more.

What is judged ambiguous is looked up again in other words; what is insufficient is dropped and looked for another way, or handed to
the loop where nobody forced this path. Exact names are never reworded: they are searched for as they stand, then scanned for.
"""

from collections.abc import Generator
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from api.agent import brakes
from api.agent.ending import Steps, closed
from api.agent.exact_names import exact_names
from api.agent.loop import run
from api.agent.paths import query_tools
from api.agent.paths.answering import answer, hand_over, open_talk, start_over
from api.agent.paths.evidence import Look, drop, kept, scan, search
from api.agent.paths.sufficiency import Sufficiency, judge, signals, unusable
from api.agent.prompting import Asked, task
from api.agent.state import State
from api.agent.steps import Braked, Effect, Event, Noted
from shared.telemetry import names

MORE_LOOKS = 2  # after the first, whichever way

Judging: TypeAlias = Generator[Effect, Event | None, Sufficiency]


class Gathered(Struct, frozen=True, kw_only=True):
    """What was found for one question and kept. `closed`: why it was not looked for any further, where it should have been."""

    looks: tuple[Look, ...]
    verdict: Sufficiency
    closed: str | None = None

    @property
    def blocks(self) -> frozenset[str]:
        return frozenset(one.block_id for look in self.looks for one in look.blocks)


Gathering: TypeAlias = Generator[Effect, Event | None, Gathered]


def pipeline(state: State, asked: Asked, question: str, *, may_hand_over: bool) -> Steps:
    """`question`: standing alone. `may_hand_over`: the loop takes over when the evidence does not suffice."""
    open_talk(state, asked, read_as=question)
    why = yield from closed(state)
    if why is not None:
        return (yield from answer(state, closed=why))
    query = question if exact_names(question) else ((yield from query_tools.rewrite(state, question)) or question)
    gathered = yield from gather(state, question, query, correct=not may_hand_over)
    why = gathered.closed
    if why is None and gathered.verdict == "insufficient" and may_hand_over:
        why = yield from closed(state)
        if why is None:
            yield from hand_over(state, "agent", "insufficient")
            start_over(state)
            state.start = replace(state.start, task=task(state.wording, asked, read_as=question))
            return (yield from run(state))
    return (yield from answer(state, careful=gathered.verdict == "ambiguous", closed=why))


def gather(state: State, question: str, query: str, *, correct: bool, keep: frozenset[str] = frozenset()) -> Gathering:
    """Search for one question, judge, and correct: drop what is unusable and look again.

    `correct` False: what is insufficient is left to the caller. `keep`: blocks of other questions, never dropped.
    The gain brake counts within one question: another one may well find the same blocks, and they are no less its evidence.
    """
    state.no_gain = 0
    first = yield from search(state, query, question=question)
    if not isinstance(first, Look):
        return Gathered(looks=(), verdict="insufficient", closed=first)
    verdict = yield from _judged(state, question, (first,))
    if verdict == "sufficient":
        return Gathered(looks=(first,), verdict=verdict)
    if verdict == "insufficient":
        yield from drop(state, (first,), _droppable((first,), keep), reason="insufficient")
        if not correct:
            return Gathered(looks=(), verdict=verdict)
        return (yield from _again(state, question, (), keep))
    return (yield from _again(state, question, (first,), keep))


def _again(state: State, question: str, before: tuple[Look, ...], keep: frozenset[str]) -> Gathering:
    """Look in other words, then judge all of it once more. `before`: what an ambiguous first search showed."""
    looks = list(before)
    queries: list[tuple[str, str]] = []
    why = yield from closed(state)
    if why is None:
        queries = (yield from _other_words(state, question, ambiguous=bool(before)))[:MORE_LOOKS]
    for kind, query in queries:
        why = yield from closed(state)
        if why is not None:
            break
        if before and brakes.spins(state.no_gain):  # it is found, in whatever words; what is insufficient is not
            yield Braked(kind="brake_gain")
            break
        look = yield from (
            scan(state, query, question=question)
            if kind == "scan"
            else search(state, query, question=question, purpose=kind)
        )
        if not isinstance(look, Look):
            why = look
            break
        looks.append(look)
    verdict = yield from _judged(state, question, looks)
    gone = _droppable(looks, keep) if verdict == "insufficient" else unusable(question, looks) - keep
    yield from drop(state, looks, gone, reason=verdict)
    return Gathered(looks=tuple(kept(look, gone) for look in looks), verdict=verdict, closed=why)


def _other_words(
    state: State, question: str, *, ambiguous: bool
) -> Generator[Effect, Event | None, list[tuple[str, str]]]:
    """(purpose, query) of further look-ups, the likeliest first."""
    exact = exact_names(question)
    if exact:
        return [("scan", exact[0]), ("search", " ".join(exact))]
    if ambiguous:
        queries = (yield from query_tools.multi_query(state, question)) or ()
        return [("multi_query", query) for query in queries]
    wider = yield from query_tools.step_back(state, question)
    imagined = yield from query_tools.hyde(state, question)
    return [(kind, query) for kind, query in (("hyde", imagined), ("step_back", wider)) if query]


def _judged(state: State, question: str, looks: tuple[Look, ...] | list[Look]) -> Judging:
    """The verdict, with what it was made of in the trace."""
    found = signals(question, looks)
    verdict = judge(found)
    values: dict[str, str | int | float | bool] = {
        "verdict": verdict,
        "blocks": found.blocks,
        "coverage": found.coverage,
        "missing": len(found.missing),
        "mismatched": len(found.mismatched),
        "foreign": found.foreign,
    }
    compared = {"gap": found.gap, "agreement": found.agreement}
    values |= {name: value for name, value in compared.items() if value is not None}
    yield Noted(event=names.SUFFICIENCY, values=values)
    return verdict


def _droppable(looks: tuple[Look, ...] | list[Look], keep: frozenset[str]) -> frozenset[str]:
    return frozenset(one.block_id for look in looks for one in look.blocks) - keep
