from collections.abc import Generator
from pathlib import Path

import pytest

from shared.vectors.memory import MemoryVectors
from tests.contract.tools.corpus import CORPUS
from tests.contract.tools.world import World
from tests.doubles.provider import Provider, provider_double


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path, MemoryVectors())
    world.publish(*CORPUS)
    return world


@pytest.fixture
def provider() -> Generator[Provider]:
    with provider_double() as provider:
        yield provider
