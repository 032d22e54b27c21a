from collections.abc import Generator
from pathlib import Path

import pytest
from sqlite_utils import Database

from shared.catalog.db import open_database
from tests.factories import an_empty_catalog


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    path = tmp_path / "catalog.db"
    an_empty_catalog(path)
    return path


@pytest.fixture
def db(catalog: Path) -> Generator[Database]:
    db = open_database(catalog)
    yield db
    db.conn.close()
