"""Whether a figure stands in the evidence at what the sentence says it of: its year, its label, its party. Pure.

"In 2019 there were 40 cases" is not shown by "40 cases in 2018, 55 in 2019", though every word of it stands there.
"""

import re
from functools import lru_cache

from msgspec import Struct

from api.agent.facts import Facts, facts, plain_sentences, plain_text
from api.agent.numerals import in_digits
from api.agent.pins import times_and_parts

_BORDER = re.compile(r"[，；、,;\n|（）()]+|(?<=\d)\s+and\s+|\sand\s|\sbut\s|以及|而(?=[A-Z\d甲乙丙丁])")
_LABEL = re.compile(
    r"(?<![A-Za-z0-9])[A-HJ-Z](?![A-Za-z0-9'’])|[甲乙丙丁](?=方|班|组|队|级|类|型|公司|厂|烷|醇|醛|酸|肝|等|[、和与])"
)
_FIGURE = re.compile(
    r"\d|[一二三四五六七八九十百千万亿两]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|\w+teen|\w+ty|hundred|thousand|\w+illion)\b",
    re.IGNORECASE,
)
_OTHER_DIGIT = re.compile(r"[^\D0-9]")
_MARKS = str.maketrans("", "", ".,-")
_IS_OF = re.compile(r"([\u4e00-\u9fff]{2,4})是([\u4e00-\u9fff]{2,4})的")
_PASSIVE = re.compile(r"\bby\b|被|由|让|遭")
_SUFFERED = re.compile(r"\b(?:is|are|was|were|been|being) \w+(?:ed|en|ght|t|d) by\b|被|遭")


class _Piece(Struct, frozen=True, kw_only=True):
    values: frozenset[str]
    anchors: frozenset[tuple[str, str]]  # (kind, value)


def misplaced(sentence: str, shown: str) -> bool:
    """Whether a figure of the sentence is found only beside another year, label or identifier than the sentence's own."""
    said = [piece for text in plain_sentences(sentence) for piece in _pieces(text) if piece.anchors]
    for piece in said:
        for value in piece.values:
            holding = [one for text in _perhaps_with(value, shown) for one in _pieces(text) if value in one.values]
            if holding and all(_rivals(piece.anchors, one.anchors) for one in holding):
                return True
    return False


def turned_round(sentence: str, shown: str) -> bool:
    """Whether two parties of the sentence are found together only the other way round: who did what to whom."""
    if any(f"{other}是{one}的" in shown for one, other in _IS_OF.findall(plain_text(sentence))):
        return True
    parties = _parties(sentence)
    if len(parties) != 2:
        return False
    first, second = parties
    plain = plain_text(sentence)
    between = plain[plain.find(first) + len(first) : plain.find(second)]
    if not any(sign.islower() or sign > "\u3400" for sign in between):  # one name of two words
        return False
    together = [text for text in plain_sentences(shown) if first in text and second in text]
    return bool(together) and all(_other_way(sentence, text, first, second) for text in together)


def _other_way(sentence: str, text: str, first: str, second: str) -> bool:
    """The other order in the same voice, or the same order in the other voice."""
    if text.find(first) > text.find(second):
        return bool(_PASSIVE.search(text)) == bool(_PASSIVE.search(sentence))
    return bool(_SUFFERED.search(text)) != bool(_SUFFERED.search(sentence))


def _rivals(said: frozenset[tuple[str, str]], seen: frozenset[tuple[str, str]]) -> bool:
    """Of one kind of anchor the piece shows others than the sentence's, and none of its own."""
    kinds = {kind for kind, _ in said}
    return any(
        not {one for one in said if one[0] == kind} & seen and any(other[0] == kind for other in seen) for kind in kinds
    )


def _perhaps_with(value: str, shown: str) -> list[str]:
    """The sentences that may hold a figure: multiplied by whatever power of ten, it has the same digits."""
    digits = value.translate(_MARKS).strip("0")
    return [text for text, seen in _in_figures(shown) if seen is None or digits in seen]


@lru_cache(maxsize=64)
def _in_figures(shown: str) -> tuple[tuple[str, str | None], ...]:
    """Its sentences with figures, and how they are written in digits without points; None where pieces may read otherwise."""
    found: list[tuple[str, str | None]] = []
    for text in filter(_FIGURE.search, plain_sentences(shown)):
        spelled = in_digits(text)
        in_english = any(
            text[start].isascii() for _, (start, _) in spelled.places
        )  # "two hundred and five" is cut in two
        found.append((text, None if in_english or _OTHER_DIGIT.search(text) else spelled.text.translate(_MARKS)))
    return tuple(found)


@lru_cache(maxsize=512)
def _pieces(sentence: str) -> tuple[_Piece, ...]:
    """Clause by clause; a clause without an anchor of its own belongs to those before it. `sentence`: plain."""
    found: list[_Piece] = []
    standing: frozenset[tuple[str, str]] = frozenset()
    for piece in _BORDER.split(sentence) if _FIGURE.search(sentence) else ():
        here = facts(piece)
        own = _anchors(piece, here)
        kinds = {kind for kind, _ in own}
        standing = own | frozenset(one for one in standing if one[0] not in kinds)
        values = frozenset(one.value for one in here.quantities if not _is_year(one.value, own))
        if values:
            found.append(_Piece(values=values, anchors=standing))
    return tuple(found)


def _is_year(value: str, anchors: frozenset[tuple[str, str]]) -> bool:
    return ("year", value) in anchors


def _anchors(text: str, here: Facts) -> frozenset[tuple[str, str]]:
    found = {pin.key for pin in times_and_parts(text) if pin.kind != "place"}
    found |= {("label", match[0]) for match in _LABEL.finditer(text)}
    found |= {("identifier", name.lower()) for name in here.names if any(sign.isdigit() for sign in name)}
    return frozenset(found)


def _parties(sentence: str) -> list[str]:
    """Names and labels in the order in which they stand, each once."""
    plain = plain_text(sentence)
    named = [*facts(sentence).names, *re.findall(r"[\u4e00-\u9fff]方(?=[向给将把对支应须])|[甲乙丙丁]方", plain)]
    named += re.findall(r"^[A-Z][a-z]{2,}\b", plain)
    labels = dict.fromkeys(label for label in _LABEL.findall(plain) if label.isascii())
    named += labels if len(labels) > 1 else ()
    return sorted(dict.fromkeys(named), key=plain.find)
