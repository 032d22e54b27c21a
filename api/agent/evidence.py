"""What a cited text shows. Pure.

Says which facts of a sentence it doesn't show, and which it shows perhaps not as the sentence means them.
"""

import re
from collections.abc import Mapping
from functools import cached_property, lru_cache
from itertools import accumulate

from api.agent.bound import other_letters
from api.agent.facts import Date, Facts, facts, plain_text
from api.agent.measures import Figures
from api.agent.moments import other_days, same_times
from api.agent.pins import Pin, ordinals, periods
from api.agent.quantities import Quantity
from api.agent.scales import Amounts, joined
from api.agent.words import content_terms
from shared.text.fold import fold
from shared.text.lang import detect_lang
from shared.text.sentences import sentences

_EAST = ("zh", "ja", "ko")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_DOWN = re.compile(r"下降|减少|降低|下跌|亏损|(?i:decreas|declin|reduc|\b(?:fell|drop|loss|down))")
_HALF = "0.5"  # 半年 may be what is told there month by month
_COUNTABLE = frozenset(map(str, range(2, 11)))
_BORDERS = frozenset('.!?。！？;；:："”』」)）]】|*#>…')
_PERIODS = ("quarter", "half")
_TOGETHER = 3  # sentences that one statement may draw on


class Evidence:
    """Texts taken together, and of what they show as much as was asked for."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        self.texts = texts
        self.text = "\n".join(texts)

    @cached_property
    def facts(self) -> Facts:
        return facts(self.text)

    @cached_property
    def figures(self) -> Figures:
        return Figures(self.facts, self.text, self.lang)

    @property
    def amounts(self) -> Amounts:
        return self.figures.amounts

    @cached_property
    def terms(self) -> frozenset[str]:
        return frozenset[str]().union(*self._each)

    @cached_property
    def lang(self) -> str:
        return detect_lang(self.text)

    @cached_property
    def passages(self) -> tuple[frozenset[str], ...]:
        """The terms of a few sentences in a row."""
        rows = range(max(len(self._each) - _TOGETHER + 1, 1))
        return tuple(frozenset[str]().union(*self._each[at : at + _TOGETHER]) for at in rows)

    @cached_property
    def _each(self) -> list[frozenset[str]]:
        """The terms of every sentence; no term reaches beyond one."""
        return [content_terms(self.text[start:end]) for start, end in sentences(self.text)]

    def shows(self, pin: Pin) -> bool:
        """`pin`: one of `periods` or `ordinals`."""
        return pin.key in (self._periods if pin.kind in _PERIODS else self._ordinals)

    @cached_property
    def _periods(self) -> frozenset[tuple[str, str]]:
        return frozenset(pin.key for pin in periods(self.text))

    @cached_property
    def _ordinals(self) -> frozenset[tuple[str, str]]:
        return frozenset(pin.key for pin in ordinals(self.text))

    @cached_property
    def squeezed(self) -> str:
        """Folded and without blanks."""
        return "".join(map(_squeezed, self.texts))

    @cached_property
    def _begins(self) -> frozenset[int]:
        """Where its lines begin, and the end, in `squeezed`."""
        return frozenset(accumulate((len(_squeezed(line)) for line in self.text.split("\n")), initial=0))

    def holds(self, sentence: str) -> bool:
        """Word for word, from where a sentence or a line begins: "may enter" is not what "may not enter; 15 may enter" says."""
        plain = _squeezed(sentence)
        at = self.squeezed.find(plain) if plain else -1
        while at >= 0:
            end = at + len(plain)
            begins = at in self._begins or self.squeezed[at - 1] in _BORDERS
            if begins and (plain[-1] in _BORDERS or end in self._begins or self.squeezed[end] in _BORDERS):
                return True
            at = self.squeezed.find(plain, at + 1)
        return False


@lru_cache(maxsize=64)
def read(texts: tuple[str, ...]) -> Evidence:
    """Once for all the sentences that are held against them."""
    return Evidence(texts)


def foreign(sentence: str, shown: Evidence) -> bool:
    """Whether the two are in different languages, so that words can't be compared, only figures."""
    said = detect_lang(sentence)
    if "und" in (said, shown.lang):
        return _is_east(sentence, said) != _is_east(shown.text, shown.lang)
    return said != shown.lang


def missing(sentence: str, said: Facts, shown: Evidence, *, foreign: bool) -> tuple[str, ...]:
    """The facts of the sentence, as written, that the evidence doesn't show."""
    seen, plain = shown.facts, plain_text(sentence)
    absent = [
        one for one in said.quantities if not _may_differ(one, shown) and not _has_quantity(one, said, plain, shown)
    ]
    names = [name for name in said.names if not _has_name(name, shown)]
    if absent or names:
        times, whole = same_times(plain, plain_text(shown.text)), joined(said.quantities)
        absent = [one for one in absent if one.value not in times and not _in_other_words(one, plain, whole, shown)]
        names = [name for name in names if name not in times and not _is_short_for(name, shown)]
    found = [one.written for one in absent]
    found += [one.written for one in said.dates if not _has_date(one, seen)]
    found += [pin.written for pin in periods(sentence) if not shown.shows(pin)]
    if not (foreign and _is_east(shown.text, shown.lang)):  # a Latin name may stand there in another script
        found += names
    found += other_days(sentence, shown.text)
    found += other_letters(sentence, shown.text)
    if not foreign:
        found += [quote for quote in said.quoted if not _has_quote(quote, shown)]
    return tuple(dict.fromkeys(found))


