import hashlib
import sqlite3
import threading
from collections.abc import Generator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.embeddings.cache import EmbeddingCache
from shared.embeddings.fake import word_vectors
from shared.errors import StorageError
from tests.patience import PATIENCE_S


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture
def cache(tmp_path: Path) -> Generator[EmbeddingCache]:
    cache = EmbeddingCache(tmp_path / "embeddings.db")
    yield cache
    cache.close()


def test_what_was_put_comes_back_bit_for_bit_after_reopening(tmp_path: Path) -> None:
    texts = [f"第{number}段" for number in range(1_200)]  # more than one question's worth of parameters
    vectors = dict(zip(map(sha256, texts), word_vectors(texts, 8), strict=True))
    first = EmbeddingCache(tmp_path / "embeddings.db")
    first.put("v1", vectors)
    first.close()

    second = EmbeddingCache(tmp_path / "embeddings.db")
    found = second.get("v1", [*vectors, sha256("unknown")])
    second.close()

    assert found.keys() == vectors.keys()
    assert all((found[key] == vectors[key]).all() for key in vectors)


def test_a_vector_of_one_version_is_never_given_for_another(cache: EmbeddingCache) -> None:
    cache.put("v1", {sha256("甲"): np.ones(3, np.float32)})
    assert cache.get("v2", [sha256("甲")]) == {}


def test_the_first_vector_of_a_text_stays(cache: EmbeddingCache) -> None:
    cache.put("v1", {sha256("甲"): np.ones(3, np.float32)})
    cache.put("v1", {sha256("甲"): np.zeros(3, np.float32)})
    assert cache.get("v1", [sha256("甲")])[sha256("甲")].tolist() == [1.0, 1.0, 1.0]


@given(st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=16))
def test_every_finite_float_survives(numbers: list[float]) -> None:
    vector = np.array(numbers, np.float32)
    cache = EmbeddingCache(Path(":memory:"))
    cache.put("v1", {sha256("x"): vector})
    assert cache.get("v1", [sha256("x")])[sha256("x")].tobytes() == vector.tobytes()
    cache.close()


def test_two_writers_lose_nothing(tmp_path: Path) -> None:
    caches = [EmbeddingCache(tmp_path / "embeddings.db") for _ in range(2)]
    together = threading.Barrier(2)

    def write(cache: EmbeddingCache, name: str) -> None:
        together.wait(PATIENCE_S)
        for number in range(20):
            cache.put("v1", {sha256(f"{name}{number}"): np.full(4, number, np.float32)})

    writers = [threading.Thread(target=write, args=pair) for pair in zip(caches, "甲b", strict=True)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()

    wanted = [sha256(f"{name}{number}") for name in "甲b" for number in range(20)]
    assert caches[0].get("v1", wanted).keys() == set(wanted)
    for cache in caches:
        cache.close()


def test_a_damaged_file_is_a_storage_error(tmp_path: Path) -> None:
    path = tmp_path / "embeddings.db"
    cache = EmbeddingCache(path)
    cache.put("v1", {sha256("甲"): np.ones(3, np.float32)})
    cache.close()
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 8_000)
    with pytest.raises((StorageError, sqlite3.DatabaseError)) as caught:
        EmbeddingCache(path).get("v1", [sha256("甲")])
    assert isinstance(caught.value, StorageError)


def test_removed_texts_are_gone_in_every_version_and_the_others_stay(cache: EmbeddingCache) -> None:
    gone, there = sha256("旧的一段"), sha256("新的一段")
    for version in ("一", "二"):
        cache.put(version, {gone: np.ones(2, np.float32), there: np.ones(2, np.float32)})
    cache.remove([gone])
    assert [set(cache.get(version, [gone, there])) for version in ("一", "二")] == [{there}, {there}]


def test_a_version_is_forgotten_piece_by_piece_and_then_by_name(cache: EmbeddingCache) -> None:
    vectors = {sha256(str(number)): np.ones(2, np.float32) for number in range(1_500)}
    cache.put("旧", vectors)
    cache.put("新", {sha256("0"): np.ones(2, np.float32)})
    assert (cache.forget("旧"), cache.versions()) == (True, {"旧", "新"})
    assert (cache.forget("旧"), cache.versions()) == (False, {"新"})
    assert set(cache.get("新", [sha256("0")])) == {sha256("0")}
    assert cache.get("旧", list(vectors)) == {}
