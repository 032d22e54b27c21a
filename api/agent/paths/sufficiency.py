"""Is what was found enough to answer from? By what can be observed in it, without asking a model. Pure.

    sufficient    answer from it
    ambiguous     look again in other words, keep what both show or what touches the question, then answer
    insufficient  drop it, look another way; if that brings nothing either, say so

Words can't judge a paraphrase or another language, so few common words alone are never "insufficient": that takes an exact name or
a year of the question that nothing shows in a text that has few of its words, or no block at all. Source: spec/05 "Sufficiency check"; decision 0079.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from api.agent.exact_names import absent
from api.agent.ledger import shown_text
from api.agent.paths.evidence import Look
from api.agent.pins import pins, unshown
from api.agent.wanted import asked_terms
from api.agent.words import content_terms
from shared.text.lang import detect_lang
from shared.types.runs import LedgerEntry

Sufficiency = Literal["sufficient", "ambiguous", "insufficient"]

ENOUGH_COVERED = (
    0.3  # share of the terms of the question, or of its rewriting, that the best block shows: below it words don't tell
)
CLEAR_GAP = 0.15  # by which the best block must show more than the best of another document
AGREED = 0.34  # of the first blocks of two rankings, in common
COMPARED = 3  # first blocks of a ranking


class Signals(Struct, frozen=True, kw_only=True):
    """`gap`: coverage of the best block over the best of another document; None with one document alone.

    `agreement`: least share in common of the first search's blocks with another phrasing's; None with one search.
    `missing`: exact names of the question that no block shows. `mismatched`: its years, quarters, … that none is about.
    `pinned`: it has such, and one block is about all of them.
    `foreign`: every block is in another language, so words say nothing.
    """

    blocks: int
    coverage: float
    gap: float | None
    agreement: float | None
    missing: tuple[str, ...]
    mismatched: tuple[str, ...]
    pinned: bool
    foreign: bool


def signals(question: str, looks: Sequence[Look]) -> Signals:
    """`looks`: searches for this question, the first one by the question itself or its rewriting."""
    blocks = list({one.block_id: one for look in looks for one in look.blocks}.values())
    shown = [shown_text(one) for one in blocks]
    wordings = [asked for text in (question, *(look.query for look in looks[:1])) if (asked := asked_terms(text))]
    covered = [
        max((len(asked & content_terms(text)) / len(asked) for asked in wordings), default=0.0) for text in shown
    ]
    fixed = pins(question)
    about = [{pin.key for pin in unshown(fixed, text, ())} for text in shown]
    return Signals(
        blocks=len(blocks),
        coverage=round(max(covered, default=0.0), 3),
        gap=_gap(blocks, covered),
        agreement=_agreement(looks),
        missing=absent(question, "\n".join(shown)),
        pinned=any(all(pin.key not in one for pin in fixed) for one in about) if fixed else False,
        mismatched=tuple(pin.written for pin in fixed if blocks and all(pin.key in one for one in about)),
        foreign=bool(blocks) and _is_foreign(question, shown),
    )


def judge(found: Signals) -> Sufficiency:
    if found.blocks == 0:
        return "insufficient"
    if found.missing:  # a text may spell a name in a way of its own
        return "ambiguous" if found.pinned or found.coverage >= 2 * ENOUGH_COVERED else "insufficient"
    if found.mismatched and not found.foreign:
        return "insufficient" if found.coverage < ENOUGH_COVERED else "ambiguous"
    if found.agreement is not None and found.agreement < AGREED:
        return "ambiguous"
    if found.foreign or found.coverage >= ENOUGH_COVERED:
        unclear = found.gap is not None and found.gap < CLEAR_GAP and found.coverage < 2 * ENOUGH_COVERED
        return "ambiguous" if unclear and not found.foreign and found.agreement is None else "sufficient"
    return "ambiguous"


def unusable(question: str, looks: Sequence[Look]) -> frozenset[str]:
    """Blocks that touch no word of the question and that only one of several phrasings brought; none in another language."""
    asked, lang = asked_terms(question), detect_lang(question)
    times: dict[str, int] = {}
    texts: dict[str, str] = {}
    for look in looks:
        for one in look.blocks:
            times[one.block_id] = times.get(one.block_id, 0) + 1
            texts[one.block_id] = shown_text(one)
    return frozenset(
        name
        for name, text in texts.items()
        if times[name] == 1 and detect_lang(text) in (lang, "und") and not asked & content_terms(text)
    )


def _gap(blocks: Sequence[LedgerEntry], covered: Sequence[float]) -> float | None:
    if not blocks:
        return None
    best = max(range(len(blocks)), key=lambda place: covered[place])
    others = [share for one, share in zip(blocks, covered, strict=True) if one.doc_id != blocks[best].doc_id]
    return round(covered[best] - max(others), 3) if others else None


def _agreement(looks: Sequence[Look]) -> float | None:
    if len(looks) < 2:
        return None
    first, *others = [{one.block_id for one in look.blocks[:COMPARED]} for look in looks]
    return round(min(len(first & other) / max(min(len(first), len(other)), 1) for other in others), 3)


def _is_foreign(question: str, texts: Sequence[str]) -> bool:
    lang = detect_lang(question)
    return lang != "und" and all(detect_lang(text) not in (lang, "und") for text in texts)
