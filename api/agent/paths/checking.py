"""For what must be right: let the loop answer, then look every claim up once more and drop what does not hold.

Half of the tool calls are kept back for it. A claim goes when the model finds the evidence against it, or when neither the model nor
the words find it shown; one that was not looked up again, or that the model gave no verdict on, is counted and told: the answer is partial.

It is the last thing that happens to an answer, so nothing that it drops comes back, and nothing of the conversation is sent again:
each claim is looked up beside it, and the model is asked about as many claims at once as fit (decision 0141).
"""

from collections.abc import Generator, Sequence
from typing import Literal, TypeAlias, cast

from msgspec import Struct
from msgspec.structs import replace

from api.agent.citations import Claim, resolve, without
from api.agent.conversation import Conversation
from api.agent.decisions import Finish
from api.agent.ending import Steps, closed
from api.agent.harmless import harmless
from api.agent.ledger import shown_text
from api.agent.observation import quoted
from api.agent.paths.asides import aside, last_is_affordable
from api.agent.paths.evidence import Look, search
from api.agent.state import State
from api.agent.stated import stated
from api.agent.steps import Effect, Event, Outcome
from api.agent.verify import check
from api.agent.wordless import wordless
from shared.types.runs import LedgerEntry

Opinion = Literal["supported", "contradicted", "not_shown"]
Opining: TypeAlias = Generator[Effect, Event | None, list[Opinion | None]]
_OPINIONS: tuple[Opinion, ...] = ("supported", "contradicted", "not_shown")


class Checked(Struct, frozen=True, kw_only=True):
    """`claims`: every one of this wording. `shown`: the blocks they cite and those that the search for it brought."""

    claims: tuple[Claim, ...]
    shown: tuple[LedgerEntry, ...]

    @property
    def sentence(self) -> str:
        return self.claims[0].sentence


def verified(state: State, steps: Steps) -> Steps:
    """`steps`: what answers, with half of the tool calls."""
    whole = state.limits.max_tool_calls
    state.limits = replace(state.limits, max_tool_calls=whole - whole // 2)
    outcome = yield from steps
    state.limits = replace(state.limits, max_tool_calls=whole)
    if not isinstance(outcome.ending, Finish) or outcome.ending.ending != "answer":
        return outcome
    text = harmless(outcome.ending.text)
    said = _said(text, state)
    checked = yield from _looked_up(state, said)
    opinions = yield from _opinions(state, checked)
    judged = list(zip(checked, opinions, strict=True))
    left = sum(map(len, said)) - sum(len(one.claims) for one, opinion in judged if opinion is not None)
    if left:
        state.limit("claims_unchecked", count=left)
    wrong = [claim for one, opinion in judged if _fails(one, opinion) for claim in one.claims]
    return _mended(state, outcome, outcome.ending, text, wrong)


def _said(text: str, state: State) -> list[tuple[Claim, ...]]:
    """Sentences that cite or state facts, by their wording; those that words already doubt first: they are looked up while calls are left."""
    resolved = resolve(text, state.ledger.blocks, shown=[entry.seen for entry in state.ledger.entries])
    claims = [*resolved.claims, *(one for one in resolved.unmarked if stated(one.sentence) == "facts")]
    alike: dict[str, list[Claim]] = {}
    for claim in sorted(claims, key=lambda one: one.start):
        alike.setdefault(claim.sentence, []).append(claim)
    order = {"unsupported": 0, "unchecked": 1, "supported": 2}

    def doubt(claims: tuple[Claim, ...]) -> int:
        return order[check(claims[0].sentence, [shown_text(entry) for entry in _cited(claims, state)]).verdict]

    return sorted(map(tuple, alike.values()), key=doubt)


def _looked_up(state: State, said: Sequence[tuple[Claim, ...]]) -> Generator[Effect, Event | None, list[Checked]]:
    checked: list[Checked] = []
    for claims in said:
        state.talk = Conversation(state.count)
        if (yield from closed(state)) is not None:
            break
        claim = claims[0].sentence
        look = yield from search(state, claim, question=claim, purpose="check")
        if not isinstance(look, Look):
            break
        shown = {entry.block_id: entry for entry in (*_cited(claims, state), *look.blocks)}
        checked.append(Checked(claims=claims, shown=tuple(shown.values())))
    return checked


def _opinions(state: State, checked: Sequence[Checked]) -> Opining:
    """What the model says of each, in halves where all of it is too much at once; None of those that it can't be asked about."""
    if not checked:
        return []
    blocks = {entry.block_id: entry for one in checked for entry in one.shown}
    prompt = state.wording.render(
        "check",
        claims=[quoted(one.sentence) for one in checked],
        blocks=[quoted(f"{entry.title} › {entry.section_path}: {entry.seen}") for entry in blocks.values()],
    )
    given = yield from aside(state, "check", prompt, _read, last=True)
    if given is None and len(checked) > 1 and not last_is_affordable(state, prompt):
        half = len(checked) // 2
        first = yield from _opinions(state, checked[:half])
        return [*first, *(yield from _opinions(state, checked[half:]))]
    return [(given or {}).get(number) for number in range(1, len(checked) + 1)]


def _read(found: dict[str, object]) -> dict[int, Opinion] | None:
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
    by_words = check(one.sentence, [shown_text(entry) for entry in one.shown]).verdict
    return by_words == "unsupported" if opinion is None else opinion == "not_shown" and by_words != "supported"


def _mended(state: State, outcome: Outcome, ending: Finish, text: str, wrong: Sequence[Claim]) -> Outcome:
    if wrong:
        state.limit("claims_dropped", count=len(wrong))
        text = without(text, list(wrong)).strip()
        ending = replace(ending, text=text)
    reason = outcome.reason
    if wrong and wordless(text, signs=False):
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


def _cited(claims: Sequence[Claim], state: State) -> list[LedgerEntry]:
    ids = dict.fromkeys(block_id for claim in claims for block_id in claim.block_ids)
    return [entry for block_id in ids for entry in state.ledger.of(block_id)]
