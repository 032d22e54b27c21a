"""A sentence of an answer as it was checked, and what a citation carries of the sentences at it. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from api.agent.citations import Claim
from api.agent.harmless import harmless
from api.agent.steps import Wording
from api.agent.verify import Checked, score
from shared.ids import BlockId
from shared.types.runs import Citation, LedgerEntry, Verdict


class CheckedClaim(Struct, frozen=True, kw_only=True):
    claim: Claim
    checked: Checked
    cited: bool = True

    @property
    def doubtful(self) -> bool:
        return self.checked.verdict == "unsupported"

    @property
    def has_problem(self) -> bool:
        """Whether there is more to say than a verdict: `problem` has words for it."""
        return self.doubtful or bool(self.checked.unproved)


def problem(claims: Sequence[CheckedClaim], wording: Wording) -> str:
    """Why these sentences are not supported, or not proved, in one line. Of one without a source no cited text is spoken of."""
    missing = dict.fromkeys(fact for one in claims if one.cited for fact in one.checked.missing)
    unproved = dict.fromkeys(fact for one in claims for fact in one.checked.unproved)
    reasons = dict.fromkeys(one.checked.reason if one.cited else "uncited" for one in claims)
    return harmless(
        wording.render(
            "problem", missing=list(missing), unproved=list(unproved), reasons=[one for one in reasons if one]
        )
    )


def citation(
    number: int, entries: tuple[LedgerEntry, ...], claims: tuple[CheckedClaim, ...], wording: Wording
) -> Citation:
    citing = [one for one in claims if one.cited and entries[0].block_id in one.claim.block_ids]
    shown = _best_shown(entries, citing)
    verdict = _worst(one.checked.verdict for one in citing)
    told = [one for one in citing if one.checked.verdict == verdict and one.has_problem]
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
        problem=problem(told, wording) if told else None,
    )


def _best_shown(entries: tuple[LedgerEntry, ...], citing: list[CheckedClaim]) -> LedgerEntry:
    """The whole block where it was read; of several snippets the one that supports the citing sentences best."""
    if len(entries) == 1 or not citing:
        return entries[0]
    return max(entries, key=lambda entry: sum(score(one.claim.sentence, [entry.seen]) for one in citing))


def _worst(verdicts: Iterable[Verdict]) -> Verdict:
    """One sentence that is not supported makes the citation doubtful; one that can't be judged leaves it unjudged."""
    counts = Counter(verdicts)
    if counts["unsupported"]:
        return "unsupported"
    return "supported" if counts["supported"] and not counts["unchecked"] else "unchecked"
