"""Which sentences of some passages answer a question, by words alone. Pure.

A sentence is worth the question's words that it shows, weighted by how rarely they occur in the passages; words of the
question that the passage's title or section already says count in part; a question for a time, number or person prefers
sentences that have one. The first passages of a ranking are trusted more than later ones. A sentence about another year,
quarter, chapter or amount than the one asked for is none. List items and table rows are quoted whole, a reason with what
it explains.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct, structs

from api.agent.pins import pins, unshown
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
    """`text`: verbatim; a whole sentence, list item or table row, perhaps with the sentence that gives its reason. `score`: 0..about 1.3, comparable within one question."""

    block_id: str
    text: str
    score: float
    place: tuple[int, int]  # (passage, sentence) in reading order
    span: tuple[int, int]  # of `text` in the passage's


class Picked(Struct, frozen=True, kw_only=True):
    """`best`: the passage that shows most of the question; `coverage`: what share (0..1) of its weight, title included.

    `unshown`: the years, quarters, amounts, ... of the question, as written there, that no sentence is about.
    """

    excerpts: tuple[Excerpt, ...]
    best: Passage | None
    coverage: float
    unshown: tuple[str, ...] = ()


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
    r"|是什么意思|\b(?:mean|means|stand for)\b(?=\W*$)|\b(?:what|which|who|whom|whose|when|where|why|how|many|much|long|please|tell me|is there|are there|name of)\b",
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
    r"\d{3}|\d\s*[年月日]|[〇零一二三四五六七八九十][年月日]|\b(?:January|February|March|April|June|July|August|September|October|November|December)\b"
)
_NUMBER = re.compile(
    r"\d|[一二三四五六七八九十百千万亿两][个年月日次种位名岁人元米条]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|hundred|thousand|million)\b",
    re.IGNORECASE,
)
_WANTS_REASON = re.compile(
    r"为什么|為什麼|为何|為何|原因|缘由|\bwhy\b|\bhow come\b|\breasons?\b|\bcauses?\b", re.IGNORECASE
)
_REASON = re.compile(
    r"\s*(?:[这其此该]{0,2}(?:主要|根本|直接)?(?:的)?(?:原因|缘由|理由)|这?(?:主要)?是?(?:因为|由于)"
    r"|(?:this|that|it)?\s?(?:is|was|were|are)?\s?(?:because|due to|caused by|owing to)\b|the (?:main )?(?:reason|cause)s?\b)",
    re.IGNORECASE,
)
_ITEM = re.compile(r"[ \t]*(?:[-*+•·]|\(?\d{1,3}[.)、）](?!\d)|[（(]?[一二三四五六七八九十]{1,3}[)）、])[ \t]*\S")
_ITEM_END = re.compile(
    r"\n(?:[ \t]*\n|[ \t]*#|[ \t]*\||(?=[ \t]*(?:[-*+•·]|\(?\d{1,3}[.)、）](?!\d)|[（(]?[一二三四五六七八九十]{1,3}[)）、])[ \t]*\S))"
)
_ITEM_CHARS = 600  # a longer list item is quoted by its sentences
_IDENTIFIER = re.compile(
    r"(?<![A-Za-z0-9])(?=[A-Za-z0-9])(?=[A-Za-z_.\-]{0,200}+\d)(?=[0-9_.\-]{0,200}+[A-Za-z])[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)*"
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
    asked_pins = pins(question)
    whole = [one for one in candidates if one.passage.whole]
    missing = [unshown(asked_pins, one.text, f"{_headed(one.passage)}\n{one.passage.text}") for one in whole]
    fitting = [one for one, lacks in zip(whole, missing, strict=True) if not lacks]
    scored = [(_scored(question, one, weights), one) for one in _naming(question, fitting)]
    top = max((one.score for one, _ in scored), default=0.0)
    close = sorted(
        (one for one in scored if one[0].score >= top * CLOSE_TO_BEST), key=lambda one: (-one[0].score, one[0].place)
    )
    widened = [
        _widened(excerpt, one, reason=_WANTS_REASON.search(question) is not None) for excerpt, one in close[:MOST]
    ]
    return Picked(
        excerpts=_apart(sorted(widened, key=lambda one: (one.place[0], one.span))),
        best=best,
        coverage=_coverage(best, weights),
        unshown=tuple(pin.written for pin in asked_pins if not any(pin not in lacks for lacks in missing)),
    )


def _headed(passage: Passage) -> str:
    return f"{passage.title}\n{passage.section_path}"


def _naming(question: str, candidates: list["_Candidate"]) -> list["_Candidate"]:
    """Those that name what the question names by an identifier; all if none does, e.g. since the title does."""
    names = [match[0].casefold() for match in _IDENTIFIER.finditer(question)]
    naming = [one for one in candidates if any(name in one.text.casefold() for name in names)]
    return naming or candidates


def _widened(excerpt: Excerpt, one: "_Candidate", *, reason: bool) -> Excerpt:
    """The whole list item or table row round a sentence; for who asks why, the reason behind it as well."""
    text = one.passage.text
    start, end = excerpt.span
    line_start = text.rfind("\n", 0, start) + 1
    if text.startswith("|", line_start):
        line_end = text.find("\n", end - 1)
        start, end = line_start, max(end, line_end if line_end >= 0 else len(text))
    elif item := _item(text, start):
        start, end = min(start, item[0]), max(end, item[1])
    if reason and _REASON.match(text, end):
        following = next(
            (span for span in sentences(text) if span[0] <= end < span[1] and text[end : span[1]].strip()), None
        )
        end = following[1] if following else end
    start += len(text[start:end]) - len(text[start:end].lstrip())
    end = start + len(text[start:end].rstrip())
    return structs.replace(excerpt, text=text[start:end], span=(start, end))


def _item(text: str, at: int) -> tuple[int, int] | None:
    """The list item that a place is in, None if it is in none or in a very long one."""
    line = text.rfind("\n", 0, at) + 1
    while not _ITEM.match(text, line):
        before = text.rfind("\n", 0, max(line - 1, 0)) + 1
        if line == 0 or at - before > _ITEM_CHARS or not text[before:line].strip():
            return None
        line = before
    stop = _ITEM_END.search(text, at)
    end = stop.start() if stop else len(text)
    return (line, end) if end - line <= _ITEM_CHARS else None


def _apart(widened: list[Excerpt]) -> tuple[Excerpt, ...]:
    """Of those that overlap, the longest."""
    kept: list[Excerpt] = []
    for one in widened:
        if kept and kept[-1].place[0] == one.place[0] and one.span[0] < kept[-1].span[1]:
            kept[-1] = max(kept[-1], one, key=lambda excerpt: len(excerpt.text))
        else:
            kept.append(one)
    return tuple(kept)


class _Candidate(Struct, frozen=True, kw_only=True):
    place: tuple[int, int]
    span: tuple[int, int]
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
                    place=(number, index),
                    span=(start, end),
                    passage=passage,
                    text=text,
                    terms=terms,
                    context=context,
                    before=before,
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
    return Excerpt(block_id=one.passage.block_id, text=one.text, score=score, place=one.place, span=one.span)


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
