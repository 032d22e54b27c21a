"""Does the cited text support the sentence? Literally checkable facts first, then polarity, then words in common. Pure.

Lexical on purpose: it can prove a number, date, name or quotation wrong and sees a negation too many; it can't judge reasoning.
What it can't decide is "unchecked", never "supported".
Source: spec/05 "Verification before delivery".
"""

import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from api.agent.anchors import misplaced, turned_round
from api.agent.bound import elsewhere
from api.agent.changes import turned_back
from api.agent.evidence import Evidence, doubtful, foreign, missing, other_part, read, retold, unproved_units
from api.agent.facts import GENERIC, Facts, facts, plain_text
from api.agent.heads import stated_apart
from api.agent.named import other_names
from api.agent.polarity import agreement
from api.agent.standing import conditioned, narrowed, spread
from api.agent.stated import INFERENCE, LIST_MARK
from api.agent.words import content_terms, says_more
from shared.types.runs import Verdict

SUPPORTED_SCORE = 0.5  # share of the sentence's terms found in the evidence
FACTS_SCORE = 0.25  # enough when numbers, dates, names or quotations of the sentence were found too
NEAR_SCORE = 0.4  # share found in a few sentences in a row: what a whole block has of a topic's words proves little
FOREIGN_SCORE = 0.12  # below it, sentence and evidence speak of different things

# where a Chinese name stands that no capital letter marks as one: at the head of a clause, or behind one of these
_NAMING = re.compile(
    r"(?:(?:^|[，。；：！？、,;:!?\s“”（）()])(?:根据|按照|依据|此外|另外|因此|所以|其中|同时|但是|不过|然而|例如|如果|对于|关于|以及|并且|而且)?"
    r"|是由|是|位于|为|由|于|叫做|叫|来自|属于|归|被|在)(?:一[个种位名家项款座本部])?([\u3400-\u9fff]{2})"
)
_NO_NAME = frozenset(
    "零〇一二两三四五六七八九十百千万亿第这那该此本其他她它每各共约总可需应须不无有没只仅都还也又再从自至到当若如则因而但且或我你您请由"
)
_OPENING = re.compile(  # names nobody and states nothing
    r"^\s*(?:(?:根[据據]|按照|依[据據]|[据據])[^\s，,：:]{0,4}?)?(?:[资資]料|文[档檔件中]|原文|材料|[来來]源|[报報]告|手[册冊])(?:中|[内內]容)?"
    r"(?:[显顯]示|指出|提到|[记記][载載]|[规規]定|[说說]明|表明|可知)?[，,：:]"
)
_FULL_NAME = re.compile(r"\W*([A-Z][a-z]+) [A-Z][a-z]")  # the first word of a sentence alone may be any word


Reason = Literal["missing", "negation", "unrelated", "uncited"]


class Checked(Struct, frozen=True, kw_only=True):
    """`missing`: facts of the sentence, as written, that the evidence does not show. `score`: 0..1.

    `unproved`: of "unchecked", names that don't stand there, and figures that don't with their unit: perhaps not shown either.
    `reason`: of "unsupported"; "uncited" of a sentence without a source that states nothing that could be looked up.
    """

    verdict: Verdict
    missing: tuple[str, ...]
    score: float
    reason: Reason | None = None
    unproved: tuple[str, ...] = ()


