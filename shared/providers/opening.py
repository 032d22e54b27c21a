"""Whether the processes could start with settings that only the adapters can judge: addresses, keys, dimensions. Asks nobody."""

from shared.embeddings.open import open_embedder
from shared.llm.open import open_chat
from shared.rerank.open import open_reranker
from shared.settings import Settings


def check_opens(settings: Settings) -> None:
    """Blocking: up to tenths of a second. Raises: SettingsError."""
    open_chat(settings.chat)
    open_reranker(settings.rerank)
    if settings.embedding.provider != "local":  # the bundled one needs no settings
        open_embedder(settings.embedding, threads=1).close()
