"""Whether the source says the sentence outright: not under a condition or a denial, of the same one, in the same order. Pure.

Every word of a sentence may stand in its source, which yet says it only if something holds, denies it, or says it of another. What
is seen here leaves a sentence undecided; it proves nothing wrong.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import permutations

from api.agent.facts import facts, plain_sentences, plain_text
from api.agent.sought import Searched, Sought
from api.agent.words import content_terms, without_figures

_NEAR = 0.15  # below the best sentence's share of common words: still one that the claim may come from
_ABOUT = 0.5  # share of its words without figures that a clause about the same thing has

_CONDITION = Sought(
    r"\b(?:unless|if|provided|only|as long as|subject to)\b|除非|的前提|前提是|如果|若(?!干)|只有|只在|仅限"
)
_DENIED = Sought(
    r"\b(?:false|untrue|incorrect|rul(?:ed|es) out|deni(?:ed|es)|disproved|refuted|withdrawn|revoked|retracted|overruled|opposed|claim(?:s|ed)?|alleged(?:ly)?"
    r"|originally|formerly|previously|no longer|myth|rumou?r)\b"
    r"|并非|不实|谣言|否认|误传|误以为|声称|据称|原(?:为|定|是|本|先)|曾(?:为|是|经)|撤回|废止|不再"
)
_CLAUSE = re.compile(r"[，；;]|,(?!\d{3})|\s(?:and|but|while|whereas)\s|而(?=[\u4e00-\u9fff])")
_SET_ASIDE = re.compile(
    r"\bnot\s+([^,.;]+)|\brather than\s+([^,.;]+)|\binstead of\s+([^,.;]+)|\bexcept(?: for)?\s+([^,.;]+)|(?:不是|并?非)([^，,。；;]+)|除([^，,。；;]{1,20}?)(?:之|以)?外(?!部|地|国|包)|([^，,。；;]{1,12})除外"
)
_FROM_TO = re.compile(
    r"(?:\bfrom|从|由)\s*+([^，,。;；\d]{0,100}+\d[^，,。;；]{0,100}?)(?:\b(?:up |down )?to|上升到|下降到|上升至|下降至|升至|降至|提高到|减少到|增加到|降低到|到|至)\s*(\D{0,3}\d[\d.,]*)",
    re.IGNORECASE,
)
_ORDER = re.compile(r"\b(before|after|prior to|than)\b", re.IGNORECASE)
_NARROWING = re.compile(r"(?:以上|以下|以内|以外|级|岁|类|型)的?$")
_FIGURE = re.compile(r"\d+(?:\.\d+)?")
_BLANK_OR_END = re.compile(r"\s+|(?<![。.！!])[。.！!]++\s*+$")


def conditioned(sentence: str, shown: str) -> bool:
    """Whether the places that the sentence may come from put it under a condition or a denial that it doesn't have itself."""
    whole = Searched(plain_text(shown))
    return any(
        sign.may_be_in(whole) and sign.pattern.search(sentence) is None and _all_say(sign, _places(sentence, shown))
        for sign in (_CONDITION, _DENIED)
    )


def _all_say(sign: Sought, places: Sequence[str]) -> bool:
    return bool(places) and all(sign.pattern.search(place) for place in places)


def narrowed(sentence: str, shown: str) -> bool:
    """Whether the text has the sentence word for word, but only behind words that narrow it: 副总裁以上员工可以 for 员工可以."""
    core = _bare(sentence)
    before = [one[: one.find(core)] for one in map(_bare, _places(sentence, shown)) if core and core in one]
    return bool(before) and all(_NARROWING.search(one) for one in before)


def spread(sentence: str, shown: str) -> bool:
    """Whether what the sentence says of one stands in the source of another, or the other way round."""
    places = _places(sentence, shown)
    core = _bare(sentence)
    checks: Sequence[Callable[[str, str], bool]] = (_of_another, _another_figure, _set_aside, _turned)
    if core and all(core in _bare(place) for place in places):  # in one piece: nothing was put together
        checks = (_set_aside,)
    return bool(places) and any(all(one(sentence, place) for place in places) for one in checks)


