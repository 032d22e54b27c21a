"""A data folder of the test's own with a settings file, a stand-in for the API, and the command line as it is typed."""

from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from scripts.citebound.__main__ import main
from tests.unit.cli.served import Served, serving

Run = Callable[..., tuple[int, str, str]]  # arguments -> exit code, output, errors


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes the folder the one that commands find; the text becomes its citebound.toml."""

    def make(toml: str) -> None:
        (tmp_path / "citebound.toml").write_text(toml, encoding="utf-8")
        monkeypatch.setenv("CITEBOUND_DATA_DIR", str(tmp_path))

    return make


@pytest.fixture
def api(own_folder: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> Generator[Served]:
    own_folder("")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    with serving() as served:
        monkeypatch.setenv("CITEBOUND_URL", served.url)
        yield served


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def typed(*argv: str) -> tuple[int, str, str]:
        code = main(argv)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return typed
