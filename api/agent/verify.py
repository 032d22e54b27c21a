"""Does the cited text support the sentence? Literally checkable facts first, then words in common. Pure.

Lexical on purpose: it can prove a number, date, name or quotation wrong, and it can't judge reasoning. What it can't
decide is "unchecked", never "supported".
Source: spec/05 "Verification before delivery".
"""

import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from api.agent.facts import Date, Facts, Quantity, facts, plain_text
from api.agent.words import content_terms
from shared.text.fold import fold
from shared.text.lang import detect_lang
from shared.types.runs import Verdict

SUPPORTED_SCORE = 0.5  # share of the sentence's terms found in the evidence
FACTS_SCORE = 0.25  # enough when numbers, dates, names or quotations of the sentence were found too
FOREIGN_SCORE = 0.12  # below it, sentence and evidence speak of different things

_INFERENCE = re.compile(r"^\W*(?:推断|推論|推论|inference)\s*[:：]", re.IGNORECASE)
_LIST_MARK = re.compile(r"^\s*(?:[-*+•>]|\(?\d{1,3}[.)、）](?!\d)|[（(]?[一二三四五六七八九十]{1,3}[)）、])\s*")
_NO_CLAIM = re.compile(
    r"^#{1,6}\s|^\*\*[^*\n]+\*\*$|^\|[^\n]*\n\s*\|[\s:|-]+$|[:：?？][*_”\"]*$"
    r"|^(?:hello|hi|dear|thanks|thank you|sorry)\b|^(?:您好|你好|谢谢|感谢|抱歉)"
    r"|(?:没有|未能?|并未|无法|不能)(?:在?[^，。]{0,20})?(?:提到|提及|说明|找到|涉及|给出|包含|查到|记载|回答|确认)|(?:未|没有)(?:出现|记录)"
    r"|\b(?:not|n't|nothing|no|none|nowhere|neither)\b[^.;]{0,60}\b(?:cover|mention|state|say|said|found|find|contain|give|given|specif|address|includ|describ|document|information|evidence)",
    re.IGNORECASE,
)
_EAST = ("zh", "ja", "ko")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_DOWN = re.compile(r"下降|减少|降低|下跌|亏损|(?i:decreas|declin|reduc|\b(?:fell|drop|loss|down))")
# where a Chinese name stands that no capital letter marks as one: at the head of a clause, or behind one of these
_NAMING = re.compile(
    r"(?:(?:^|[，。；：！？、,;:!?\s“”（）()])(?:根据|按照|依据|此外|另外|因此|所以|其中|同时|但是|不过|然而|例如|如果|对于|关于|以及|并且|而且)?"
    r"|是由|是|位于|为|由|于|叫做|叫|来自|属于|归|被|在)(?:一[个种位名家项款座本部])?([\u3400-\u9fff]{2})"
)
_NO_NAME = frozenset(
    "零〇一二两三四五六七八九十百千万亿第这那该此本其他她它每各共约总可需应须不无有没只仅都还也又再从自至到当若如则因而但且或我你您请"
)
_COUNTABLE = frozenset(map(str, range(2, 11)))


Reason = Literal["missing", "negation", "unrelated"]


class Checked(Struct, frozen=True, kw_only=True):
    """`missing`: facts of the sentence, as written, that the evidence does not show. `score`: 0..1. `reason`: of "unsupported"."""

    verdict: Verdict
    missing: tuple[str, ...]
    score: float
    reason: Reason | None = None


def check(sentence: str, evidence: Sequence[str]) -> Checked:
    """Judge one sentence by the texts it cites, taken together."""
    if _INFERENCE.match(sentence):
        return Checked(verdict="unchecked", missing=(), score=0.0)
    sentence = _LIST_MARK.sub("", sentence)
    shown = "\n".join(evidence)
    score = _score(sentence, shown)
    said = facts(sentence)
    foreign = _foreign(sentence, shown)
    missing = _missing(said, shown, foreign=foreign)
    if missing:
        return Checked(verdict="unsupported", missing=missing, score=score, reason="missing")
    doubtful = _doubtful(said, shown)
    found = any((said.dates, said.names, said.quoted, said.quantities and not doubtful))
    if score < FOREIGN_SCORE and not found and not foreign:
        return Checked(verdict="unsupported", missing=(), score=score, reason="unrelated")
    verdict: Verdict = "unchecked"
    if score >= (FACTS_SCORE if found else SUPPORTED_SCORE):
        unsure = doubtful or (not foreign and _unshown_name(sentence, shown))
        verdict = "unchecked" if unsure else "supported"
    return Checked(verdict=verdict, missing=(), score=score)


