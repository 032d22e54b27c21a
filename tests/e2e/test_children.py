"""Supervised processes: how they are stopped, and that they never outlive who started them."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.citebound.supervisor import broker
from scripts.citebound.supervisor.child import Child, Recipe
from scripts.citebound.supervisor.supervise import ROOT
from tests.e2e.processes import family, gone, until

pytestmark = pytest.mark.slow

ENV = {**os.environ, "PYTHONPATH": str(ROOT)}

STUBBORN = """
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("固执", flush=True)
time.sleep(600)
"""
WITH_HELPER = """
import subprocess, sys, time
helper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(helper.pid, flush=True)
time.sleep(600)
"""
KEEPS_A_GUARDED_BROKER = """
import os, sys, time
from pathlib import Path
from scripts.citebound.supervisor import broker
from scripts.citebound.supervisor.child import Child, Recipe
folder = Path(sys.argv[1])
read, write = os.pipe()
path = broker.socket_path(folder)
broker.prepare_socket(path)
serve = broker.arguments(broker.server_binary(), folder, path)
argv = (sys.executable, "-m", "scripts.citebound.supervisor.guard", *serve)
env = {**os.environ, "CITEBOUND_PARENT_PIPE": str(read)}
Child(Recipe(name="broker", argv=argv, env=env, log=folder / "broker.log", pass_fds=(read,), grace_s=5))
while not broker.answers(path):
    time.sleep(0.05)
print("ready", flush=True)
time.sleep(600)
"""


def recipe(tmp_path: Path, program: str, *, grace_s: float = 5) -> Recipe:
    return Recipe(
        name="程序",
        argv=(sys.executable, "-c", program),
        env=ENV,
        log=tmp_path / "child.log",
        pass_fds=(),
        grace_s=grace_s,
    )


def first_line(child: Child) -> str:
    until("the child says something", lambda: bool(child.last_lines()))
    return child.last_lines()[0]


def test_a_child_that_listens_is_stopped_by_asking(tmp_path: Path) -> None:
    child = Child(recipe(tmp_path, "import time; print('在', flush=True); time.sleep(600)"))
    assert first_line(child) == "在"
    assert child.stop(hurry=lambda: False)
    assert child.exit_code() == -signal.SIGTERM


def test_a_child_that_does_not_listen_is_ended_after_its_grace(tmp_path: Path) -> None:
    child = Child(recipe(tmp_path, STUBBORN, grace_s=0.1))
    assert first_line(child) == "固执"
    assert not child.stop(hurry=lambda: False)
    assert child.exit_code() == -signal.SIGKILL


def test_impatience_ends_the_grace(tmp_path: Path) -> None:
    child = Child(recipe(tmp_path, STUBBORN, grace_s=600))
    assert first_line(child) == "固执"
    assert not child.stop(hurry=lambda: True)
    assert child.exit_code() == -signal.SIGKILL


def test_helpers_of_a_child_that_was_killed_go_with_it(tmp_path: Path) -> None:
    child = Child(recipe(tmp_path, WITH_HELPER))
    helper = int(first_line(child))
    os.kill(child.pid, signal.SIGKILL)
    until("the death is noticed", lambda: child.exit_code() is not None)
    until("the helper is gone", lambda: gone([helper]))


def test_the_guarded_broker_keeps_its_data_and_ends_when_its_supervisor_is_killed(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", KEEPS_A_GUARDED_BROKER, str(tmp_path)]
    with subprocess.Popen(argv, env=ENV, stdout=subprocess.PIPE, text=True) as keeper:
        assert keeper.stdout is not None
        assert keeper.stdout.readline() == "ready\n"
        processes = family(keeper.pid)
        assert broker.answers(broker.socket_path(tmp_path))
        keeper.kill()
    assert len(processes) == 3  # keeper, guard, server
    until("guard and server are gone", lambda: gone(processes))
    assert (tmp_path / "appendonlydir").is_dir()
