from collections.abc import Generator

import numpy as np
import pytest

from shared.embeddings.e5.embedder import E5Embedder
from shared.embeddings.local import LocalEmbedder
from tests.unit.embeddings.parallel import CHINESE, ENGLISH


@pytest.fixture
def embedder() -> Generator[E5Embedder]:
    embedder = E5Embedder(threads=2)
    yield embedder
    embedder.close()


def test_the_language_axis_is_what_paragraphs_of_one_meaning_differ_by(embedder: E5Embedder) -> None:
    chinese = embedder.embed_passages(CHINESE).vectors.astype(np.float64)
    english = embedder.embed_passages(ENGLISH).vectors.astype(np.float64)

    difference = (chinese - english).mean(axis=0)

    assert np.dot(difference / np.linalg.norm(difference), embedder.language_axis) > 0.9999


def test_both_ways_of_running_the_bundled_model_have_one_axis_of_unit_length() -> None:
    assert np.array_equal(E5Embedder.language_axis, LocalEmbedder.language_axis)
    assert E5Embedder.language_axis.shape == (E5Embedder.dimensions,)
    assert np.linalg.norm(E5Embedder.language_axis) == pytest.approx(1)
