"""From the loop's outcome to the answer as delivered: citations resolved, numbered and checked; nothing unverified leaves.

Pure. Source: spec/05 "Answer".
"""

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from api.agent.citations import Claim, resolve
from api.agent.ledger import Ledger
from api.agent.react import Ending, Finish
from api.agent.steps import Outcome, Wording
from api.agent.verify import Checked, check, states_facts
from shared.ids import BlockId
from shared.types.runs import Citation, LedgerEntry, Limitation, Status, Verdict


class CheckedClaim(Struct, frozen=True, kw_only=True):
    claim: Claim
    checked: Checked


class Verified(Struct, frozen=True, kw_only=True):
    """What the reader gets, and for the trace how every cited sentence was judged and what was taken out."""

    status: Status
    text: str
    citations: tuple[Citation, ...]
    limitations: tuple[Limitation, ...]  # those of the run, then those of the answer
    claims: tuple[CheckedClaim, ...] = ()
    removed: tuple[str, ...] = ()


_STATUS: dict[Ending, Status] = {"answer": "complete", "refusal": "refused", "clarification": "clarification"}


def finish(outcome: Outcome, *, wording: Wording, standing: tuple[Limitation, ...] = ()) -> Verified:
    """Verify a finished run's text against its ledger, or state why there is none.

    `standing`: limitations that hold for the run whatever the model did, e.g. a partial snapshot.
    """
    limitations = (*standing, *outcome.limitations)
    if not isinstance(outcome.ending, Finish):
        text = wording.render("failure", code=outcome.ending.code)
        return Verified(status="failed", text=text, citations=(), limitations=limitations)
    shown = [entry.seen for entry in outcome.ledger.entries]
    resolved = resolve(outcome.ending.text, outcome.ledger.blocks, shown=shown)
    claims = tuple(_checked(claim, outcome.ledger) for claim in resolved.claims)
    citations = tuple(
        _citation(number, outcome.ledger.of(block_id), claims, wording)
        for number, block_id in zip(resolved.numbers, resolved.block_ids, strict=True)
    )
    uncited = [
        one.sentence
        for one in resolved.unmarked
        if states_facts(one.sentence) and _checked(one, outcome.ledger).checked.verdict == "unsupported"
    ]
    found = _found_limitations(
        outcome.ending.ending, citations, removed=len(resolved.removed), uncited=uncited, wording=wording
    )
    status = _STATUS[outcome.ending.ending]
    if status == "complete" and (outcome.closed or any(one.code in _MAKES_PARTIAL for one in (*limitations, *found))):
        status = "partial"
    return Verified(
        status=status,
        text=resolved.text,
        citations=citations,
        limitations=(*limitations, *found),
        claims=claims,
        removed=resolved.removed,
    )


_MAKES_PARTIAL = frozenset(
    {"citation_unsupported", "no_citation", "provider_cut_prompt", "tool_failed", "uncited_claims"}
)
_NAMED = 5  # uncited sentences
_SENTENCE_CHARS = 160


def _found_limitations(
    ending: Ending, citations: tuple[Citation, ...], *, removed: int, uncited: list[str], wording: Wording
) -> list[Limitation]:
    found: list[Limitation] = []

    def limit(code: str, **values: object) -> None:
        found.append(Limitation(code=code, text=wording.render("limitation", code=code, **values)))

    if removed:
        limit("citation_removed", count=removed)
    doubtful = [f"[{one.marker}] {one.problem}" for one in citations if one.verdict == "unsupported"]
    if doubtful:
        limit("citation_unsupported", count=len(doubtful), problems=doubtful)
    if ending == "answer" and not citations:
        limit("no_citation")
    elif ending == "answer" and uncited:
        named = [_one_line(one) for one in uncited[:_NAMED]]
        limit("uncited_claims", count=len(uncited), sentences=named)
    return found


def _one_line(sentence: str) -> str:
    line = " ".join(sentence.split())
    return line if len(line) <= _SENTENCE_CHARS else f"{line[: _SENTENCE_CHARS - 1]}…"


def _checked(claim: Claim, ledger: Ledger) -> CheckedClaim:
    return CheckedClaim(claim=claim, checked=check(claim.sentence, _evidence(claim.block_ids, ledger)))


def _evidence(block_ids: tuple[str, ...], ledger: Ledger) -> list[str]:
    """What the model saw of these blocks, each under its title, section and table header, which it saw as well."""
    return [
        f"{entry.title}\n{entry.section_path}\n{entry.table_header}\n{entry.seen}"
        for block_id in block_ids
        for entry in ledger.of(block_id)
    ]


def _citation(
    number: int, entries: tuple[LedgerEntry, ...], claims: tuple[CheckedClaim, ...], wording: Wording
) -> Citation:
    citing = [one for one in claims if entries[0].block_id in one.claim.block_ids]
    shown = _best_shown(entries, citing)
    verdict = _worst(one.checked.verdict for one in citing)
    doubtful = [one for one in citing if one.checked.verdict == "unsupported"]
    missing = tuple(dict.fromkeys(fact for one in doubtful for fact in one.checked.missing))
    return Citation(
        marker=number,
        block_id=BlockId(shown.block_id),
        doc_id=shown.doc_id,
        version=shown.version,
        snapshot_id=shown.snapshot_id,
        title=shown.title,
        source_label=shown.source_label,
        section_path=shown.section_path,
        page_first=shown.page_first,
        page_last=shown.page_last,
        span_start=shown.span_start,
        span_end=shown.span_end,
        quote=shown.seen,
        trust=shown.trust,
        verdict=verdict,
        problem=wording.render("problem", missing=missing) if doubtful else None,
    )


def _best_shown(entries: tuple[LedgerEntry, ...], citing: list[CheckedClaim]) -> LedgerEntry:
    """The whole block where it was read; of several snippets the one that supports the citing sentences best."""
    if len(entries) == 1 or not citing:
        return entries[0]
    return max(entries, key=lambda entry: sum(check(one.claim.sentence, [entry.seen]).score for one in citing))


def _worst(verdicts: Iterable[Verdict]) -> Verdict:
    """One sentence that is not supported makes the citation doubtful; one that can't be judged leaves it unjudged."""
    counts = Counter(verdicts)
    if counts["unsupported"]:
        return "unsupported"
    return "supported" if counts["supported"] and not counts["unchecked"] else "unchecked"
