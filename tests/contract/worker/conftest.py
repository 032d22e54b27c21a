from collections.abc import Generator
from pathlib import Path

import pytest

from tests.contract.worker.workshop import Workshop


@pytest.fixture
def shop(tmp_path: Path) -> Generator[Workshop]:
    shop = Workshop(tmp_path)
    yield shop
    shop.close()
