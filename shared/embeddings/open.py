"""Which embedder the settings mean."""

from shared.embeddings.e5.embedder import E5Embedder, runs_here
from shared.embeddings.local import LocalEmbedder
from shared.embeddings.openai import OpenAIEmbedder
from shared.embeddings.port import Embedder
from shared.settings import EmbeddingSettings


def open_embedder(settings: EmbeddingSettings, *, threads: int) -> Embedder:
    """threads: for the bundled model: texts embedded at once. 1 in the query process, one for each core in the worker.

    Quick: no model is loaded and nobody is asked yet. Raises: SettingsError.
    """
    if settings.provider == "openai":
        return OpenAIEmbedder(settings)
    return E5Embedder(threads=threads) if runs_here() else LocalEmbedder(threads=threads)


def warm_up(embedder: Embedder) -> None:
    """Load a bundled model now instead of at the first question; a provider is left in peace. Blocking. Raises: SettingsError."""
    if isinstance(embedder, E5Embedder | LocalEmbedder):
        embedder.warm_up()
