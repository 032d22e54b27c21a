"""What a question is about by name, and whether a text has it: a passage that never names it can't answer. Pure.

Names are capitalised words inside an English question, Latin words inside a Chinese one, and both parties of a relation ("between A and B",
A与B有什么关系). So are Chinese ones that somebody has dealings with, 与格兰富的协议, or whose matter is asked for, 莎莉公司的前身.
"""

import re
from calendar import day_name, month_name
from collections.abc import Set

from msgspec import Struct

from api.agent.exact_names import identifiers
from api.agent.wanted import without_asking
from api.agent.words import content_terms

_RELATION_ZH = re.compile(
    r"(?P<one>[^，。？！,?!\s的]{2,20}?)(?:与|與|和|跟|同|及)(?P<other>[^，。？！,?!\s的]{2,20}?)(?:之间|之間)?(?:的|有(?:什么|什麼|何|哪些|没有|無|无)?|是什么|是何)?(?:关系|關係|关联|關聯|联系|聯繫|区别|區別|差别|差異|差异|异同|不同|相同|共同)"
)
_RELATION_EN = re.compile(
    r"\b(?:relation(?:ship)?|connection|link|difference|similarit\w+|correlation|association)s? (?:is there )?between (?:the )?(?P<one>.{2,40}?) and (?:the )?(?P<other>.{2,40}?)(?=[?.!]|$)"
    r"|\b(?:how (?:is|are|was|were)|(?:is|are)) (?:the )?(?P<first>.{2,40}?) (?:related|connected|linked) (?:to|with) (?:the )?(?P<second>.{2,40}?)(?=[?.!]|$)"
    r"|\b(?:does|do|has|have) (?:the )?(?P<left>.{2,40}?) (?:have )?(?:anything |something |got )?to do with (?:the )?(?P<right>.{2,40}?)(?=[?.!]|$)",
    re.IGNORECASE,
)
_CAPITALISED = re.compile(r"(?<![\w'’.-])[A-Z][a-z]{2,}(?![\w-])")
_LATIN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{3,}(?![A-Za-z0-9])")
_BEGINNING = re.compile(r"(?:^|[.!?:;\"“(]\s*)$")
_SMALL = re.compile(r"\b[a-z]{3,}\b")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_COMPANION_ZH = re.compile(
    r"(?:与|與|和|跟|同)(?P<name>[\u4e00-\u9fff]{2,8}?)(?=的|之间|之間|签|簽|合作|订|訂|达成|達成)"
)
_OWNER_ZH = re.compile(r"^(?:请问)?(?P<name>[^\W\d_在是与與和从從对對被把由为為以于於就所有A-Za-z]{3,10}?)的(?!时|時)")
_NO_NAME = frozenset([*month_name[1:], *day_name, "English", "Chinese"])


class Subjects(Struct, frozen=True, kw_only=True):
    """`names`: all that are to be found; `together`: the parties of a relation, which one document has to show both."""

    names: tuple[str, ...]
    together: tuple[str, ...]


def subjects(question: str) -> Subjects:
    if _HAN.search(question):
        found = [match[0] for match in _LATIN.finditer(question)]
        named = [match["name"] for pattern in (_COMPANION_ZH, _OWNER_ZH) for match in pattern.finditer(question)]
        found += [name for name in named if without_asking(name) == name]  # not 什么时候开始的, which is a question
    else:
        found = _capitalised(question)
    exact = frozenset(identifiers(question))
    names = tuple(dict.fromkeys(one for one in found if one not in exact))
    return Subjects(names=names, together=_parties(question))


def has(text_terms: Set[str], subject: str) -> bool:
    """A text by its content terms: half of the subject's are enough, whatever form the others have."""
    wanted = content_terms(subject)
    return 2 * len(wanted & text_terms) >= len(wanted)


def _parties(question: str) -> tuple[str, ...]:
    match = _RELATION_ZH.search(question) or _RELATION_EN.search(question)
    return tuple(text.strip() for text in match.groups() if text) if match else ()


def _capitalised(question: str) -> list[str]:
    """None of a question that capitalises all its words, as headings do."""
    if len(_SMALL.findall(question)) < 2:
        return []
    return [
        match[0]
        for match in _CAPITALISED.finditer(question)
        if match[0] not in _NO_NAME and not _BEGINNING.search(question[: match.start()])
    ]
