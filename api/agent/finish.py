"""From the loop's outcome to the answer as delivered: citations resolved, numbered and checked; nothing unverified leaves.

Pure. Source: spec/05 "Answer".
"""

from collections.abc import Generator, Iterable

from msgspec import Struct
from msgspec.structs import replace

from api.agent.citations import Claim, Resolved, resolve, without
from api.agent.cited import CheckedClaim, citation, problem
from api.agent.decisions import Ending, Finish
from api.agent.harmless import harmless
from api.agent.ledger import Ledger, shown_text
from api.agent.leftovers import without_leftovers
from api.agent.limiting import limitation
from api.agent.stated import is_frame, stated, tells_of_search
from api.agent.steps import Outcome, Wording
from api.agent.verify import Checked, check
from api.agent.wordless import wordless
from shared.aside import at_once
from shared.types.runs import Citation, CitationMode, ClaimCheck, Limitation, Status


class Judged(Struct, frozen=True, kw_only=True):
    """A model's text against its ledger. `claims`: the cited sentences and the uncited ones that no source shows, in order."""

    resolved: Resolved
    claims: tuple[CheckedClaim, ...]

    @property
    def doubtful(self) -> list[CheckedClaim]:
        return [one for one in self.claims if one.doubtful]

    @property
    def unshown(self) -> list[CheckedClaim]:
        """Those `doubtful`, and those without a source that state what words can't look up."""
        return [one for one in self.claims if one.doubtful or not one.cited]

    @property
    def unproved(self) -> list[CheckedClaim]:
        """Those at a source of which a name or a unit perhaps isn't shown there."""
        return [one for one in self.claims if one.cited and one.checked.unproved]


class Verified(Struct, frozen=True, kw_only=True):
    """What the reader gets, and for the trace how every cited sentence was judged and what was taken out."""

    status: Status
    reason: str  # the run's, or "unsupported" when nothing of the answer was left
    text: str
    citations: tuple[Citation, ...]
    limitations: tuple[Limitation, ...]  # those of the run, then those of the answer
    checks: tuple[ClaimCheck, ...] = ()
    claims: tuple[CheckedClaim, ...] = ()
    removed: tuple[str, ...] = ()


_STATUS: dict[Ending, Status] = {"answer": "complete", "refusal": "refused", "clarification": "clarification"}


def finishing(
    outcome: Outcome,
    *,
    wording: Wording,
    question: str = "",
    standing: tuple[Limitation, ...] = (),
    mode: CitationMode = "flag",
    fixed: bool = False,
) -> Generator[None, None, Verified]:
    """Verify a finished run's text against its ledger, or state why there is none.

    Whatever the mode and the ending: a claim in the delivered text that is unsupported comes with a limitation, and the answer is
    not complete. `question`: as asked; a question back may repeat its figures. `standing`: limitations that hold for the run
    whatever the model did, e.g. a partial snapshot. `mode` strict: sentences that no source shows are dropped and said to be missing;
    one that may name another than its source does stays, with a limitation. `fixed`: no model wrote the text; what it says beside
    quotations are the bundle's words, so that a refusal or a question back claims nothing.
    Pauses after every sentence: an answer of thirty takes tenths of a second.
    """
    limitations = (*standing, *outcome.limitations)
    if not isinstance(outcome.ending, Finish):
        text = wording.render("failure", code=outcome.ending.code, message=outcome.ending.message)
        return Verified(status="failed", reason=outcome.reason, text=text, citations=(), limitations=limitations)
    dropped = 0
    if fixed and outcome.ending.ending != "answer":
        judged = Judged(resolved=_resolved(harmless(outcome.ending.text), outcome.ledger), claims=())
    elif mode == "strict":
        judged, dropped = yield from _dropping(outcome, question)
    else:
        judged = yield from _judged(_as_read(outcome, question), outcome.ledger, question)
    resolved, claims = judged.resolved, judged.claims
    citations = tuple(
        citation(number, outcome.ledger.of(block_id), claims, wording)
        for number, block_id in zip(resolved.numbers, resolved.block_ids, strict=True)
    )
    found = _found_limitations(
        outcome.ending.ending,
        citations,
        judged,
        dropped=dropped,
        looked_up=_looked_up(outcome),
        mode=mode,
        wording=wording,
    )
    status, reason = _STATUS[outcome.ending.ending], outcome.reason
    if status == "complete" and (outcome.closed or any(one.code in _MAKES_PARTIAL for one in (*limitations, *found))):
        status = "partial"
    text = resolved.text
    if dropped and wordless(text, signs=False):
        status, reason, text = "refused", "unsupported", wording.render("failure", code="unsupported")
    return Verified(
        status=status,
        reason=reason,
        text=text,
        citations=citations,
        limitations=(*limitations, *found),
        checks=tuple(_check_told(one, resolved, wording) for one in claims),
        claims=claims,
        removed=resolved.removed,
    )


def judge(outcome: Outcome, question: str) -> Judged:
    """How every sentence of the answer stands with what was read. `outcome` ends with a Finish."""
    return at_once(_judged(_as_read(outcome, question), outcome.ledger, question))


def _as_read(outcome: Outcome, question: str) -> str:
    """The model's text as far as it is for readers. Where nothing was looked up no source is missing, and brackets are what they are."""
    assert isinstance(outcome.ending, Finish)
    text = harmless(outcome.ending.text)
    return without_leftovers(text, [*_read(outcome.ledger), question]) if _looked_up(outcome) else text


def _looked_up(outcome: Outcome) -> bool:
    return all(one.code != "not_looked_up" for one in outcome.limitations)


def _read(ledger: Ledger) -> list[str]:
    return [entry.seen for entry in ledger.entries]


