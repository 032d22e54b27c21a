"""Whether what the sentence says of one thing is bound to another one in the source: its figure, who did it. Pure.

"North 41 %, south 27 %" doesn't show "south 41 %", though every word of it stands there. What is seen here leaves a sentence undecided; only a letter
that the source doesn't have, plan A for plan B, is missing.
"""

import re
from functools import lru_cache

from msgspec import Struct

from api.agent.facts import facts, plain_sentences, plain_text
from api.agent.units import usual
from api.agent.words import content_terms
from shared.text.terms import terms

_CLAUSE = re.compile(r"[，；;、：:\n|（）()]|,(?!\d{3})|\s(?:and|but|while|whereas)\s|而(?=[\u4e00-\u9fff])")
_DIGIT = re.compile(r"\d")
_HAN = re.compile(r"[\u4e00-\u9fff]+")
_LIGHT = re.compile(
    r"[年月日号为是达占约共的了在于有至到由从自第分别每]|人民币|其中|左右|\b(?:was|is|were|are|at|in|of|the)\b|[\d%.,]"
)
_LETTER = re.compile(r"(?<![A-Za-z0-9])([A-HJ-Z])(方案|计划|组|班|类|级|型|区|楼|座|栋|款|档|套餐|线路|产品|项目|公司)")
_LETTER_BEHIND = re.compile(
    r"(方案|计划|套餐|线路|\b(?i:plan|option|group|class|type|grade|zone|model|version|variant))\s?([A-Z])(?![A-Za-z0-9'’])"
)
_DONE_BY = re.compile(r"\b([a-z]+(?:ed|en|wn|ght|built|made|led))(?: [a-z]+)? by (?=([^.,;:，。；：()]{2,60}))")
_LAST_WORDS = re.compile(r"\s(?:on|in|at|for|with|and [a-z]+ed)\s.*")
_WORDS = (3, 8)  # of a sentence that says who does what to whom

_LONG = 120  # code points, above which no sentence says no more than who does what to whom


class _Told(Struct, frozen=True, kw_only=True):
    """A clause with one figure. `clause`: as written. `unit`: or what is counted. `kinds`: three characters, 华南区, each by its last one."""

    clause: str
    value: str
    unit: str
    words: frozenset[str]
    kinds: frozenset[str]


def other_letters(sentence: str, shown: str) -> tuple[str, ...]:
    """The labels of the sentence, A方案 or "plan A", whose letter stands nowhere in the text, which has another letter in its place."""
    said = _letters(plain_text(sentence))
    if not said:
        return ()
    seen = _letters(plain_text(shown))
    return tuple(
        written
        for (kind, letter), written in said.items()
        if any(other == kind for other, _ in seen)
        and re.search(rf"(?<![A-Za-z0-9]){letter}(?![A-Za-z0-9])", shown) is None
    )


def elsewhere(sentence: str, shown: str) -> bool:
    """Whether a figure or a doer of the sentence is bound to something else in the text."""
    plain = plain_text(sentence)
    figures = _DIGIT.search(plain) is not None
    return (
        (figures and _of_another_label(plain, shown))
        or (" by " in plain and _by_another(plain, plain_text(shown)))
        or _changed_places(plain, shown)
    )


def _letters(text: str) -> dict[tuple[str, str], str]:
    found = {(match[2], match[1]): match[0] for match in _LETTER.finditer(text)}
    return found | {(match[1].lower(), match[2]): match[0] for match in _LETTER_BEHIND.finditer(text)}


def _of_another_label(sentence: str, shown: str) -> bool:
    said = [
        told for text in plain_sentences(sentence) for told in _told(text) if told.words and told.clause not in shown
    ]
    amounts = (
        {(one.value, usual(one.unit or one.after)) for one in facts(shown).quantities}
        if said
        else set[tuple[str, str]]()
    )
    said = [one for one in said if len({value for value, unit in amounts if unit == one.unit} | {one.value}) > 1]
    seen = [told for text in plain_sentences(shown) for told in _told(text)] if said else []
    return any(_bound_otherwise(one, seen) for one in said)


def _bound_otherwise(said: _Told, seen: list[_Told]) -> bool:
    holding = [one for one in seen if one.value == said.value]
    others = [one for one in seen if one.value != said.value and one.unit == said.unit]
    if not holding or not others:
        return False
    nothing_common = all(one.words and not one.words & said.words for one in holding)
    if nothing_common and any(said.words <= other.words for other in others):
        return True
    own = frozenset[str]().union(*(other.kinds for other in others)) & said.kinds
    return any(
        all(kind not in one.kinds and any(rival[-1] == kind[-1] for rival in one.kinds - said.kinds) for one in holding)
        for kind in own
    )


@lru_cache(maxsize=512)
def _told(sentence: str) -> tuple[_Told, ...]:
    found: list[_Told] = []
    for clause in _CLAUSE.split(sentence) if _DIGIT.search(sentence) else ():
        here = facts(clause)
        figures = [one for one in here.quantities if not (one.unit == "year" and len(one.value) == 4)]
        if len(figures) != 1:
            continue
        (figure,) = figures
        rest = clause.replace(figure.written, " ")
        for date in here.dates:
            rest = rest.replace(date.written, " ")
        rest = _LIGHT.sub(" ", rest)
        runs: list[str] = _HAN.findall(rest)
        found.append(
            _Told(
                clause=clause.strip(" .。!！"),
                value=figure.value,
                unit=usual(figure.unit or figure.after),
                words=content_terms(rest),
                kinds=frozenset(run[at : at + 3] for run in runs for at in range(len(run) - 2)),
            )
        )
    return tuple(found)


def _by_another(sentence: str, shown: str) -> bool:
    seen: dict[str, str] = {}
    for match in _DONE_BY.finditer(shown):
        seen[match[1]] = f"{seen.get(match[1], '')} {match[2].partition(' by ')[0]}"
    for match in _DONE_BY.finditer(sentence):
        doer = content_terms(_LAST_WORDS.sub("", match[2].partition(" by ")[0]))
        if match[1] in seen and doer and not doer & content_terms(seen[match[1]]):
            return True
    return False


def _changed_places(sentence: str, shown: str) -> bool:
    """Whether the text has the same few English words with the first and the last of them the other way round."""
    if not sentence.isascii() or " by " in sentence:
        return False
    said = _in_order(sentence)
    if not _WORDS[0] <= len(said) <= _WORDS[1] or said[0] == said[-1]:
        return False
    rows = [
        row for text in plain_sentences(shown) if " by " not in text and (row := _in_order(text)) and {*row} == {*said}
    ]
    return bool(rows) and all(row[0] == said[-1] and row[-1] == said[0] for row in rows)


@lru_cache(maxsize=512)
def _in_order(text: str) -> tuple[str, ...]:
    if len(text) > _LONG:
        return ()
    known = content_terms(text)
    return tuple(term for term in terms(text) if term in known)
