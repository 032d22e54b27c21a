"""What holds for every text whatever."""

import unicodedata

from hypothesis import example, given, settings
from hypothesis import strategies as st

from shared.text.fold import fold
from shared.text.lang import detect_lang
from shared.text.sentences import sentences
from shared.text.terms import passage_terms, query_terms, terms
from shared.text.tokens import count_tokens
from shared.vectors.port import Sparse

anything = st.text(st.characters(codec=None, exclude_categories=()))  # lone surrogates too
pieces = [
    "。",
    "”",
    "！",
    "?",
    ".",
    "...",
    " ",
    "\n",
    "\n\n",
    "\t",
    "3.14",
    "e.g.",
    "Mr.",
    "A",
    "x",
    "中文",
    "的",
    "1.",
    "- ",
    "|",
    "“",
    "…",
    "v2.1.3",
]
prose = st.lists(st.sampled_from(pieces), max_size=30).map("".join) | anything
names = st.from_regex(r"[A-Za-z0-9]{1,8}([-_./=:][A-Za-z0-9]{1,8}){0,4}", fullmatch=True)


@given(prose)
@example("。\n\n。")
@example("\n a.\n\nB")
def test_sentences_tile_the_text_exactly(text: str) -> None:
    spans = sentences(text)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(start < end for start, end in spans)
    assert [start for start, _ in spans] == [0, *(end for _, end in spans[:-1])][: len(spans)]


@given(prose)
def test_no_sentence_but_the_only_one_is_blank_or_begins_with_a_blank_but_the_first(text: str) -> None:
    cut = [text[start:end] for start, end in sentences(text)]
    assert all(sentence.strip() for sentence in cut) or len(cut) == 1
    assert not any(sentence[0].isspace() for sentence in cut[1:])


@given(anything)
@example("ᾳ\u0345")
@example("ǰ\u0323")
def test_folding_is_idempotent_and_blind_to_composition_and_case(text: str) -> None:
    folded = fold(text)
    assert fold(folded) == folded
    assert unicodedata.is_normalized("NFC", folded)
    for form in ("NFC", "NFD"):
        assert fold(unicodedata.normalize(form, text)) == folded
    assert fold(text.casefold()) == folded


@given(anything, anything)
def test_what_a_text_contains_is_found_in_it_after_folding(one: str, another: str) -> None:
    assert fold(one) in fold(f"{another} {one} {another}")


@given(anything | names)
def test_term_vectors_are_well_formed_for_any_text(text: str) -> None:
    for sparse in (passage_terms(text), query_terms(text)):
        assert list(sparse.indices) == sorted(set(sparse.indices))
        assert all(0 <= index < 2**32 for index in sparse.indices)
        assert len(sparse.indices) == len(sparse.values)
        assert all(value > 0 for value in sparse.values)
    assert passage_terms(text).indices == query_terms(text).indices
    assert isinstance(query_terms(text), Sparse)


@given(names, st.sampled_from(["的说明", " is set", "：见下", ""]), st.sampled_from(["参数", "the value ", ""]))
def test_a_name_is_found_whole_wherever_it_stands(name: str, after: str, before: str) -> None:
    assert terms(name)[0] in terms(f"{before}{name}{after}")


@settings(deadline=None)  # the first count loads the tokenizer
@given(anything)
def test_counting_and_guessing_never_raise_and_repeat_themselves(text: str) -> None:
    assert count_tokens(text) == count_tokens(text) >= (1 if text else 0)
    assert detect_lang(text) == detect_lang(text)
