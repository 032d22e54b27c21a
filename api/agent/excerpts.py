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
from collections.abc import Callable, Sequence

from msgspec import Struct, structs

from api.agent.kinds import Kind, kind_of
from api.agent.navigation import asks_for_neighbour, without_navigation
from api.agent.of_kind import gives_reason, shows
from api.agent.pins import Pin, pins, unshown
from api.agent.subjects import has, subjects
from api.agent.wanted import (
    Words,
    denies_as_asked,
    is_of_wanted_kind,
    kind_terms,
    lacks_number,
    wants_reason,
    without_asking,
    words_for,
)
from api.agent.widening import widened
from api.agent.words import content_terms
from shared.text.sentences import sentences
from shared.types.documents import PATH_SEPARATOR


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

    `shown`: the share that a quoted sentence shows, with its headings; `named`: the question names a quoted document.
    `unshown`: the years, quarters, amounts, ... of the question, as written there, that no sentence is about; `unnamed`: its
    names that stand nowhere, or not in one document though the question is how they are related.
    `lacking`: the kind of thing asked for, if the `nearest` sentences have nothing of it; then these aren't among the excerpts.
    """

    excerpts: tuple[Excerpt, ...]
    best: Passage | None
    coverage: float
    shown: float = 0.0
    named: bool = False
    unshown: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    nearest: tuple[Excerpt, ...] = ()
    lacking: Kind | None = None


MOST = 4  # sentences
CLOSE_TO_BEST = 0.65  # share of the best score that a further sentence must reach
CONTEXT_SHARE = 0.8  # what a word is worth that title or section say, not the sentence
BEFORE_SHARE = 0.3  # the same for the sentence before: "It was founded ..."
RANK_PRIOR = 0.03  # lost with every place in the ranking
KIND_BONUS = 0.15  # a time for "when", a number for "how many"
KIND_SHARE = 0.3  # what the kind of thing that is asked for weighs: "which country"
REPEATED_SHARE = 0.3  # of the score of a sentence that only repeats the question

_IDENTIFIER = re.compile(
    r"(?<![A-Za-z0-9])(?=[A-Za-z0-9])(?=[A-Za-z_.\-]{0,200}+\d)(?=[0-9_.\-]{0,200}+[A-Za-z])[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)*"
)
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]+")
_HEADING = re.compile(r"\s*#{1,6}\s")
_SHORTEST = 6  # code points; less is a heading or a crumb


def pick(question: str, passages: Sequence[Passage]) -> Picked:
    """The best whole sentences in reading order, and how much of the question is shown at all."""
    words = words_for(question)
    shown, passages = passages, _apart_from_neighbours(question, passages)
    candidates = [one for number, passage in enumerate(passages) for one in _candidates(number, passage, words)]
    asked = _without_borders(question, words.of(without_asking(question)), candidates)
    if not asked or not candidates:
        return Picked(excerpts=(), best=None, coverage=0.0)
    weights = _weights(asked, [one.terms for one in candidates])
    kinds = kind_terms(question)
    best = max(passages, key=lambda passage: (_coverage(passage, weights, kinds, words), -passage.rank))
    asked_pins = pins(question)
    documents, unnamed = _naming_documents(question, passages)
    whole = [one for one in candidates if one.passage.whole]
    missing = [_unshown(asked_pins, one) for one in whole]
    fitting = [
        one
        for one, lacks in zip(whole, missing, strict=True)
        if not lacks
        and one.passage.doc_id in documents
        and denies_as_asked(question, one.text)
        and not (asked_pins and lacks_number(question, _without(asked_pins, one.text)))
    ]
    scored = [(_scored(question, one, weights), one) for one in _naming(question, fitting)]
    top = max((one.score for one, _ in scored), default=0.0)
    close = sorted(
        (one for one in scored if one[0].score >= top * CLOSE_TO_BEST), key=lambda one: (-one[0].score, one[0].place)
    )
    explained = asked if wants_reason(question) else frozenset[str]()
    wider = [_widened(excerpt, one, shown[one.place[0]].text, explained) for excerpt, one in close[:MOST]]
    quoted = _apart(sorted(wider, key=lambda one: (one.place[0], one.span)))
    lacking = _lacking(
        question, [(wide.text, _headed(one.passage)) for wide, (_, one) in zip(wider, close, strict=False)]
    )
    return Picked(
        excerpts=() if lacking else quoted,
        nearest=quoted if lacking else (),
        lacking=lacking,
        best=best,
        coverage=_coverage(best, weights, kinds, words),
        shown=max((_shown(one, weights, kinds) for _, one in close[:MOST]), default=0.0),
        named=any(_is_named(question, one.passage) for _, one in close[:MOST]),
        unshown=tuple(pin.written for pin in asked_pins if not any(pin not in lacks for lacks in missing)),
        unnamed=unnamed,
    )


def _lacking(question: str, quoted: Sequence[tuple[str, str]]) -> Kind | None:
    """The kind of thing asked for, if none of these texts, each with its headings, has anything of it."""
    kind = kind_of(question) if quoted else None
    if kind is None or any(shows(kind, question, text, headings=headings) for text, headings in quoted):
        return None
    return kind


def _apart_from_neighbours(question: str, passages: Sequence[Passage]) -> Sequence[Passage]:
    """What they say of themselves; to who asks for the one before or after, all they say."""
    if asks_for_neighbour(question):
        return passages
    return [
        structs.replace(one, text=without_navigation(one.text, title=one.title, question=question)) for one in passages
    ]


def _without(asked: Sequence[Pin], sentence: str) -> str:
    """A sentence without what is as it was asked for: the year of a question is not the number that it wants."""
    for pin in asked:
        sentence = sentence.replace(pin.written, " ")
    return sentence


def _without_borders(question: str, asked: frozenset[str], candidates: Sequence["_Candidate"]) -> frozenset[str]:
    """Without pairs of characters that only meet where one word of the question ends and the next begins: beside a pair that a
    passage has, one that none has is that. A question of nothing else is left as it is."""
    seen = frozenset[str]().union(*(one.terms | one.context for one in candidates))
    borders: set[str] = set()
    for run in _HAN.findall(without_asking(question)):
        pairs = [content_terms(run[at : at + 2]) for at in range(len(run) - 1)]
        for at, pair in enumerate(pairs):
            beside = [other for other in (*pairs[max(at - 1, 0) : at], *pairs[at + 1 : at + 2]) if other]
            if pair.isdisjoint(seen) and any(not other.isdisjoint(seen) for other in beside):
                borders |= pair
    return asked - borders


def _naming_documents(question: str, passages: Sequence[Passage]) -> tuple[frozenset[str], tuple[str, ...]]:
    """The documents that may answer, by the names in the question, and the names that none has."""
    about = subjects(question)
    said: dict[str, frozenset[str]] = {}
    for one in passages:
        said[one.doc_id] = said.get(one.doc_id, frozenset()) | content_terms(f"{_headed(one)}\n{one.text}")
    everything = frozenset[str]().union(*said.values())
    unnamed = tuple(name for name in (*about.names, *about.together) if not has(everything, name))
    if unnamed:
        return frozenset(), tuple(dict.fromkeys(unnamed))
    if about.together:
        both = frozenset(doc for doc, terms in said.items() if all(has(terms, one) for one in about.together))
        return both, () if both else about.together
    all_of_them = frozenset(doc for doc, terms in said.items() if all(has(terms, name) for name in about.names))
    return all_of_them or frozenset(said), ()


def _is_named(question: str, passage: Passage) -> bool:
    """Whether the question names the document, by its title."""
    title = content_terms(passage.title)
    return bool(title) and title <= content_terms(question)


def _headed(passage: Passage) -> str:
    return f"{passage.title}\n{passage.section_path}"


def _unshown(asked: tuple[Pin, ...], one: "_Candidate") -> tuple[Pin, ...]:
    """A year that the sentence right before is about holds for this one too; else the headings' or the last one that was named."""
    headings = [*reversed(one.passage.section_path.split(PATH_SEPARATOR)), one.passage.title]
    lacks = unshown(asked, one.text, (*one.earlier, *headings))
    return tuple(pin for pin in lacks if pin in unshown(asked, one.text, (*one.earlier[:1], *headings)))


