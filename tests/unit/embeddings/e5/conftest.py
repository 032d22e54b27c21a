from pathlib import Path

import pytest

from shared.embeddings.e5.tokens import Tokens
from shared.embeddings.e5.weights import Weights
from shared.embeddings.local import weights_path


@pytest.fixture(scope="package")
def weights() -> Weights:
    return Weights(weights_path())


@pytest.fixture(scope="package")
def tokens(weights: Weights) -> Tokens:
    return Tokens(weights)


def some_texts(material: Path, *, every: int, characters: int) -> list[str]:
    """Beginnings of bench documents, Chinese (both scripts), English and mixed, by turns."""
    texts: list[str] = []
    for name in ("zh_single", "xling", "multi_hop"):
        paths = sorted((material / "bench" / name / "documents").glob("*.md"))
        texts.extend(path.read_text()[:characters] for path in paths[::every])
    return texts
