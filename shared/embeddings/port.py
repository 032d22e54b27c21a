"""What the product needs of an embedder. Passages and queries are different modes of the same model."""

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import Struct

Vectors: TypeAlias = npt.NDArray[np.float32]  # shape (n, dimensions), rows of unit length
Axis: TypeAlias = npt.NDArray[np.float32]  # shape (dimensions,), unit length


class Embedded(Struct, frozen=True, kw_only=True):
    vectors: Vectors
    tokens: int  # by the provider's own count, or ours when it gives none
    estimated: bool = False


class Embedder(Protocol):
    """`version` names everything that changes a vector (model, weights, prefixes, normalisation); equal version = comparable vectors.

    Both ways of embedding raise UpstreamError.
    """

    @property
    def version(self) -> str: ...
    @property
    def dimensions(self) -> int: ...
    @property
    def max_batch(self) -> int: ...  # texts that one call of embed_passages takes
    @property
    def max_tokens(self) -> int: ...  # of one text, by the embedder's own tokenizer
    @property
    def language_axis(
        self,
    ) -> Axis | None: ...  # along which equal texts in Chinese and English differ; None = not known

    def embed_passages(self, texts: Sequence[str]) -> Embedded:
        """Blocking; for the worker. len(texts) in 1..max_batch. What a second try can mend was tried twice."""
        ...

    async def embed_query(self, text: str) -> Embedded:
        """One row; never blocks the event loop. One try: who calls it traces each, and decides about another."""
        ...

    def close(self) -> None: ...
