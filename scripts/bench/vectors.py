"""Every text is embedded once: vectors by (embedding version, hash of the text), for us and for every peer."""

import asyncio
import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from shared.embeddings.cache import EmbeddingCache
from shared.embeddings.open import open_embedder
from shared.embeddings.port import Axis, Embedded, Embedder
from shared.settings import EmbeddingSettings

Rows = npt.NDArray[np.float32]  # shape (texts, dimensions)


class Vectors:
    """The bundled embedder behind a file. Texts that are missing are embedded on two threads, which takes minutes the first time."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.embedder: Embedder = open_embedder(EmbeddingSettings(), threads=2)
        self._cache = EmbeddingCache(folder / "vectors.db")

    def passages(self, texts: Sequence[str]) -> Rows:
        by_hash = {_hash(text): text for text in texts}
        known = self._cache.get(self.embedder.version, list(by_hash))
        missing = [key for key in by_hash if key not in known]
        missing.sort(key=lambda key: len(by_hash[key]))
        for start in range(0, len(missing), self.embedder.max_batch):
            _tell(start, len(missing))
            some = missing[start : start + self.embedder.max_batch]
            vectors = self.embedder.embed_passages([by_hash[key] for key in some]).vectors
            self._cache.put(self.embedder.version, dict(zip(some, vectors, strict=True)))
        known = self._cache.get(self.embedder.version, list(by_hash))
        return np.stack([known[_hash(text)] for text in texts])

    def questions(self, texts: Sequence[str]) -> Rows:
        version = f"{self.embedder.version}#query"
        by_hash = {_hash(text): text for text in texts}
        known = self._cache.get(version, list(by_hash))
        missing = {key: text for key, text in by_hash.items() if key not in known}
        self._cache.put(version, asyncio.run(self._asked(missing)))
        known = self._cache.get(version, list(by_hash))
        return np.stack([known[_hash(text)] for text in texts])

    def close(self) -> None:
        self.embedder.close()
        self._cache.close()

    async def _asked(self, texts: dict[str, str]) -> dict[str, npt.NDArray[np.float32]]:
        return {key: (await self.embedder.embed_query(text)).vectors[0] for key, text in texts.items()}


class Lookup:
    """An `Embedder` that knows the questions' vectors already, so that what is timed is the search."""

    max_batch = 1
    max_tokens = 512

    def __init__(self, embedder: Embedder, questions: Sequence[str], vectors: Rows) -> None:
        self.version = embedder.version
        self.dimensions = embedder.dimensions
        self.language_axis: Axis | None = embedder.language_axis
        self._vectors = dict(zip(questions, vectors, strict=True))

    def embed_passages(self, texts: Sequence[str]) -> Embedded:
        raise NotImplementedError(f"{len(texts)} passages: only questions are looked up")

    async def embed_query(self, text: str) -> Embedded:
        return Embedded(vectors=self._vectors[text][np.newaxis], tokens=0)

    def close(self) -> None:
        pass


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _tell(done: int, of: int) -> None:
    if done % 640 == 0:
        print(f"  embedding {done} of {of} texts", file=sys.stderr)
