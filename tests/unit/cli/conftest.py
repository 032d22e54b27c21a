"""A data folder of the test's own, with a settings file."""

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes the folder the one that commands find; the text becomes its citebound.toml."""

    def make(toml: str) -> None:
        (tmp_path / "citebound.toml").write_text(toml, encoding="utf-8")
        monkeypatch.setenv("CITEBOUND_DATA_DIR", str(tmp_path))

    return make
