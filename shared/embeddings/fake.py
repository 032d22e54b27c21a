"""The fake beside the port: no model, yet searches in tests make sense."""

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

from shared.embeddings.port import Axis, Embedded, Vectors
from shared.errors import UpstreamError

_WORD = re.compile(r"[0-9a-z_.\-]*[0-9a-z_]|[\u3400-\u9fff]")


def word_vectors(texts: Sequence[str], dimensions: int) -> Vectors:
    """Deterministic unit rows, shape (len(texts), dimensions): the more words two texts share, the nearer they are.

    Words are runs of Latin letters and digits; in Chinese single characters and pairs of neighbours. Longer ones weigh more.
    In fewer than 100 dimensions chance blurs the difference.
    """
    rows = np.zeros((len(texts), dimensions), dtype=np.float64)
    for row, text in zip(rows, texts, strict=True):
        words = _WORD.findall(text.lower())
        pairs = [a + b for a, b in pairwise(words) if len(a) == len(b) == 1]
        for word, weight in [*((word, len(word) ** 0.5) for word in words), *((pair, 2.0) for pair in pairs)]:
            row += weight * _direction(word, dimensions)
        if not row.any():
            row += _direction(text, dimensions)
        row /= np.linalg.norm(row)
    return rows.astype(np.float32)


class FakeEmbedder:
    """`faults` are raised, first one first, instead of an answer; `passages` and `queries` record every text that was embedded."""

    def __init__(
        self,
        dimensions: int = 256,
        *,
        version: str | None = None,
        max_batch: int = 16,
        max_tokens: int = 512,
        faults: Sequence[UpstreamError] = (),
        language_axis: Axis | None = None,
    ) -> None:
        self.version = version or f"fake:words:{dimensions}"
        self.dimensions = dimensions
        self.max_batch = max_batch
        self.max_tokens = max_tokens
        self.language_axis = language_axis
        self.faults = list(faults)
        self.passages: list[str] = []
        self.queries: list[str] = []
        self.closed = False

    def embed_passages(self, texts: Sequence[str]) -> Embedded:
        if not 1 <= len(texts) <= self.max_batch:
            raise ValueError(f"{len(texts)} texts, 1..{self.max_batch} allowed")
        self._fail_if_told()
        self.passages.extend(texts)
        return self._embedded(texts)

    async def embed_query(self, text: str) -> Embedded:
        self._fail_if_told()
        self.queries.append(text)
        return self._embedded([text])

    def close(self) -> None:
        self.closed = True

    def _fail_if_told(self) -> None:
        if self.faults:
            raise self.faults.pop(0)

    def _embedded(self, texts: Sequence[str]) -> Embedded:
        tokens = sum(len(_WORD.findall(text.lower())) for text in texts)
        return Embedded(vectors=word_vectors(texts, self.dimensions), tokens=tokens)


@lru_cache(maxsize=20_000)
def _direction(word: str, dimensions: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    seed = int.from_bytes(hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()[:8], "little")
    return np.random.default_rng(seed).standard_normal(dimensions)
