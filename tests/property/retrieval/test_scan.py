"""Positions found through a fold that changes length are positions of the text."""

from hypothesis import given
from hypothesis import strategies as st

from api.retrieval.scan import occurrences, snippet
from shared.text.fold import fold

AWKWARD = "aAbB年假报ßſİıŉΐᾳͅſﬁﬃéÉe\u0301\u0327\u0308각ᄀ\u1161\u11a8ＡａÅK👩\u200d🏽🇨🇳\r\n ि"
TEXTS = st.text(st.one_of(st.sampled_from(AWKWARD), st.characters(exclude_categories=["Cs"])), max_size=30)


@given(TEXTS, st.data())
def test_the_first_occurrence_folds_to_something_that_contains_the_term(text: str, data: st.DataObject) -> None:
    folded = fold(text)
    first = data.draw(st.integers(0, len(folded)))
    term = folded[first : data.draw(st.integers(first, len(folded)))]
    if not term:
        return

    at = occurrences(text, folded, term)

    assert at is not None
    assert at.count == folded.count(term)
    assert term in fold(text[at.start : at.end])
    assert len(fold(text[: at.start])) <= folded.index(term)  # nothing before it was skipped


@given(TEXTS, TEXTS.filter(bool))
def test_it_is_found_exactly_when_the_folds_say_so(text: str, term: str) -> None:
    assert (occurrences(text, fold(text), fold(term)) is not None) == (fold(term) in fold(text))


@given(TEXTS.filter(bool), st.integers(0, 29), st.integers(1, 30), st.integers(0, 10))
def test_a_snippet_holds_its_occurrence_and_lies_in_the_text(text: str, start: int, length: int, around: int) -> None:
    start = min(start, len(text) - 1)
    end = min(start + length, len(text))

    first, last = snippet(text, start, end, around=around)

    assert 0 <= first <= start
    assert end <= last <= len(text)
