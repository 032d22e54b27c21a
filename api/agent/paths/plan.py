"""Take a question apart, look up its parts in the order in which they need one another, check what is covered, answer.

A later part takes named fields of earlier results. A field counts only if it stands word for word in a block that was let in for that
part: what a model believes is no result. It is a document's text: whatever it is put into reaches a model as a JSON string. Parts
that nothing was found for are told to the model and to the reader.
"""

from collections.abc import Generator
from typing import TypeAlias, cast

from msgspec.structs import replace

from api.agent.ending import Steps, closed
from api.agent.ledger import shown_text
from api.agent.loop import run
from api.agent.observation import quoted
from api.agent.paths.answering import answer, hand_over, open_talk, start_over
from api.agent.paths.asides import aside, one_line
from api.agent.paths.pipeline import Gathered, gather
from api.agent.paths.planning import Plan, Refused, filled, needed, read_plan, unnamed, with_names
from api.agent.prompting import Asked, task
from api.agent.state import State
from api.agent.steps import Effect, Event, Noted
from shared.telemetry import names
from shared.text.fold import fold

FIELD_CHARS = 120

Planning: TypeAlias = Generator[Effect, Event | None, Plan | None]
Values: TypeAlias = dict[tuple[str, str], str]


def plan(state: State, asked: Asked, question: str) -> Steps:
    """`question`: standing alone. A question that no plan comes of goes to the loop."""
    made = yield from _planned(state, question)
    if made is None:
        yield from hand_over(state, "agent", "no_plan")
        start_over(state)
        state.start = replace(state.start, task=task(state.wording, asked, read_as=question))
        return (yield from run(state))
    open_talk(state, asked, read_as=question)
    values: Values = {}
    covered: list[Gathered] = []
    uncovered: list[str] = []
    unlooked: list[str] = []
    why: str | None = None
    for part in made.questions:
        text = filled(part, values)
        if why is None and text is not None:
            why = yield from closed(state)
        if why is not None:
            unlooked.append(text or part.question)
            continue
        if text is None:
            uncovered.append(part.question)
            continue
        found = yield from gather(state, text, text, correct=True, keep=_kept(covered))
        why = found.closed
        if found.verdict == "insufficient":
            (uncovered if why is None else unlooked).append(text)
            continue
        covered.append(found)
        fields = needed(made, part)
        if fields:
            values.update((yield from _results(state, part.id, text, fields, found)))
    if uncovered:
        state.limit("plan_uncovered", questions=uncovered)
    if unlooked:
        state.limit("plan_unlooked", questions=unlooked)
    return (yield from answer(state, uncovered=uncovered, unlooked=unlooked, closed=why))


def _planned(state: State, question: str) -> Planning:
    """A plan of two parts or more, after one chance to mend it.

    It leaves out no exact name of the question: what the model's parts still lack is a part of its own.
    """
    fault: Refused | None = None
    usable: Plan | None = None
    for _ in range(2):
        prompt = state.wording.render(
            "decompose",
            question=quoted(question),
            fault=None if fault is None else fault.fault,
            detail="" if fault is None else fault.detail,
        )
        made = yield from aside(state, "decompose", prompt, read_plan)
        if made is None:
            break
        if isinstance(made, Plan):
            if len(made.questions) == 1:
                return None
            usable, lost = made, unnamed(made, question)
            if not lost:
                break
            made = Refused(fault="names_missing", detail=", ".join(map(quoted, lost)))
        fault = made
        yield Noted(event=names.PLAN_REFUSED, values={"fault": fault.fault})
    return None if usable is None else with_names(usable, unnamed(usable, question))


def _results(
    state: State, part: str, question: str, fields: tuple[str, ...], found: Gathered
) -> Generator[Effect, Event | None, Values]:
    """The fields that the evidence for this part really shows."""
    blocks = {one.block_id: one for look in found.looks for one in look.blocks}
    shown = fold("\n".join(map(shown_text, blocks.values())))
    prompt = state.wording.render(
        "extract",
        question=quoted(question),
        fields=list(map(quoted, fields)),
        blocks=[quoted(one.seen) for one in blocks.values()],
    )
    given = (yield from aside(state, "extract", prompt, _fields)) or {}
    values: Values = {}
    for field in fields:
        value = one_line(given.get(field), most=FIELD_CHARS)
        if value is not None and fold(value) in shown:
            values[part, field] = value
    return values


def _fields(found: dict[str, object]) -> dict[str, object] | None:
    fields = found.get("fields", found)
    return cast("dict[str, object]", fields) if isinstance(fields, dict) else None


def _kept(covered: list[Gathered]) -> frozenset[str]:
    return frozenset(block_id for one in covered for block_id in one.blocks)
