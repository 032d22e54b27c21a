"""What every embedder promises, the fake included."""

import asyncio
import threading
from collections.abc import Callable, Generator

import numpy as np
import pytest

from shared.embeddings.fake import FakeEmbedder
from shared.embeddings.local import LocalEmbedder
from shared.embeddings.open import open_embedder, warm_up
from shared.embeddings.port import Embedder
from shared.settings import EmbeddingSettings
from tests.doubles.provider import provider_double

PASSAGES = [
    "泵房巡检每四小时一次，由值班员签字。",
    "The invoice number is E-1042; payment is due in 30 days.",
    "海水淡化装置的膜元件每两年更换一次。",
]


def fake() -> Generator[Embedder]:
    yield FakeEmbedder()


def bundled() -> Generator[Embedder]:
    embedder = open_embedder(EmbeddingSettings(), threads=2)
    warm_up(embedder)
    yield embedder
    embedder.close()


def wheel() -> Generator[Embedder]:
    embedder = LocalEmbedder(threads=2)
    yield embedder
    embedder.close()


def openai() -> Generator[Embedder]:
    with provider_double() as provider:
        settings = EmbeddingSettings(
            provider="openai", base_url=provider.base_url, api_key="sk-test", model="m", dimensions=256, batch=8
        )
        embedder = open_embedder(settings, threads=1)
        yield embedder
        embedder.close()


@pytest.fixture(scope="module", params=[fake, bundled, wheel, openai], ids=lambda build: build.__name__)
def embedder(request: pytest.FixtureRequest) -> Generator[Embedder]:
    yield from request.param()


def query(embedder: Embedder, text: str) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return asyncio.run(embedder.embed_query(text)).vectors[0]


def test_a_row_of_unit_length_for_every_text_and_tokens_counted(embedder: Embedder) -> None:
    embedded = embedder.embed_passages(PASSAGES)
    assert embedded.vectors.shape == (3, embedder.dimensions)
    assert embedded.vectors.dtype == np.float32
    assert np.linalg.norm(embedded.vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert embedded.tokens > 0


def test_a_text_has_the_same_vector_alone_and_in_any_batch(embedder: Embedder) -> None:
    together = embedder.embed_passages(PASSAGES).vectors
    reversed_ = embedder.embed_passages(PASSAGES[::-1]).vectors[::-1]
    alone = np.concatenate([embedder.embed_passages([text]).vectors for text in PASSAGES])
    assert (together == alone).all()
    assert (together == reversed_).all()


def test_a_question_finds_its_passage(embedder: Embedder) -> None:
    passages = embedder.embed_passages(PASSAGES).vectors
    asked = {"泵房多久巡检一次": 0, "When is the payment of invoice E-1042 due?": 1, "膜元件多久更换": 2}
    assert {text: int(np.argmax(passages @ query(embedder, text))) for text in asked} == asked


def test_a_query_is_one_row_from_any_event_loop_and_any_thread(embedder: Embedder) -> None:
    rows: list[np.ndarray[tuple[int], np.dtype[np.float32]]] = []
    threads = [threading.Thread(target=lambda: rows.append(query(embedder, "巡检"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(rows) == 4
    assert all((row == rows[0]).all() for row in rows)


@pytest.mark.parametrize("text", ["a\0b", "\0", "\ud800 half a pair", "", " ", "\ufdfa" * 40, "长" * 700])
def test_no_text_is_too_odd_to_embed(embedder: Embedder, text: str) -> None:
    vectors = embedder.embed_passages([text, "旁边的"]).vectors
    assert np.isfinite(vectors).all()
    assert (vectors[1] == embedder.embed_passages(["旁边的"]).vectors[0]).all()


def test_what_follows_a_nul_counts(embedder: Embedder) -> None:
    with_end, without = embedder.embed_passages(["泵房\0巡检每四小时一次", "泵房"]).vectors
    assert float(with_end @ without) < 0.999


@pytest.mark.parametrize("number", [0, 1])
def test_a_batch_of_another_size_than_allowed_is_a_bug_of_the_caller(embedder: Embedder, number: int) -> None:
    texts = ["x"] * (number * (embedder.max_batch + 1))
    with pytest.raises(ValueError, match="allowed"):
        embedder.embed_passages(texts)


@pytest.mark.parametrize("build", [bundled, wheel, openai], ids=lambda build: build.__name__)
def test_nothing_is_embedded_after_close(build: Callable[[], Generator[Embedder]]) -> None:
    building = build()
    embedder = next(building)
    embedder.close()
    with pytest.raises(RuntimeError):
        embedder.embed_passages(["x"])
    embedder.close()
    building.close()
