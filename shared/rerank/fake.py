"""The fake beside the port: no model; texts that share words with the query score higher."""

from collections.abc import Sequence

from shared.embeddings.fake import word_vectors
from shared.errors import UpstreamError
from shared.rerank.port import Reranked

_DIMENSIONS = 256


class FakeReranker:
    """`faults` are raised, first one first, instead of an answer."""

    def __init__(self, model: str = "fake-reranker", *, depth: int = 20, faults: Sequence[UpstreamError] = ()) -> None:
        self.model = model
        self.depth = depth
        self.faults = list(faults)
        self.asked: list[tuple[str, tuple[str, ...]]] = []  # every query with its texts

    async def rerank(self, query: str, texts: Sequence[str]) -> Reranked:
        self.asked.append((query, tuple(texts)))
        if self.faults:
            raise self.faults.pop(0)
        rows = word_vectors([query, *texts], _DIMENSIONS)
        return Reranked(
            scores=tuple((rows[1:] @ rows[0]).tolist()), tokens=len(texts) * len(query) + sum(map(len, texts))
        )

    async def close(self) -> None:
        return
