"""For what must be right: let the loop answer, then look every claim up once more and drop what does not hold.

Half of the tool calls are kept back for it. A claim goes when the model finds the evidence against it, or when neither the model nor
the words find it shown; one that was not looked up again, or that the model gave no verdict on, is counted and told: the answer is partial.
"""

from collections.abc import Generator, Sequence
from typing import Literal, TypeAlias, cast

from msgspec import Struct
from msgspec.structs import replace

from api.agent.citations import Claim, resolve, without
from api.agent.decisions import Finish
from api.agent.ending import Steps, closed
from api.agent.harmless import harmless
from api.agent.ledger import shown_text
from api.agent.loop import run
from api.agent.observation import quoted
from api.agent.paths.asides import aside
from api.agent.paths.evidence import Look, search
from api.agent.state import State
from api.agent.stated import stated
from api.agent.steps import Effect, Event, Outcome
from api.agent.verify import check
from shared.types.runs import LedgerEntry

Opinion = Literal["supported", "contradicted", "not_shown"]
Opinions: TypeAlias = dict[int, Opinion]
_OPINIONS: tuple[Opinion, ...] = ("supported", "contradicted", "not_shown")


class Checked(Struct, frozen=True, kw_only=True):
    """`shown`: the blocks the claim cites and those that the search for it brought."""

    claim: Claim
    shown: tuple[LedgerEntry, ...]


def verified(state: State) -> Steps:
    whole = state.limits.max_tool_calls
    state.limits = replace(state.limits, max_tool_calls=whole - whole // 2)
    outcome = yield from run(state)
    state.limits = replace(state.limits, max_tool_calls=whole)
    if not isinstance(outcome.ending, Finish) or outcome.ending.ending != "answer":
        return outcome
    text = harmless(outcome.ending.text)
    claims = _claims(text, state)
    checked = yield from _looked_up(state, claims)
    opinions = yield from _opinions(state, checked)
    left = len(claims) - len(opinions.keys() & set(range(1, len(checked) + 1)))
    if left:
        state.limit("claims_unchecked", count=left)
    wrong = [one.claim for number, one in enumerate(checked, 1) if _fails(one, opinions.get(number))]
    return _mended(state, outcome, outcome.ending, text, wrong)


def _claims(text: str, state: State) -> list[Claim]:
    """Sentences that cite or state facts, those that words already doubt first: they are looked up while calls are left."""
    resolved = resolve(text, state.ledger.blocks, shown=[entry.seen for entry in state.ledger.entries])
    claims = [*resolved.claims, *(one for one in resolved.unmarked if stated(one.sentence) == "facts")]
    order = {"unsupported": 0, "unchecked": 1, "supported": 2}
    return sorted(
        claims,
        key=lambda one: (
            order[check(one.sentence, [shown_text(entry) for entry in _cited(one, state)]).verdict],
            one.start,
        ),
    )


def _looked_up(state: State, claims: Sequence[Claim]) -> Generator[Effect, Event | None, list[Checked]]:
    checked: list[Checked] = []
    for claim in claims:
        if (yield from closed(state)) is not None:
            break
        look = yield from search(state, claim.sentence, purpose="check")
        if not isinstance(look, Look):
            break
        shown = {entry.block_id: entry for entry in (*_cited(claim, state), *look.blocks)}
        checked.append(Checked(claim=claim, shown=tuple(shown.values())))
    return checked


def _opinions(state: State, checked: Sequence[Checked]) -> Generator[Effect, Event | None, Opinions]:
    """What the model says of each claim, by number; {} when it can't be asked."""
    if not checked:
        return {}
    blocks = {entry.block_id: entry for one in checked for entry in one.shown}
    prompt = state.wording.render(
        "check",
        claims=[quoted(one.claim.sentence) for one in checked],
        blocks=[quoted(f"{entry.title} › {entry.section_path}: {entry.seen}") for entry in blocks.values()],
    )
    return (yield from aside(state, "check", prompt, _read)) or {}


def _read(found: dict[str, object]) -> Opinions | None:
    given = found.get("verdicts", found)
    if not isinstance(given, dict):
        return None
    said = cast("dict[str, object]", given)
    return {
        int(number): opinion
        for number, value in said.items()
        if number.isdecimal()
        for opinion in _OPINIONS
        if value == opinion
    } or None


def _fails(one: Checked, opinion: Opinion | None) -> bool:
    if opinion == "contradicted":
        return True
    by_words = check(one.claim.sentence, [shown_text(entry) for entry in one.shown]).verdict
    return by_words == "unsupported" if opinion is None else opinion == "not_shown" and by_words != "supported"


def _mended(state: State, outcome: Outcome, ending: Finish, text: str, wrong: Sequence[Claim]) -> Outcome:
    if wrong:
        state.limit("claims_dropped", count=len(wrong))
        text = without(text, list(wrong)).strip()
        ending = replace(ending, text=text)
    reason = outcome.reason
    if not text:
        ending = replace(ending, ending="refusal", text=state.wording.render("failure", code="unsupported"))
        reason = "unsupported"
    return replace(
        outcome,
        ending=ending,
        reason=reason,
        ledger=state.ledger,
        spent=state.spent,
        limitations=tuple(state.limitations),
        turns=state.turn,
    )


def _cited(claim: Claim, state: State) -> list[LedgerEntry]:
    return [entry for block_id in claim.block_ids for entry in state.ledger.of(block_id)]
