"""Which reranker the settings mean."""

from shared.rerank.http import HttpReranker
from shared.rerank.port import Reranker
from shared.settings import RerankSettings


def open_reranker(settings: RerankSettings) -> Reranker | None:
    """None = off: the fused order stands. Nobody is asked yet. Raises: SettingsError."""
    return None if settings.base_url is None else HttpReranker(settings)
