"""A running Citebound of the test's own: own data folder, free port, real processes."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from scripts.citebound.supervisor.instance import Instance, read_instance
from scripts.citebound.supervisor.supervise import ROOT
from shared.layout import Layout
from tests.e2e.processes import until

GREENHOUSE_ZH = """# 温室灌溉手册

## 水泵维护

水泵每运行 500 小时必须更换一次机械密封。更换前要先关闭进水阀并切断电源。

## 报警代码

报警代码 E-17 表示回水管压力低于 0.8 bar，应检查过滤网是否堵塞。
"""
HARBOUR_EN = """# Harbour crane log

## Wind limits

Crane 4 must stop lifting when the wind at the mast exceeds 18 metres per second for more than one minute.

## Grease

The slewing ring takes 2 kilograms of lithium grease every fourteen days.
"""


class Running:
    """`citebound up` in a process of its own, and commands against it."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self.layout = Layout(root=folder)
        self.env = env
        self.log = folder.parent / "up.log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "scripts.citebound", "up"],
                env=env,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @property
    def instance(self) -> Instance:
        found = read_instance(self.layout)
        assert found is not None
        return found

    def await_ready(self) -> None:
        def ready() -> bool:
            assert self.process.poll() is None, self.log.read_text()
            found = read_instance(self.layout)
            return found is not None and found.ready and found.pid == self.process.pid

        until("up is ready", ready, seconds=200)

    def command(self, *arguments: str, within_s: float = 200) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "scripts.citebound", *arguments],
            env=self.env,
            capture_output=True,
            text=True,
            timeout=within_s,
            check=False,
        )

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=120)


@pytest.fixture
def env(tmp_path: Path, docs: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CITEBOUND_")}
    return kept | {
        "PYTHONPATH": str(ROOT),
        "CITEBOUND_DATA_DIR": str(tmp_path / "资料"),
        "CITEBOUND_API_PORT": "0",
        "CITEBOUND_API_IMPORT_ROOTS": str(docs),
    }


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A small mixed library with one file that can't be read."""
    folder = tmp_path / "docs"
    (folder / "中文").mkdir(parents=True)
    (folder / "中文" / "温室灌溉.md").write_text(GREENHOUSE_ZH, encoding="utf-8")
    (folder / "crane.md").write_text(HARBOUR_EN, encoding="utf-8")
    (folder / "空.txt").write_bytes(b"")
    return folder


@pytest.fixture
def start(tmp_path: Path, env: dict[str, str]) -> Generator[Callable[[], Running]]:
    """Starts `up` and waits until it is ready; whatever is left at the end of the test is ended."""
    started: list[Running] = []

    def make() -> Running:
        running = Running(Path(env["CITEBOUND_DATA_DIR"]), env)
        started.append(running)
        running.await_ready()
        return running

    yield make
    for running in started:
        if running.process.poll() is None:
            running.stop()
