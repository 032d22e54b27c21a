from collections.abc import Generator

import pytest

from worker.parsers import ParserPool


@pytest.fixture(scope="session")
def parsers() -> Generator[ParserPool]:
    """The real child with the real formats, kept warm for the whole run."""
    pool = ParserPool(timeout_s=60, memory_mb=2048)
    yield pool
    pool.close()
