import pytest

from shared.embeddings.fake import FakeEmbedder, word_vectors
from shared.errors import UpstreamError


def test_texts_that_share_words_are_nearer_than_texts_that_do_not() -> None:
    rain, also_rain, tax = word_vectors(["北京今天下雨", "北京明天下雨吗", "增值税的税率"], 256)
    assert rain @ also_rain > rain @ tax + 0.2

    error, also_error, bread = word_vectors(
        ["error E-1042 in the pump", "what is error e-1042?", "bake the bread"], 256
    )
    assert error @ also_error > error @ bread + 0.2


def test_the_same_text_gives_the_same_vector_alone_and_in_a_batch() -> None:
    alone = word_vectors(["数据库 index"], 256)
    assert (word_vectors(["别的", "数据库 index", ""], 256)[1] == alone[0]).all()


def test_a_fault_is_raised_once_and_records_nothing() -> None:
    fault = UpstreamError("provider_overloaded", "busy")
    embedder = FakeEmbedder(faults=[fault])
    with pytest.raises(UpstreamError) as caught:
        embedder.embed_passages(["甲"])
    assert caught.value is fault
    embedder.embed_passages(["甲", "b"])
    assert embedder.passages == ["甲", "b"]