def _judged(text: str, ledger: Ledger, question: str) -> Generator[None, None, Judged]:
    resolved = resolve(text, ledger.blocks, shown=_read(ledger))
    claims: list[CheckedClaim] = []
    for claim in resolved.claims:
        yield
        claims.append(_checked(claim, ledger))
    for claim in resolved.unmarked:
        yield
        if (uncited := _uncited(claim, ledger, question)) is not None:
            claims.append(uncited)
    claims.sort(key=lambda one: one.claim.start)
    return Judged(resolved=resolved, claims=tuple(claims))


def _resolved(text: str, ledger: Ledger) -> Resolved:
    return resolve(text, ledger.blocks, shown=[entry.seen for entry in ledger.entries])


def _uncited(claim: Claim, ledger: Ledger, question: str) -> CheckedClaim | None:
    """None for a sentence that states nothing, or nothing but what its paragraph's sources show.

    A heading, a question back and a word on what was looked for stand for no paragraph: anything that was read or asked may show
    their figures.
    """
    said = stated(claim.sentence)
    if said == "nothing":
        return None
    apart = is_frame(claim.sentence) or tells_of_search(claim.sentence)
    evidence = [*_evidence(ledger.blocks, ledger), question] if apart else None
    one = _checked(claim, ledger, cited=False, evidence=evidence)
    if one.checked.verdict == "supported" or (said == "facts" and not one.doubtful):
        return None
    if said == "something":
        return replace(one, checked=Checked(verdict="unchecked", missing=(), score=one.checked.score, reason="uncited"))
    return one


def _dropping(outcome: Outcome, question: str) -> Generator[None, None, tuple[Judged, int]]:
    """Without the sentences that no source shows, and how many those were; what stood beside them may lose its support with them.

    Of a refusal or a question back only facts are dropped: it speaks of the search, which no source shows.
    """
    assert isinstance(outcome.ending, Finish)
    text, dropped = _as_read(outcome, question), 0
    judged = yield from _judged(text, outcome.ledger, question)
    while wrong := judged.unshown if outcome.ending.ending == "answer" else judged.doubtful:
        text = without(text, [one.claim for one in wrong])
        dropped += len(wrong)
        judged = yield from _judged(text, outcome.ledger, question)
    return judged, dropped


def _check_told(one: CheckedClaim, resolved: Resolved, wording: Wording) -> ClaimCheck:
    numbers = dict(zip(resolved.block_ids, resolved.numbers, strict=True))
    return ClaimCheck(
        sentence=one.claim.sentence,
        markers=tuple(numbers[block_id] for block_id in one.claim.block_ids) if one.cited else (),
        verdict=one.checked.verdict,
        problem=problem([one], wording) if one.has_problem else None,
    )


_MAKES_PARTIAL = frozenset(
    {
        "answer_cut",
        "citation_unproved",
        "citation_unsupported",
        "claims_dropped",
        "claims_unchecked",
        "context_budget_exceeded",
        "no_citation",
        "plan_uncovered",
        "plan_unlooked",
        "provider_cut_prompt",
        "request_budget_exceeded",
        "tool_failed",
        "uncited_claims",
    }
)
_NAMED = 5  # sentences of a kind
_SENTENCE_CHARS = 160


def _found_limitations(
    ending: Ending,
    citations: tuple[Citation, ...],
    judged: Judged,
    *,
    dropped: int,
    looked_up: bool,
    mode: CitationMode,
    wording: Wording,
) -> list[Limitation]:
    found: list[Limitation] = []

    def limit(code: str, **values: object) -> None:
        found.append(limitation(wording, code, **values))

    if judged.resolved.removed:
        limit("citation_removed", count=len(judged.resolved.removed))
    if dropped:
        limit("claims_dropped", count=dropped)
    doubtful = [one for one in judged.doubtful if one.cited]
    if doubtful:
        limit("citation_unsupported", count=len(doubtful), problems=_told(doubtful[:_NAMED], judged.resolved, wording))
    if mode == "strict" and judged.unproved:
        limit(
            "citation_unproved",
            count=len(judged.unproved),
            problems=_told(judged.unproved[:_NAMED], judged.resolved, wording),
        )
    uncited = [one.claim.sentence for one in judged.doubtful if not one.cited]
    if ending == "answer" and looked_up and not citations:
        limit("no_citation")
    elif uncited:
        named = [_one_line(one) for one in uncited[:_NAMED]]
        limit("uncited_claims", count=len(uncited), sentences=named)
    return found


def _told(claims: Iterable[CheckedClaim], resolved: Resolved, wording: Wording) -> list[str]:
    """Which sentence, at which marks, and why. What was code in the answer is none here: cut short, it could end anywhere."""
    checks = [_check_told(one, resolved, wording) for one in claims]
    return [
        f"“{_one_line(one.sentence).replace('`', '')}” {''.join(f'[{n}]' for n in one.markers)} — {one.problem}"
        for one in checks
    ]


def _one_line(sentence: str) -> str:
    line = " ".join(sentence.split())
    return line if len(line) <= _SENTENCE_CHARS else f"{line[: _SENTENCE_CHARS - 1]}…"


def _checked(claim: Claim, ledger: Ledger, *, cited: bool = True, evidence: list[str] | None = None) -> CheckedClaim:
    """`evidence`: other than the blocks of the claim."""
    shown = _evidence(claim.block_ids, ledger) if evidence is None else evidence
    return CheckedClaim(claim=claim, checked=check(claim.sentence, shown), cited=cited)


def _evidence(block_ids: Iterable[str], ledger: Ledger) -> list[str]:
    return [shown_text(entry) for block_id in block_ids for entry in ledger.of(block_id)]