def states_facts(sentence: str) -> bool:
    """Whether it claims something that could be looked up: a figure, date, name or quotation.

    A heading, a question, what introduces a list, a marked inference and "the documents don't say" claim nothing.
    """
    plain = sentence.strip()
    if _INFERENCE.match(plain) or _NO_CLAIM.search(plain):
        return False
    said = facts(_LIST_MARK.sub("", plain))
    figures = [one for one in said.quantities if not one.is_article]
    return bool(figures or said.dates or said.names or said.quoted)


def _score(sentence: str, shown: str) -> float:
    said = content_terms(sentence)
    return len(said & content_terms(shown)) / len(said) if said else 0.0


def _foreign(sentence: str, shown: str) -> bool:
    """Whether the two are in different languages, so that words can't be compared, only figures."""
    said, seen = detect_lang(sentence), detect_lang(shown)
    if "und" in (said, seen):
        return _is_east(sentence) != _is_east(shown)
    return said != seen


def _is_east(text: str) -> bool:
    lang = detect_lang(text)
    return lang in _EAST or (lang == "und" and _HAN.search(text) is not None)


def _missing(said: Facts, shown: str, *, foreign: bool) -> tuple[str, ...]:
    seen = facts(shown)
    folded = _squeezed(shown)
    shown_terms = content_terms(shown)
    missing = [
        one.written for one in said.quantities if not _may_differ(one, seen, shown) and not _has_quantity(one, seen)
    ]
    missing += [one.written for one in said.dates if not _has_date(one, seen)]
    if not (foreign and _is_east(shown)):  # a Latin name may stand there in another script
        missing += [name for name in said.names if not _has_name(name, folded, shown_terms)]
    if not foreign:
        missing += [quote for quote in said.quoted if not _has_quote(quote, folded, shown_terms)]
    return tuple(dict.fromkeys(missing))


def _doubtful(said: Facts, shown: str) -> bool:
    seen = facts(shown)
    return any(_may_differ(one, seen, shown) and not _has_quantity(one, seen) for one in said.quantities)


def _unshown_name(sentence: str, shown: str) -> bool:
    """Whether characters that may be a name stand in the sentence and nowhere in the evidence."""
    terms = content_terms(shown)
    placed = (match[1] for match in _NAMING.finditer(sentence))
    return any(pair[0] not in _NO_NAME and not content_terms(pair) <= terms for pair in placed)


def _may_differ(one: Quantity, seen: Facts, shown: str) -> bool:
    """Whether the evidence may say it without the figure: a small count in words (三个阶段, "two reasons") may be a count
    of what is listed there, and a change of sign a matter of wording."""
    if one.is_article or (one.in_words and one.unit is None and one.value in _COUNTABLE):
        return True
    negative = one.value.startswith("-")
    opposite = one.value.removeprefix("-") if negative else f"-{one.value}"
    reworded = not negative or _DOWN.search(shown) is not None
    return reworded and any(other.value == opposite for other in seen.quantities)


def _has_quantity(one: Quantity, seen: Facts) -> bool:
    same = [other for other in seen.quantities if other.value == one.value and _alike(one, other)]
    if same:
        # a unit that the evidence gives elsewhere, e.g. in a table's head, can't be refuted here
        return one.unit is None or any(other.unit in (one.unit, None) for other in same)
    if any(one.value in (str(date.year), str(date.month), str(date.day)) for date in seen.dates):
        return True
    return any(one.value == name.lower().lstrip("v") for name in seen.names)


def _alike(one: Quantity, other: Quantity) -> bool:
    """一种 and "one of" are numbers only for who says the same."""
    return not other.is_article or one.after == other.after or one.after.isascii() != other.after.isascii()


def _has_date(one: Date, seen: Facts) -> bool:
    years = {str(date.year) for date in seen.dates} | {quantity.value for quantity in seen.quantities}
    for other in seen.dates:
        day_fits = one.day is None or one.day == other.day
        year_fits = one.year is None or one.year == other.year or (other.year is None and str(one.year) in years)
        if one.month == other.month and day_fits and year_fits:
            return True
    return False


def _has_name(name: str, folded: str, shown_terms: frozenset[str]) -> bool:
    plain = _squeezed(name)
    return plain in folded or plain.lstrip("v") in folded or _all_in(name, shown_terms)


def _has_quote(quote: str, folded: str, shown_terms: frozenset[str]) -> bool:
    return _squeezed(quote) in folded or _all_in(quote, shown_terms)


def _all_in(words: str, shown_terms: frozenset[str]) -> bool:
    said = content_terms(words)
    return bool(said) and said <= shown_terms


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", fold(plain_text(text)))
