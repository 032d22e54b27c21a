"""How a figure of a sentence stands with those of the evidence: by value, unit, and what it is per. Pure."""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Literal

from api.agent.denominators import Compared, Per, compare, is_latin, is_named, is_told
from api.agent.dimensions import PHYSICAL, SCALES
from api.agent.facts import Facts
from api.agent.money import MONEY
from api.agent.quantities import Quantity
from api.agent.scales import Amounts
from api.agent.units import SPELLINGS, is_spelled, likeness
from api.agent.words import content_terms

# there, perhaps not of that, so that the reader must be told, and something else
Standing = Literal["same", "open", "unproved", "other"]
_ORDER: tuple[Standing, ...] = ("same", "open", "unproved", "other")
_DIFFERENCE = re.compile(
    r"差|温升|升高|降低|\b(?:differ\w*|rises?|rose|increase\w*|decrease\w*|drops?|gradient|per)\b|/"
)
_KEPT: tuple[Standing, Standing] = ("open", "same")
_YEAR = re.compile(r"1\d{3}|20\d\d")
_EAST = ("zh", "ja", "ko")


class Figures:
    """The figures of a text, `lang` its language."""

    def __init__(self, seen: Facts, text: str, lang: str) -> None:
        self._seen = (*seen.quantities, *seen.parted)
        self._text = text
        self._lang = lang
        self._by_value: dict[str, list[Quantity]] = {}
        for one in self._seen:
            self._by_value.setdefault(one.value, []).append(one)

    @cached_property
    def amounts(self) -> Amounts:
        return Amounts(self._seen)

    @cached_property
    def _units(self) -> frozenset[str | None]:
        return frozenset(one.unit for one in self._seen)

    def has_value(self, value: str) -> bool:
        return value in self._by_value

    def standing(self, one: Quantity, said: Facts, sentence: str) -> Standing | None:
        """The best that the figures of its value, or of exactly its amount in another unit, give. None: there are none.

        `said`: all that the sentence gives; in "5 to 10 mg" the 5 has a unit too. `sentence`: plain.
        """
        found = self._written_so(one, said, sentence)
        if found == "same":
            return found
        known: list[Standing] = [self._of_equal(one, other, sentence) for other in self.amounts.equal(one)]
        if found is not None:
            known.append(found)
        return _best(known)

    def _written_so(self, one: Quantity, said: Facts, sentence: str) -> Standing | None:
        """What those of its value give."""
        same = [other for other in self._by_value.get(one.value, ()) if _alike(one, other)]
        if one.unit == "year" and same and _YEAR.fullmatch(one.value):
            return "same"
        return _best(
            _worse(self._by_unit(one, other, same, said, sentence), self._by_rate(one, other, sentence))
            for other in same
        )

    def twin(self, one: Quantity, said: Facts, sentence: str) -> Quantity | None:
        """The same amount in another unit, if the figure itself isn't there."""
        if one.unit is None or self._written_so(one, said, sentence) == "same":
            return None
        equal = self.amounts.equal(one)
        return min(equal, key=lambda other: _ORDER.index(self._of_equal(one, other, sentence)), default=None)

    def may_round(self, one: Quantity, said: Facts, sentence: str) -> bool:
        return self._written_so(one, said, sentence) in (None, "other") and self.amounts.perhaps_equal(one)

    def _of_equal(self, one: Quantity, other: Quantity, sentence: str) -> Standing:
        return self._by_thing(one, compare(one.per, other.per), sentence)

    def _by_unit(
        self, one: Quantity, other: Quantity, same: Sequence[Quantity], said: Facts, sentence: str
    ) -> Standing:
        if one.unit is None:
            if (
                other.unit is None
                or SPELLINGS.get(one.after) == other.unit
                or other.unit in {each.unit for each in said.quantities}
            ):
                return "same"
            return "unproved" if self._counts_another(one, other.unit, sentence) else "open"
        if other.unit is None:
            bare = not any(each.unit is not None or each.after for each in same)
            if SPELLINGS.get(other.after) == one.unit or (bare and is_spelled(one.unit, self._text)):
                return "same"
            return "unproved"
        if {one.unit, other.unit} == {"K", "°C"} and _DIFFERENCE.search(f"{sentence}\n{self._text}"):
            return "open"
        like = likeness(one.unit, other.unit, lang=self._lang, units=self._units)
        return "unproved" if like == "perhaps" else like

    def _counts_another(self, one: Quantity, unit: str, sentence: str) -> bool:
        """Whether what stands behind a figure is a noun that the text doesn't have: 4500 wibbles for €4,500."""
        noun = one.after
        if (
            unit in ("person", "year")
            or not noun
            or (noun.isascii() and not content_terms(noun))
            or noun in self._text.lower()
            or is_spelled(unit, sentence)
        ):
            return False
        if not noun.isascii():
            return unit in MONEY and self._lang in _EAST and noun not in _LIGHT
        return unit in MONEY or self._lang not in _EAST

    def _by_rate(self, one: Quantity, other: Quantity, sentence: str) -> Standing:
        if not one.per and not other.per:
            return "same"
        compared = compare(one.per, other.per)
        return "other" if compared.other else self._by_thing(one, compared, sentence)

    def _by_thing(self, one: Quantity, compared: Compared, sentence: str) -> Standing:
        """What it is per where no unit contradicts. A sentence may leave out what a price or a count is per, but not what makes a
        flow of a volume."""
        if compared.strange:
            return "unproved"
        physical = one.unit in SCALES and SCALES[one.unit][0] in PHYSICAL
        kept = not physical or all(not per.dimension or is_named(per, sentence) for per in compared.less)
        return _worse(_KEPT[kept], *map(self._more, compared.more))

    def _more(self, per: Per) -> Standing:
        """Of what only the sentence gives: the text may say it elsewhere, in a table's head or in the sentence before."""
        if is_told(per, self._text) or self._foreign(per):
            return "same"
        return "open" if is_named(per, self._text) else "unproved"

    def _foreign(self, per: Per) -> bool:
        """Whether it is a thing in the script of another language than the text's."""
        return not per.is_unit and is_latin(per) == (self._lang in _EAST)


_LIGHT = frozenset("的个左右余多来几整上以至到起一每和与及或元人名次")


def _best(found: Iterable[Standing]) -> Standing | None:
    return min(found, key=_ORDER.index, default=None)


def _worse(first: Standing, *others: Standing) -> Standing:
    return max((first, *others), key=_ORDER.index)


def _alike(one: Quantity, other: Quantity) -> bool:
    """一种 and "one of" are numbers only for who says the same."""
    return not other.is_article or one.after == other.after or one.after.isascii() != other.after.isascii()
