from collections.abc import Generator
from pathlib import Path

import pytest

from tests.contract.http.site import Site


@pytest.fixture
def site(tmp_path: Path) -> Generator[Site]:
    one = Site(tmp_path / "data")
    yield one
    one.telemetry.close()
