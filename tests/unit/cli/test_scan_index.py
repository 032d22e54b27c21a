"""`rebuild-scan-index` on a data folder of its own."""

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from scripts.citebound.__main__ import main
from shared.catalog.db import open_database
from shared.catalog.migrations import migrate
from shared.catalog.scan_index import index_fault


def test_a_damaged_index_is_made_anew(
    own_folder: Callable[[str], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own_folder("")
    with closing(open_database(tmp_path / "catalog.db")) as db:
        migrate(db)
        db.conn.execute("delete from scan_index_data")
    assert index_fault(tmp_path / "catalog.db") is not None

    assert main(["rebuild-scan-index", "--json"]) == 0

    assert json.loads(capsys.readouterr().out) == {"blocks": 0}
    assert index_fault(tmp_path / "catalog.db") is None


def test_without_a_library_there_is_nothing_to_mend(
    own_folder: Callable[[str], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own_folder("")
    assert main(["rebuild-scan-index", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "no_snapshot"
    assert not (tmp_path / "catalog.db").exists()
