"""Does the cited text support the sentence? Literally checkable facts first, then words in common. Pure.

Lexical on purpose: it can prove a number, date, name or quotation wrong, and it can't judge reasoning. What it can't
decide is "unchecked", never "supported".
Source: spec/05 "Verification before delivery".
"""

import re
from collections.abc import Sequence

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
_EAST = ("zh", "ja", "ko")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_CHINESE_NUMBER = re.compile(r"[〇零一二两三四五六七八九十百千万亿]+")
_ENGLISH_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty"
_NUMBER_WORDS = {word: str(value) for value, word in enumerate(_ENGLISH_NUMBERS.split())}


class Checked(Struct, frozen=True, kw_only=True):
    """`missing`: facts of the sentence, as written, that the evidence does not show. `score`: 0..1."""

    verdict: Verdict
    missing: tuple[str, ...]
    score: float


def check(sentence: str, evidence: Sequence[str]) -> Checked:
    """Judge one sentence by the texts it cites, taken together."""
    if _INFERENCE.match(sentence):
        return Checked(verdict="unchecked", missing=(), score=0.0)
    shown = "\n".join(evidence)
    score = _score(sentence, shown)
    said = facts(sentence)
    missing = _missing(said, shown, foreign=_foreign(sentence, shown))
    if missing:
        return Checked(verdict="unsupported", missing=missing, score=score)
    found = any((said.quantities, said.dates, said.names, said.quoted))
    if score >= (FACTS_SCORE if found else SUPPORTED_SCORE):
        return Checked(verdict="supported", missing=(), score=score)
    if score < FOREIGN_SCORE and not found and not _foreign(sentence, shown):
        return Checked(verdict="unsupported", missing=(), score=score)
    return Checked(verdict="unchecked", missing=(), score=score)


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
    missing = [one.written for one in said.quantities if not _has_quantity(one, seen, shown)]
    missing += [one.written for one in said.dates if not _has_date(one, seen)]
    if not (foreign and _is_east(shown)):  # a Latin name may stand there in another script
        missing += [name for name in said.names if not _has_name(name, folded, shown_terms)]
    if not foreign:
        missing += [quote for quote in said.quoted if not _has_quote(quote, folded, shown_terms)]
    return tuple(dict.fromkeys(missing))


def _has_quantity(one: Quantity, seen: Facts, shown: str) -> bool:
    same = [other for other in seen.quantities if other.value == one.value]
    if same:
        # a unit that the evidence gives elsewhere, e.g. in a table's head, can't be refuted here
        return one.unit is None or any(other.unit in (one.unit, None) for other in same)
    if any(one.value in (str(date.year), str(date.month), str(date.day)) for date in seen.dates):
        return True
    return one.value in _spelled_numbers(shown) or any(one.value == name.lower().lstrip("v") for name in seen.names)


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


def _spelled_numbers(text: str) -> frozenset[str]:
    chinese = {str(_chinese_value(match[0])) for match in _CHINESE_NUMBER.finditer(text)}
    english = {_NUMBER_WORDS[word] for word in re.findall(r"[a-z]+", text.lower()) if word in _NUMBER_WORDS}
    return frozenset(chinese | english)


def _chinese_value(numeral: str) -> int:
    """Value of a numeral; one without 十百千万亿 is read digit by digit, as in 一九四九."""
    digits = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
    scales = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "亿": 10**8}
    if not any(sign in scales for sign in numeral):
        return int("".join(str(digits[sign]) for sign in numeral[:18]))
    total = section = number = 0
    for sign in numeral:
        if sign in digits:
            number = digits[sign]
        elif scales[sign] < 10**4:
            section += (number or 1) * scales[sign]
            number = 0
        else:
            before = total if sign == "亿" else 0
            total = (total - before) + (before + section + number) * scales[sign]
            section = number = 0
    return total + section + number