def doubtful(sentence: str, said: Facts, shown: Evidence) -> bool:
    """Whether a figure is there, but perhaps not of that: in words, with another sign, reckoned from two others, rounded, or with a unit or a
    "per" that only one of the two gives."""
    whole, plain = joined(said.quantities), plain_text(sentence)

    def unsure(one: Quantity) -> bool:
        standing = shown.figures.standing(one, said, plain)
        if standing not in (None, "other"):
            return standing != "same"
        if standing is None and _has_quantity(one, said, plain, shown):
            return False
        return not _converted(one, whole, shown) and (_may_differ(one, shown) or _reckoned(one, plain, shown))

    return any(map(unsure, said.quantities))


def unproved_units(sentence: str, said: Facts, shown: Evidence) -> tuple[str, ...]:
    """The figures, as written, that are there, but not with the unit that the sentence gives them, or not per what it says."""
    plain = plain_text(sentence)
    told = (one for one in said.quantities if shown.figures.standing(one, said, plain) == "unproved")
    return tuple(dict.fromkeys(one.written for one in told))


def retold(sentence: str, said: Facts, shown: Evidence) -> str:
    """The sentence with an amount as the evidence gives it, where it gives it in another unit, so that their words can be compared:
    "150 litres per minute" is neither the contrary of "2.5 litres per second" nor another figure."""
    plain = plain_text(sentence)
    found = {
        one.written: twin.written if twin else "0"
        for one in said.quantities
        if (twin := shown.figures.twin(one, said, plain)) or (one.per and shown.figures.may_round(one, said, plain))
    }
    for written, seen in found.items():
        plain = plain.replace(written, seen)
    return plain if found else sentence


def other_part(sentence: str, shown: Evidence) -> bool:
    """Whether the sentence is about a part or instalment, 第二期, that the evidence doesn't name."""
    return any(not shown.shows(pin) for pin in ordinals(sentence) if pin.kind == "ordinal")


def _is_east(text: str, lang: str) -> bool:
    return lang in _EAST or (lang == "und" and _HAN.search(text) is not None)


def _may_differ(one: Quantity, shown: Evidence) -> bool:
    """Whether the evidence may say it without the figure: a small count in words (三个阶段, "two reasons") may be a count
    of what is listed there, and a change of sign a matter of wording."""
    if one.is_article or (one.in_words and (one.value == _HALF or (one.unit is None and one.value in _COUNTABLE))):
        return True
    negative = one.value.startswith("-")
    opposite = one.value.removeprefix("-") if negative else f"-{one.value}"
    reworded = not negative or _DOWN.search(shown.text) is not None
    return reworded and shown.figures.has_value(opposite)


def _in_other_words(one: Quantity, sentence: str, whole: Mapping[str, Quantity], shown: Evidence) -> bool:
    """Whether it may be what the evidence says in another unit, or the sum or difference of two figures there."""
    return _converted(one, whole, shown) or _reckoned(one, sentence, shown)


def _converted(one: Quantity, whole: Mapping[str, Quantity], shown: Evidence) -> bool:
    """Whether the amount that it is a part of is exactly an amount of the evidence."""
    return one.written in whole and bool(shown.amounts.equal(whole[one.written]))


def _reckoned(one: Quantity, sentence: str, shown: Evidence) -> bool:
    return shown.amounts.perhaps_equal(one) or shown.amounts.make(one, sentence)


def _is_short_for(name: str, shown: Evidence) -> bool:
    """Whether words in a row begin with its letters: COO, chief operating officer."""
    if not (name.isascii() and name.isalpha() and name.isupper() and 2 < len(name) < 7):
        return False
    words = r"[\w'-]*+(?: (?:of|and|the|for|in))? ".join(name)
    return re.search(rf"(?<![\w'-]){words}\w", shown.text, re.IGNORECASE) is not None


def _has_quantity(one: Quantity, said: Facts, sentence: str, shown: Evidence) -> bool:
    standing = shown.figures.standing(one, said, sentence)
    if standing is not None:
        return standing != "other"
    seen = shown.facts
    if any(one.value in (str(date.year), str(date.month), str(date.day)) for date in seen.dates):
        return True
    return any(one.value == name.lower().lstrip("v") for name in seen.names)


def _has_date(one: Date, seen: Facts) -> bool:
    years = {str(date.year) for date in seen.dates} | {quantity.value for quantity in seen.quantities}
    for other in seen.dates:
        day_fits = one.day is None or one.day == other.day
        year_fits = one.year is None or one.year == other.year or (other.year is None and str(one.year) in years)
        if one.month == other.month and day_fits and year_fits:
            return True
    return False


def _has_name(name: str, shown: Evidence) -> bool:
    plain = _squeezed(name)
    return plain in shown.squeezed or plain.lstrip("v") in shown.squeezed or _all_in(name, shown)


def _has_quote(quote: str, shown: Evidence) -> bool:
    return _squeezed(quote) in shown.squeezed or _all_in(quote, shown)


def _all_in(words: str, shown: Evidence) -> bool:
    said = content_terms(words)
    return bool(said) and said <= shown.terms


@lru_cache(maxsize=512)
def _squeezed(text: str) -> str:
    """Folded and without blanks; of a source once for all the sets of sources that it is in."""
    return "".join(fold(plain_text(text)).split())
