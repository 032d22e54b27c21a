"""Which sentences of some passages answer a question, by words alone. Pure.

A sentence is worth the question's words that it shows, weighted by how rarely they occur in the passages; words of the
question that the passage's title or section already says count in part; a question for a time, number or person prefers
sentences that have one. The first passages of a ranking are trusted more than later ones.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from api.agent.words import content_terms
from shared.text.sentences import sentences


class Passage(Struct, frozen=True, kw_only=True):
    """A block as a tool showed it. `whole` False: a snippet, which may begin and end inside a sentence. `rank`: 1.. in that result."""

    block_id: str
    doc_id: str
    title: str
    section_path: str
    text: str
    whole: bool
    rank: int


class Excerpt(Struct, frozen=True, kw_only=True):
    """`text`: a whole sentence, verbatim. `score`: 0..about 1.3, comparable within one question."""

    block_id: str
    text: str
    score: float
    place: tuple[int, int]  # (passage, sentence) in reading order


class Picked(Struct, frozen=True, kw_only=True):
    """`best`: the passage that shows most of the question; `coverage`: what share (0..1) of its weight, title included."""

    excerpts: tuple[Excerpt, ...]
    best: Passage | None
    coverage: float


MOST = 4  # sentences
CLOSE_TO_BEST = 0.65  # share of the best score that a further sentence must reach
CONTEXT_SHARE = 0.8  # what a word is worth that title or section say, not the sentence
BEFORE_SHARE = 0.3  # the same for the sentence before: "It was founded ..."
RANK_PRIOR = 0.03  # lost with every place in the ranking
KIND_BONUS = 0.15  # a time for "when", a number for "how many"
REPEATED_SHARE = 0.3  # of the score of a sentence that only repeats the question

_ASKING = re.compile(
    r"什么时候|何时|哪一?[年月日天位个种些类项部家所座本次条]?|哪里|哪儿|何处|何地|什么|甚麼|什麼|哪|谁|誰|何人|多少|几[个年月日次种位名岁]?|幾[個年月日次種位名歲]?"
    r"|怎么样?|怎麼樣?|怎样|如何|为什么|為什麼|为何|為何|是否|有没有|请问|請問|吗|嗎|呢"
    r"|\b(?:what|which|who|whom|whose|when|where|why|how|many|much|long|please|tell me|is there|are there|name of)\b",
    re.IGNORECASE,
)
_WANTS_TIME = re.compile(
    r"何时|什么时候|什麼時候|哪一?年|几年|幾年|年份|日期|\bwhen\b|\bwhat (?:year|date|time)\b", re.IGNORECASE
)
_WANTS_NUMBER = re.compile(
    r"多少|几|幾|\bhow (?:many|much|long|old|far|often|large|big|tall|high)\b|\bwhat (?:percentage|number)\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\d{3,4}|\d+\s*[年月日]|[〇零一二三四五六七八九十]+[年月日]|\b(?:January|February|March|April|June|July|August|September|October|November|December)\b"
)
_NUMBER = re.compile(
    r"\d|[一二三四五六七八九十百千万亿两]+[个年月日次种位名岁人元米条]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|hundred|thousand|million)\b",
    re.IGNORECASE,
)
_HEADING = re.compile(r"\s*#{1,6}\s")
_SHORTEST = 6  # code points; less is a heading or a crumb


def asked_terms(question: str) -> frozenset[str]:
    """The words of a question that its answer's surroundings should show."""
    return content_terms(_ASKING.sub(" ", question))


def pick(question: str, passages: Sequence[Passage]) -> Picked:
    """The best whole sentences in reading order, and how much of the question is shown at all."""
    asked = asked_terms(question)
    candidates = [one for number, passage in enumerate(passages) for one in _candidates(number, passage)]
    if not asked or not candidates:
        return Picked(excerpts=(), best=None, coverage=0.0)
    weights = _weights(asked, [one.terms for one in candidates])
    best = max(passages, key=lambda passage: (_coverage(passage, weights), -passage.rank))
    scored = [_scored(question, one, weights) for one in candidates if one.passage.whole]
    top = max((one.score for one in scored), default=0.0)
    close = sorted((one for one in scored if one.score >= top * CLOSE_TO_BEST), key=lambda one: (-one.score, one.place))
    chosen = sorted(close[:MOST], key=lambda one: one.place)
    return Picked(excerpts=tuple(chosen), best=best, coverage=_coverage(best, weights))


class _Candidate(Struct, frozen=True, kw_only=True):
    place: tuple[int, int]
    passage: Passage
    text: str
    terms: frozenset[str]
    context: frozenset[str]  # of title and section
    before: frozenset[str]  # of the sentence before


def _candidates(number: int, passage: Passage) -> list[_Candidate]:
    context = content_terms(f"{passage.title} {passage.section_path}")
    found: list[_Candidate] = []
    before: frozenset[str] = frozenset()
    for index, (start, end) in enumerate(sentences(passage.text)):
        text = passage.text[start:end].strip()
        terms = content_terms(text)
        if _readable(text):
            found.append(
                _Candidate(
                    place=(number, index), passage=passage, text=text, terms=terms, context=context, before=before
                )
            )
        before = terms
    return found


def _readable(sentence: str) -> bool:
    return len(sentence.strip()) >= _SHORTEST and _HEADING.match(sentence) is None


def _weights(asked: frozenset[str], sentence_terms: list[frozenset[str]]) -> dict[str, float]:
    """Words that few sentences have tell more; one that no sentence has weighs most and can't be earned."""
    counts = Counter(term for terms in sentence_terms for term in asked & terms)
    return {term: math.log(1 + (len(sentence_terms) + 1) / (counts[term] + 0.5)) for term in asked}


def _scored(question: str, one: _Candidate, weights: dict[str, float]) -> Excerpt:
    score = sum(weight * _share(term, one) for term, weight in weights.items()) / sum(weights.values())
    if not one.terms - weights.keys() - one.context:  # says nothing that the question didn't
        score *= REPEATED_SHARE
    if _is_of_wanted_kind(question, one.text):
        score += KIND_BONUS
    score *= 1 - RANK_PRIOR * (one.passage.rank - 1)
    return Excerpt(block_id=one.passage.block_id, text=one.text, score=score, place=one.place)


def _share(term: str, one: _Candidate) -> float:
    if term in one.terms:
        return 1.0
    if term in one.context:
        return CONTEXT_SHARE
    return BEFORE_SHARE if term in one.before else 0.0


def _is_of_wanted_kind(question: str, sentence: str) -> bool:
    if _WANTS_TIME.search(question):
        return _TIME.search(sentence) is not None
    return _WANTS_NUMBER.search(question) is not None and _NUMBER.search(sentence) is not None


def _coverage(passage: Passage, weights: dict[str, float]) -> float:
    shown = content_terms(f"{passage.title}\n{passage.section_path}\n{passage.text}")
    return sum(weight for term, weight in weights.items() if term in shown) / sum(weights.values())