def _naming(question: str, candidates: list["_Candidate"]) -> list["_Candidate"]:
    """Those that name what the question names by an identifier; all if none does, e.g. since the title does."""
    names = [match[0].casefold() for match in _IDENTIFIER.finditer(question)]
    naming = [one for one in candidates if any(name in one.text.casefold() for name in names)]
    return naming or candidates


def _widened(excerpt: Excerpt, one: "_Candidate", text: str, explained: frozenset[str]) -> Excerpt:
    """`explained`: for who asks why, the words of the question; a sentence behind that explains any of them is quoted with it."""
    start, end = widened(text, excerpt.span, reason=bool(explained))
    if explained and gives_reason(one.after) and not explained.isdisjoint(content_terms(one.after)):
        end = max(end, excerpt.span[1] + len(one.after.rstrip()))
    return structs.replace(excerpt, text=text[start:end], span=(start, end))


def _apart(wider: list[Excerpt]) -> tuple[Excerpt, ...]:
    """Of those that overlap, the longest."""
    kept: list[Excerpt] = []
    for one in wider:
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
    after: str  # the sentence behind it
    earlier: tuple[str, ...]  # the sentences before it in the passage, the nearest first


def _candidates(number: int, passage: Passage, words: Words) -> list[_Candidate]:
    context = words.of(f"{passage.title} {passage.section_path}")
    found: list[_Candidate] = []
    before: frozenset[str] = frozenset()
    earlier: tuple[str, ...] = ()
    spans = sentences(passage.text)
    for index, (start, end) in enumerate(spans):
        text = passage.text[start:end].strip()
        terms = words.of(text)
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
                    earlier=earlier,
                    after=passage.text[slice(*spans[index + 1])] if index + 1 < len(spans) else "",
                )
            )
        before, earlier = terms, (text, *earlier)
    return found


