import tiktoken

from shared.text.tokens import MOST_BYTES, TOKENIZER, WINDOW, count_tokens


def test_known_texts_cost_what_the_encoder_says() -> None:
    assert count_tokens("") == 0
    assert count_tokens("hello world") == 2
    assert count_tokens("快照在一次事务里切换。") == len(
        tiktoken.get_encoding(TOKENIZER).encode_ordinary("快照在一次事务里切换。")
    )


def test_a_special_token_in_a_text_is_ordinary_text() -> None:
    assert count_tokens("<|endoftext|>") > 1


def test_a_lone_surrogate_is_counted_not_refused() -> None:
    assert count_tokens("a\ud800b") > 0


def test_a_long_text_is_counted_as_in_one_piece() -> None:
    paragraph = "检索先过滤再召回，see section 2.1.3 — it’s short.\n\n    code(x) = 1234567;\n"
    text = paragraph * (4 * WINDOW // len(paragraph))
    assert count_tokens(text) == len(tiktoken.get_encoding(TOKENIZER).encode_ordinary(text))


def test_a_million_equal_characters_are_counted_like_their_parts() -> None:
    for character, per_token in (("1", 3), ("a", 8), ("中", 1)):
        assert count_tokens(character * 960_000) == 960_000 // per_token


def test_no_token_is_longer_than_the_size_of_a_text_is_judged_by() -> None:
    assert max(map(len, tiktoken.get_encoding(TOKENIZER).token_byte_values())) == MOST_BYTES
