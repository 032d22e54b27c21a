"""Where one gram says everything, how many blocks have a term is known without reading any."""

from hypothesis import given
from hypothesis import strategies as st

from shared.text.fold import fold
from shared.text.grams import grams, grams_in, is_gram, marked

letters = st.sampled_from("年假aAbß1一 .\0\x01\x02")
texts = st.text(letters, max_size=12).map(fold)
terms = st.text(st.sampled_from("年假aAbß1一"), min_size=1, max_size=3).map(fold).filter(is_gram)


@given(text=texts, term=terms)
def test_a_term_that_is_one_gram_is_in_exactly_the_texts_that_have_it(text: str, term: str) -> None:
    [gram] = grams(term)
    assert (gram in grams_in(marked(text))) == (term in text)


def test_chinese_words_of_two_characters_are_one_gram_and_longer_ones_are_not() -> None:
    assert [is_gram(term) for term in ("年假", "年", "abc", "a年", "aaaa", "年年年", "ab", "a\0b")] == (
        [True, True, True, True, False, False, False, False]
    )
