"""The one place that knows which vector engine the settings mean."""

from pathlib import Path

from shared.settings import QdrantSettings
from shared.vectors.edge import EdgeVectors
from shared.vectors.port import Vectors

_TIMEOUT_S = 60


def open_vectors(qdrant: QdrantSettings, folder: Path) -> Vectors:
    """The server at `qdrant.url`, or the embedded engine in `folder` (Layout.collections). Connects at first use, not here."""
    if qdrant.url is None:
        return EdgeVectors(folder)
    # Here, because its HTTP models cost a second and 60 MB that the embedded engine need not pay.
    from qdrant_client import QdrantClient

    from shared.vectors.server import ServerVectors

    client = QdrantClient(url=qdrant.url, api_key=qdrant.api_key, timeout=_TIMEOUT_S, check_compatibility=False)
    return ServerVectors(client)