@lru_cache(maxsize=256)
def _places(sentence: str, shown: str) -> tuple[str, ...]:
    """The source's sentences that have most of the sentence's words."""
    said = content_terms(sentence)
    shares = [(len(said & terms), text) for text, terms in _split(shown)]
    best = max((share for share, _ in shares), default=0)
    return tuple(text for share, text in shares if best and share >= best - _NEAR * len(said))


@lru_cache(maxsize=64)
def _split(shown: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """Its sentences with their terms, once for all the claims that are held against it."""
    return tuple((sentence, content_terms(sentence)) for sentence in plain_sentences(shown))


def _of_another(sentence: str, place: str) -> bool:
    """Two clauses run alike, each with a word of the sentence that the other lacks, and with a word of its own."""
    said = content_terms(sentence)
    clauses = [content_terms(one) for one in _CLAUSE.split(place)]
    covered = said & content_terms(place)
    if len(said) < 2 or any(covered <= one for one in clauses):
        return False
    return any(
        one & other & said
        and (one & said) - other
        and (other & said) - one
        and one - said - other
        and other - said - one
        for one, other in permutations(clauses, 2)
    )


def _another_figure(sentence: str, place: str) -> bool:
    """The clause that is about the sentence's subject gives another figure, and the sentence's own stands elsewhere."""
    figures = {one.value for one in facts(sentence).quantities}
    words = _words(sentence)
    if len(figures) != 1 or not words:
        return False
    clauses = [(_words(one), {each.value for each in facts(one).quantities}) for one in _CLAUSE.split(place)]
    about = [found for seen, found in clauses if len(words & seen) >= _ABOUT * len(words)]
    return bool(about) and all(found and not found & figures for found in about)


def _set_aside(sentence: str, place: str) -> bool:
    """A word of the sentence stands only in what the source sets aside: "at delivery, not at installation"."""
    aside = frozenset[str]().union(
        *(content_terms(next(filter(None, one.groups()))) for one in _SET_ASIDE.finditer(place))
    )
    left = content_terms(_SET_ASIDE.sub(" ", place))
    return _SET_ASIDE.search(sentence) is None and bool((content_terms(sentence) & aside) - left)


def _turned(sentence: str, place: str) -> bool:
    """From here to there, or one before the other, the other way round."""
    said, seen = _spans(sentence), _spans(place)
    if any((last, first) in seen and (first, last) not in seen for first, last in said):
        return True
    here, there = _sides(sentence), _sides(place)
    if here is None or there is None or here[0] != there[0]:
        return False
    _, first, last = here
    _, before, behind = there
    return len(first & behind) + len(last & before) > len(first & before) + len(last & behind)


def _spans(text: str) -> set[tuple[str, str]]:
    found = [(_FIGURE.findall(one[1]), _FIGURE.findall(one[2])) for one in _FROM_TO.finditer(plain_text(text))]
    return {(first[-1], last[0]) for first, last in found if first and last}


def _sides(text: str) -> tuple[str, frozenset[str], frozenset[str]] | None:
    found = list(_ORDER.finditer(text))
    if len(found) != 1:
        return None
    (one,) = found
    before, behind = text[: one.start()], text[one.end() :]
    if not content_terms(before):  # "before A, B" is "B before A"
        behind, _, before = behind.partition(",")
    left, right = content_terms(before), content_terms(behind)
    return one[1].lower(), left - right, right - left


def _bare(text: str) -> str:
    return _BLANK_OR_END.sub("", plain_text(text))


def _words(text: str) -> frozenset[str]:
    return content_terms(without_figures(text)) if text.isascii() else content_terms(_FIGURE.sub(" ", text))
