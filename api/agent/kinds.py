"""What kind of answer a question asks for, where its words say so: a reason, a person or body, an amount in dollars. Pure."""

import re
from typing import Literal, TypeAlias

from msgspec import Struct

from api.agent.facts import plain_text
from api.agent.money import MONEY
from api.agent.units import SPELLINGS, alternatives
from api.agent.words import simplified

KindName: TypeAlias = Literal[
    "reason", "who", "place", "named_place", "time", "duration", "number", "counted", "money", "unit"
]


class Kind(Struct, frozen=True, kw_only=True):
    """`written`: the unit of an amount, or what is counted, as the question has it. `unit`: as the table of units writes it."""

    name: KindName
    written: str = ""
    unit: str = ""


CURRENCIES = frozenset(MONEY) | {"pound"}  # which may be one
_UNIT = alternatives(SPELLINGS)
_MONEY_UNIT = alternatives(word for word, unit in SPELLINGS.items() if unit in CURRENCIES)
_COUNTS = frozenset({"person", "%"})  # as often written with another word or none: 16名, "a third"
_HAN_RUN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]+")

_QUESTION_WORD = re.compile(r"\b(?:what|which|who|whom|whose|when|where|why|how)\b", re.IGNORECASE)
_WHY = re.compile(
    r"^\W*为(?:什么|何)|(?<![作称成化变])为(?:什么|何)(?!\W*$)|是为(?:什么|何)|为啥|何故|因何|什么(?:原因|缘故)|(?:原因|缘由)(?:是|有|在于|为)?(?:什么|哪些|何)|\bwhy\b|\bhow come\b|\b(?:what|which) (?:is|are|was|were) the (?:\w+ )?reasons?\b",
    re.IGNORECASE,
)
_WHO = re.compile(
    r"谁|哪一?位|哪一?名|哪些?人|哪个人|何人|什么人|哪(?:一?[个家所间]|些|几[个家])?(?:公司|企业|集团|机构|单位|组织|部门|厂商?|供应商|银行|医院|大学|学校)|\b(?-i:(?!WHO\b))who(?:m|se)?\b"
    r"|\b(?:which|what) (?:company|firm|organi[sz]ation|department|team|person|supplier|vendor|agency|university)\b",
    re.IGNORECASE,
)
_WHERE = re.compile(
    r"哪里|哪儿|何处|何地|什么地方|哪(?:一?[个座]|些|几[个座])?(?:国家|国|城市|省份?|市|县|州|城|镇|村|岛屿?|地区|地方)|\bwhere\b"
    r"|\b(?:which|what) (?:countr(?:y|ies)|cit(?:y|ies)|towns?|states?|provinces?|continents?|islands?|places?)\b",
    re.IGNORECASE,
)
_NAMED_PLACE = re.compile(
    r"哪(?:一?[个座]|些|几[个座])?(?:国|城|省|市|县|州|镇|村|岛)|\b(?:which|what) (?:countr|cit|town|state|province|continent|island)",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"何时|什么时[候间]|哪一?[年天日月]|哪个月|几[月号]|\bwhen\b|\b(?:what|which) (?:year|date|day|month)\b",
    re.IGNORECASE,
)
_HOW_LONG = re.compile(r"多久|多长时间|\bhow long\b", re.IGNORECASE)
_HOW_MANY_UNITS = re.compile(rf"(?:多少|几)\s?(?:万亿|[十百千]?[万亿]|百|千)?({_UNIT})|\b(?i:how many) ({_UNIT})")
_HOW_MANY = re.compile(r"多少|几[个名位次种台件项家条份]|\bhow (?:many|much)\b", re.IGNORECASE)
_COUNTED = re.compile(
    r"(?:多少|几)\s?[个位名家]([\u4e00-\u9fff]{2})"
    r"|\bhow many (?:\w+ ){0,2}?(\w+)(?= (?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|might|must|in|on|of|for|at|from)\b)",
    re.IGNORECASE,
)
_MONEY_ASKED = re.compile(
    r"多少钱|\bhow much (?:money|(?:do|does|did|will|would) [^?]{1,80}\b(?:cost|pay|charge|spend)s?)\b", re.IGNORECASE
)
_IN_MONEY = re.compile(
    rf"(?:以|按|用|折合(?:成|为)?|换算成|相当于)(?:多少)?({_MONEY_UNIT})|\b(?i:how much|what)\b[^?]{{1,160}}?\bin ({_MONEY_UNIT})(?=\W*$)"
)
_ASKED: tuple[tuple[KindName, re.Pattern[str]], ...] = (
    ("number", _HOW_MANY),
    ("duration", _HOW_LONG),
    ("who", _WHO),
    ("named_place", _NAMED_PLACE),
    ("place", _WHERE),
    ("time", _WHEN),
)


def kind_of(question: str) -> Kind | None:
    """None: any kind may do, or the words don't say which."""
    plain = _as_far_as_one_asks(plain_simplified(question))
    if _WHY.search(plain):
        return Kind(name="reason")
    if (unit := _IN_MONEY.search(plain)) or (unit := _HOW_MANY_UNITS.search(plain)):
        written = next(filter(None, unit.groups()))
        if SPELLINGS[written] not in _COUNTS:
            return Kind(name="unit", unit=SPELLINGS[written], written=written)
        return Kind(name="number")
    if _MONEY_ASKED.search(plain):
        return Kind(name="money")
    if counted := _COUNTED.search(plain):
        return Kind(name="counted", written=counted[1] or counted[2])
    for name, pattern in _ASKED:
        if pattern.search(plain):
            return Kind(name=name)
    return None


def plain_simplified(text: str) -> str:
    plain = plain_text(text)
    return plain if plain.isascii() else _HAN_RUN.sub(lambda match: simplified(match[0]), plain)


def _as_far_as_one_asks(plain: str) -> str:
    """Up to its second English question word: "what happens when ..." is no question for a time."""
    words = [match.start() for match in _QUESTION_WORD.finditer(plain)]
    return plain[: words[1]] if len(words) > 1 else plain
