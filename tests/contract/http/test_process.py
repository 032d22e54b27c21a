"""`python -m api` as the supervisor starts it: a real process with an inherited socket, the bundled model and the embedded engine."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import httpx
import pytest

from shared.lifeline import PARENT_PIPE

ROOT = Path(__file__).resolve().parents[3]

pytestmark = pytest.mark.slow


class Process:
    def __init__(self, folder: Path, **env: str) -> None:
        self.listening = socket.socket()
        self.listening.bind(("127.0.0.1", 0))
        self.listening.listen()
        self.address = f"http://127.0.0.1:{self.listening.getsockname()[1]}"
        lifeline, self.lifeline = os.pipe()
        number = self.listening.fileno()
        given = {"CITEBOUND_DATA_DIR": str(folder), PARENT_PIPE: str(lifeline), "PYTHONPATH": str(ROOT), **env}
        self.popen = subprocess.Popen(
            [sys.executable, "-m", "api", "--fd", str(number)],
            env={**os.environ, **given},
            pass_fds=(number, lifeline),
            stderr=subprocess.PIPE,
            text=True,
        )
        os.close(lifeline)

    def let_go(self) -> None:
        """What the kernel does when the parent is gone."""
        os.close(self.lifeline)
        self.lifeline = -1

    def end(self) -> tuple[int, str]:
        _, log = self.popen.communicate(timeout=30)
        return self.popen.returncode, log

    def clean_up(self) -> None:
        if self.popen.poll() is None:
            self.popen.kill()
        self.popen.communicate()
        self.listening.close()
        if self.lifeline >= 0:
            os.close(self.lifeline)


@pytest.fixture
def started(tmp_path: Path) -> Generator[Process]:
    one = Process(tmp_path)
    yield one
    one.clean_up()


def test_it_answers_on_the_inherited_socket_says_what_it_waits_for_and_stops_when_asked(started: Process) -> None:
    # Connections queue in the socket until it is up: no polling.
    assert httpx.get(f"{started.address}/healthz", timeout=60).json() == {"status": "ok"}
    parts = httpx.get(f"{started.address}/readyz", timeout=60).json()["parts"]
    assert parts["embedder"]["state"] in ("loading", "ok")
    assert (parts["catalog"]["state"], parts["broker"]["state"], parts["snapshot"]["state"]) == ("ok", "failed", "none")
    asked = httpx.post(f"{started.address}/api/runs", json={"question": "年假几天？"}, timeout=60)
    assert asked.json()["code"] == "no_snapshot"
    started.popen.send_signal(signal.SIGTERM)
    code, log = started.end()
    assert (code, "Traceback" in log) == (0, False), log


def test_it_ends_when_its_parent_is_gone(started: Process) -> None:
    assert httpx.get(f"{started.address}/healthz", timeout=60).status_code == 200
    started.let_go()
    assert started.end()[0] == 0


def test_settings_that_would_let_strangers_in_are_refused_with_the_remedy(tmp_path: Path) -> None:
    refused = Process(tmp_path, CITEBOUND_API_HOST="0.0.0.0")
    try:
        code, log = refused.end()
    finally:
        refused.clean_up()
    assert code == 2
    assert "CITEBOUND_API_API_KEY" in log
    assert "Traceback" not in log
