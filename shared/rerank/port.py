"""What the product needs of a reranker: how well each of some texts answers a query."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct


class Reranked(Struct, frozen=True, kw_only=True):
    scores: tuple[
        float, ...
    ]  # one for each text, in their order; finite; higher is better, comparable with one another only
    tokens: int  # by the provider's own count, or ours when it gives none
    estimated: bool = False


class Reranker(Protocol):
    """Raises: UpstreamError. Never answers in part: every text has a score, or the call failed."""

    @property
    def model(self) -> str: ...  # as asked of the provider; names the profile, together with the depth

    @property
    def depth(self) -> int: ...  # candidates that are worth a look

    async def rerank(self, query: str, texts: Sequence[str]) -> Reranked:
        """ONE attempt; `texts` not empty. The tool layer tries once more and traces both."""
        ...

    async def close(self) -> None: ...