def _readable(sentence: str) -> bool:
    return len(sentence.strip()) >= _SHORTEST and _HEADING.match(sentence) is None


def _weights(asked: frozenset[str], sentence_terms: list[frozenset[str]]) -> dict[str, float]:
    """Words that few sentences have tell more; one that no sentence has weighs most and can't be earned."""
    counts = Counter(term for terms in sentence_terms for term in asked & terms)
    return {term: math.log(1 + (len(sentence_terms) + 1) / (counts[term] + 0.5)) for term in asked}


def _scored(question: str, one: _Candidate, weights: dict[str, float]) -> Excerpt:
    score = _shown(one, weights, frozenset())
    if not one.terms - weights.keys() - one.context:  # says nothing that the question didn't
        score *= REPEATED_SHARE
    if is_of_wanted_kind(question, one.text):
        score += KIND_BONUS
    score *= 1 - RANK_PRIOR * (one.passage.rank - 1)
    return Excerpt(block_id=one.passage.block_id, text=one.text, score=score, place=one.place, span=one.span)


def _shown(one: _Candidate, weights: dict[str, float], kinds: frozenset[str]) -> float:
    return _portion(weights, kinds, lambda term: _share(term, one))


def _portion(weights: dict[str, float], kinds: frozenset[str], share: Callable[[str], float]) -> float:
    """What share of the question's weight is shown, 0..1; that a kind is not weighs little."""
    shares = {term: share(term) for term in weights}
    total = sum(weight * (1.0 if shares[term] or term not in kinds else KIND_SHARE) for term, weight in weights.items())
    return sum(weight * shares[term] for term, weight in weights.items()) / total


def _share(term: str, one: _Candidate) -> float:
    if term in one.terms:
        return 1.0
    if term in one.context:
        return CONTEXT_SHARE
    return BEFORE_SHARE if term in one.before else 0.0


def _coverage(passage: Passage, weights: dict[str, float], kinds: frozenset[str], words: Words) -> float:
    shown = words.of(f"{passage.title}\n{passage.section_path}\n{passage.text}")
    return _portion(weights, kinds, lambda term: float(term in shown))
