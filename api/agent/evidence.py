"""What a cited text shows. Pure.

Says which facts of a sentence it doesn't show, and which it shows perhaps not as the sentence means them.
"""

import re
from collections.abc import Mapping, Set
from functools import cached_property, lru_cache
from itertools import accumulate

from api.agent.bound import other_letters
from api.agent.facts import Date, Facts, Quantity, facts, plain_text
from api.agent.moments import other_days, same_times
from api.agent.pins import Pin, ordinals, periods
from api.agent.scales import Amounts, joined
from api.agent.units import Likeness, is_spelled, likeness
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
_YEAR = re.compile(r"1\d{3}|20\d\d")
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
    def amounts(self) -> Amounts:
        return Amounts(self.facts.quantities)

    @cached_property
    def units(self) -> frozenset[str | None]:
        return frozenset(one.unit for one in self.facts.quantities)

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
    seen = shown.facts
    absent = [one for one in said.quantities if not _may_differ(one, shown) and not _has_quantity(one, shown)]
    names = [name for name in said.names if not _has_name(name, shown)]
    if absent or names:
        times, whole = same_times(plain_text(sentence), plain_text(shown.text)), joined(said.quantities)
        absent = [one for one in absent if one.value not in times and not _in_other_words(one, sentence, whole, shown)]
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
    """Whether a figure is there, but perhaps not of that: in words, with another sign, reckoned from two others, or with a unit
    that only one of the two gives."""
    units = {one.unit for one in said.quantities}
    whole = joined(said.quantities)
    return any(
        _other_measure(one, shown, units)
        if _has_quantity(one, shown)
        else not _converted(one, whole, shown) and (_may_differ(one, shown) or _reckoned(one, sentence, shown))
        for one in said.quantities
    )


def unproved_units(said: Facts, shown: Evidence) -> tuple[str, ...]:
    """The figures, as written, that are there, but not with the unit that the sentence gives them."""
    measured = [one for one in said.quantities if one.unit is not None and _has_quantity(one, shown)]
    return tuple(dict.fromkeys(one.written for one in measured if _other_measure(one, shown, frozenset())))


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
    return reworded and any(other.value == opposite for other in shown.facts.quantities)


def _in_other_words(one: Quantity, sentence: str, whole: Mapping[str, Quantity], shown: Evidence) -> bool:
    """Whether it may be what the evidence says in another unit, or the sum or difference of two figures there."""
    return _converted(one, whole, shown) or _reckoned(one, sentence, shown)


def _converted(one: Quantity, whole: Mapping[str, Quantity], shown: Evidence) -> bool:
    """Whether it, or the amount that it is a part of, is exactly an amount of the evidence."""
    return shown.amounts.convert(one) or (one.written in whole and shown.amounts.convert(whole[one.written]))


def _reckoned(one: Quantity, sentence: str, shown: Evidence) -> bool:
    return shown.amounts.perhaps_convert(one) or shown.amounts.make(one, plain_text(sentence))


def _is_short_for(name: str, shown: Evidence) -> bool:
    """Whether words in a row begin with its letters: COO, chief operating officer."""
    if not (name.isascii() and name.isalpha() and name.isupper() and 2 < len(name) < 7):
        return False
    words = r"[\w'-]*+(?: (?:of|and|the|for|in))? ".join(name)
    return re.search(rf"(?<![\w'-]){words}\w", shown.text, re.IGNORECASE) is not None


def _has_quantity(one: Quantity, shown: Evidence) -> bool:
    seen = shown.facts
    same = _same_value(one, seen)
    if same:
        # a unit that the evidence gives elsewhere, e.g. in a table's head, can't be refuted here
        return one.unit is None or any(other.unit is None or _like(one, other, shown) != "other" for other in same)
    if any(one.value in (str(date.year), str(date.month), str(date.day)) for date in seen.dates):
        return True
    return any(one.value == name.lower().lstrip("v") for name in seen.names)


def _other_measure(one: Quantity, shown: Evidence, units: Set[str | None]) -> bool:
    """`units`: of the sentence; in "5 to 10 mg" the 5 has one too."""
    same = _same_value(one, shown.facts)
    if not same or (one.unit == "year" and _YEAR.fullmatch(one.value)):
        return False
    if one.unit is None:
        return all(other.unit is not None and other.unit not in units for other in same)
    if any(_like(one, other, shown) == "same" for other in same):
        return False
    return any(other.unit is not None or other.after for other in same) or not is_spelled(one.unit, shown.text)


def _like(one: Quantity, other: Quantity, shown: Evidence) -> Likeness:
    if one.unit is None or other.unit is None:
        return "perhaps"
    return likeness(one.unit, other.unit, lang=shown.lang, units=shown.units)


def _same_value(one: Quantity, seen: Facts) -> list[Quantity]:
    return [other for other in seen.quantities if other.value == one.value and _alike(one, other)]


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
