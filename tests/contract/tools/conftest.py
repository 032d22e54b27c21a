from pathlib import Path

import pytest

from shared.vectors.memory import MemoryVectors
from tests.contract.tools.world import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path, MemoryVectors())