def check(sentence: str, evidence: Sequence[str]) -> Checked:
    """Judge one sentence by the texts it cites, taken together."""
    if INFERENCE.match(sentence):
        return Checked(verdict="unchecked", missing=(), score=0.0)
    sentence = LIST_MARK.sub("", sentence)
    shown = read(tuple(evidence))
    if _outright(sentence, shown):
        return Checked(verdict="supported", missing=(), score=1.0)
    said, other_language = stated_apart(sentence, facts(sentence)), foreign(sentence, shown)
    terms = content_terms(sentence)
    shared = _share(terms, shown.terms)
    other, unproved = ((), ()) if other_language else other_names(sentence, shown)
    absent = (*missing(sentence, said, shown, foreign=other_language), *other)
    if absent:
        return Checked(verdict="unsupported", missing=absent, score=shared, reason="missing")
    unsure = doubtful(sentence, said, shown)
    told = retold(sentence, said, shown)
    found = any((said.dates, said.names, said.quoted, said.quantities and not unsure))
    if (
        terms
        and shared < FOREIGN_SCORE
        and not found
        and not other_language
        and not shown.amounts.are_roughly(sentence)
    ):
        return Checked(verdict="unsupported", missing=(), score=shared, reason="unrelated")
    agrees = "same" if other_language else agreement(told, shown.texts)
    if agrees == "contrary" or turned_back(sentence, shown.text):
        return Checked(verdict="unsupported", missing=(), score=shared, reason="negation")
    enough = (shared if told is sentence else _share(content_terms(told), shown.terms)) >= (
        FACTS_SCORE if found else SUPPORTED_SCORE
    )
    unsure = unsure or agrees == "unsure"
    if (
        not enough
        or unsure
        or unproved
        or (not other_language and _in_doubt(told, said, shown, together=len(evidence) == 1 and not found))
    ):
        return Checked(
            verdict="unchecked",
            missing=(),
            score=shared,
            unproved=(*unproved, *unproved_units(sentence, said, shown)),
        )
    return Checked(verdict="supported", missing=(), score=shared)


def score(sentence: str, evidence: Sequence[str]) -> float:
    """The score that `check` gives, without what its verdict costs."""
    if INFERENCE.match(sentence):
        return 0.0
    sentence = LIST_MARK.sub("", sentence)
    shown = read(tuple(evidence))
    return 1.0 if _outright(sentence, shown) else _share(content_terms(sentence), shown.terms)


def _outright(sentence: str, shown: Evidence) -> bool:
    return shown.holds(sentence) and not conditioned(sentence, shown.text)


def _near(sentence: str, shown: Evidence) -> float:
    terms = content_terms(sentence)
    return max(_share(terms, passage) for passage in shown.passages)


def _share(said: frozenset[str], seen: frozenset[str]) -> float:
    return len(said & seen) / len(said) if said else 0.0


def _in_doubt(sentence: str, said: Facts, shown: Evidence, *, together: bool) -> bool:
    """Whether something in the sentence may not be what the evidence has, though no letter proves it.

    `together`: whether its words must stand in one place.
    """
    words = _OPENING.sub("", _without_measures(sentence, said, shown))
    return (
        (together and _near(sentence, shown) < NEAR_SCORE)
        or conditioned(sentence, shown.text)
        or _unshown_name(words, shown)
        or says_more(words, shown.text, terms_shown=shown.terms)
        or other_part(sentence, shown)
        or misplaced(sentence, shown.text)
        or turned_round(sentence, shown.text)
        or spread(sentence, shown.text)
        or narrowed(sentence, shown.text)
        or elsewhere(sentence, shown.text)
    )


def _without_measures(sentence: str, said: Facts, shown: Evidence) -> str:
    """Without figures that have a unit and stand there with it in another spelling: their words needn't."""
    measures = [
        one.written
        for one in said.quantities
        if one.unit is not None and not (one.unit == "year" and len(one.value) == 4)
    ]
    return _without(sentence, [one for one in measures if one not in shown.text])


def _without(sentence: str, figures: Sequence[str]) -> str:
    """`figures`: as written, each of which a nought stands for."""
    plain = plain_text(sentence) if figures else sentence
    for one in figures:
        plain = plain.replace(one, "0")  # no border: behind one a name may begin
    return plain


def _unshown_name(sentence: str, shown: Evidence) -> bool:
    """Whether characters that may be a name stand in the sentence and nowhere in the evidence."""
    placed = (match[1] for match in _NAMING.finditer(sentence))
    first = _FULL_NAME.match(sentence)
    return any(pair[0] not in _NO_NAME and not content_terms(pair) <= shown.terms for pair in placed) or (
        first is not None and first[1].lower() not in GENERIC and not content_terms(first[1]) <= shown.terms
    )
