"""A unit that a sentence gives apart from its figure: "the price in dollars is 4,500", 价格（美元）：4500, 重量（kg）：12. Pure."""

import re

from msgspec.structs import replace

from api.agent.facts import Facts, facts, plain_text
from api.agent.money import MONEY_WORDS
from api.agent.quantities import Quantity
from api.agent.units import SPELLINGS, alternatives

_MONEY = alternatives(MONEY_WORDS)
_APART = re.compile(
    rf"\(\s?(?:[Ii]n\s|单位[:为]?\s?)?(?P<bracket>{alternatives(SPELLINGS)})\s?\)"
    rf"|(?:\b[Ii]n\s|[以按用]|单位[:为是]?\s?)(?P<of>{_MONEY})(?!\s(?:area|zone|countr|terms))"
    rf"|(?<![A-Za-z])(?P<attribute>{_MONEY})\s?(?:prices?\b|cost\b|amount\b|value\b|fee\b|sum\b|价|金额|报价|售价|费)"
)
_CLAUSE = re.compile(r"[;。!?\n|]|,(?!\d{3})|\.(?=\s|\Z)")
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
# what may stand behind a figure without being what it counts
_NO_NOUN = frozenset(
    [
        "for",
        "per",
        "in",
        "as",
        "on",
        "to",
        "with",
        "and",
        "or",
        "a",
        "an",
        "at",
        "by",
        "of",
        "from",
        "each",
        "is",
        "was",
        "excluding",
        "including",
        "plus",
        "左",
        "右",
        "上",
        "下",
        "以",
        "起",
        "一",
        "每",
        "的",
        "和",
        "及",
        "至",
        "到",
        "整",
    ]
)


def stated_apart(sentence: str, said: Facts) -> Facts:
    """With that unit at the figure that it must be of: the one of the clause that has none and counts nothing."""
    plain = plain_text(sentence)
    if not said.quantities or _APART.search(plain) is None:
        return said
    found = said.quantities
    for clause in _CLAUSE.split(plain):
        match = _APART.search(clause)
        bare = [one for one in facts(clause).quantities if _is_bare(one)] if match else []
        if match and len(bare) == 1:
            unit = SPELLINGS[match["bracket"] or match["of"] or match["attribute"]]
            found = tuple(replace(one, unit=unit) if one == bare[0] else one for one in found)
    return said if found is said.quantities else replace(said, quantities=found)


def _is_bare(one: Quantity) -> bool:
    return one.unit is None and (not one.after or one.after in _NO_NOUN) and _YEAR.fullmatch(one.value) is None
