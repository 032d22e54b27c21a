"""One suite over every adapter. A real server takes part when CITEBOUND_TEST_QDRANT_URL names one."""

import os
from collections.abc import Callable, Generator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import pytest
from qdrant_client import QdrantClient

from shared.vectors.edge import EdgeVectors
from shared.vectors.memory import MemoryVectors
from shared.vectors.port import Vectors
from shared.vectors.server import ServerVectors

Opening: TypeAlias = "Callable[[], Generator[Vectors]]"


def memory() -> Generator[Vectors]:
    yield MemoryVectors()


def edge() -> Generator[Vectors]:
    with TemporaryDirectory() as folder:
        yield EdgeVectors(Path(folder) / "collections")


def local_client() -> Generator[Vectors]:
    client = QdrantClient(":memory:")
    yield ServerVectors(client)
    client.close()


def server() -> Generator[Vectors]:
    url = os.environ.get("CITEBOUND_TEST_QDRANT_URL")
    if url is None:
        pytest.skip("CITEBOUND_TEST_QDRANT_URL names no server")
    client = QdrantClient(url=url, check_compatibility=False)
    vectors = ServerVectors(client)
    yield vectors
    for name in vectors.names():
        if name.startswith("test-"):
            vectors.drop(name)
    client.close()


ADAPTERS: tuple[Opening, ...] = (memory, edge, local_client, server)


@pytest.fixture(params=ADAPTERS, ids=lambda adapter: adapter.__name__)
def vectors(request: pytest.FixtureRequest) -> Generator[Vectors]:
    yield from request.param()


@pytest.fixture
def edge_folder(tmp_path: Path) -> Path:
    return tmp_path / "collections"
