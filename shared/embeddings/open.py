"""Which embedder the settings mean."""

from shared.embeddings.local import LocalEmbedder
from shared.embeddings.openai import OpenAIEmbedder
from shared.embeddings.port import Embedder
from shared.settings import EmbeddingSettings


def open_embedder(settings: EmbeddingSettings, *, threads: int) -> Embedder:
    """threads: for the bundled model; 1 in the query process, 2 in the worker (FACTS: OpenMP beside busy neighbours).

    Quick: no model is loaded and nobody is asked yet. Raises: SettingsError.
    """
    if settings.provider == "openai":
        return OpenAIEmbedder(settings)
    return LocalEmbedder(threads=threads)


def warm_up(embedder: Embedder) -> None:
    """Load a bundled model now instead of at the first question; a provider is left in peace. Blocking. Raises: SettingsError."""
    if isinstance(embedder, LocalEmbedder):
        embedder.warm_up()
