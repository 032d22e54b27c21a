"""`citebound trace --save` and `--open`: a run in a file."""

from collections.abc import Callable, Generator
from pathlib import Path

import msgspec
import pytest

from scripts.citebound.__main__ import main
from shared.telemetry import names
from shared.types.runfiles import RunFile
from tests.unit.cli.served import Served, serving
from tests.unit.telemetry.factories import a_saved_run

SAVED = a_saved_run({names.MANIFEST: '{"model":"some/model"}'}, {"ab" * 32: "系统提示：只引用原文。"}, end_ns=5_000_000)


@pytest.fixture
def api(own_folder: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> Generator[Served]:
    own_folder("")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    with serving() as served:
        monkeypatch.setenv("CITEBOUND_URL", served.url)
        yield served


def test_a_run_that_was_saved_is_shown_again_without_a_server(
    api: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "运行.json"
    api.give("GET /api/runs/run_1/export", SAVED)
    assert main(["trace", "run_1", "--save", str(file)]) == 0
    assert msgspec.json.decode(file.read_bytes(), type=RunFile) == SAVED
    capsys.readouterr()
    asked = len(api.asked)
    monkeypatch.setenv("CITEBOUND_URL", "http://127.0.0.1:9")
    assert main(["trace", "--open", str(file)]) == 0
    shown = capsys.readouterr().out
    told = (
        "住宿费标准是多少？",
        "每人每天 300 元。[1]",
        "住宿费标准为每人每天 300 元。",
        names.RUN,
        "some/model",
        "系统提示：只引用原文。",
    )
    assert all(text in shown for text in told)
    assert len(api.asked) == asked


@pytest.mark.parametrize("text", ["{}", "no json", '{"spans": []}'])
def test_another_file_is_refused(api: Served, tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "other.json"
    file.write_text(text)
    assert main(["trace", "--open", str(file)]) == 2
    assert "--save" in capsys.readouterr().err


@pytest.mark.parametrize(
    "more", [["imp_1", "--save", "x"], ["run_1", "--open", "x"], ["--save", "/nowhere/x", "run_1"]]
)
def test_what_can_not_be_done_is_refused(api: Served, more: list[str]) -> None:
    api.give("GET /api/runs/run_1/export", SAVED)
    assert main(["trace", *more]) == 2
