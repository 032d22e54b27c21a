"""Real processes under the test's hand: started, stopped in mid-air, killed, and never left over."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import psutil

from shared.lifeline import PARENT_PIPE
from tests.e2e.processes import until

ROOT = Path(__file__).resolve().parents[2]
SITE = "FAULTS_SITE"  # inherited by every descendant, parser children included: whose it is
BOUND_S = 180.0  # on a machine that has much else to do


class Lifeline:
    """Whatever happens to the test, the kernel closes its end, and the processes end."""

    def __init__(self) -> None:
        self.read_end, self._write_end = os.pipe()

    def close(self) -> None:
        os.close(self._write_end)
        os.close(self.read_end)


class Part:
    """`python -m MODULE …` in a session of its own."""

    def __init__(
        self, *arguments: str, env: Mapping[str, str], log: Path, lifeline: Lifeline, pass_fds: tuple[int, ...] = ()
    ) -> None:
        self.log = log
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", *arguments],
                cwd=ROOT,
                env={**env, PARENT_PIPE: str(lifeline.read_end)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=(lifeline.read_end, *pass_fds),
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def runs(self) -> bool:
        return self._process.poll() is None

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(BOUND_S)

    def ask_to_stop(self) -> int:
        """SIGTERM once it listens; the exit code."""
        self.await_words("worker ready", "listening on")
        self._process.terminate()
        return self.await_exit()

    def await_exit(self) -> int:
        return self._process.wait(BOUND_S)

    def says(self, *words: str) -> bool:
        """Whether any of the words is in its log."""
        text = self.log.read_text(encoding="utf-8", errors="replace")
        return any(word in text for word in words)

    def await_words(self, *words: str) -> None:
        def said() -> bool:
            assert self.runs(), self.log.read_text()
            return self.says(*words)

        until(f"{self.log} says {words}", said, seconds=BOUND_S)

    def await_stopped(self) -> psutil.Process:
        """Until it, or a process it has started, has stopped itself at a fault point: which one."""
        found: list[psutil.Process] = []

        def stopped() -> bool:
            assert self.runs(), self.log.read_text()
            found[:] = [one for one in _family(self.pid) if _is_stopped(one)]
            return bool(found)

        until(f"{self.log} reaches its fault point", stopped, seconds=BOUND_S)
        return found[0]

    def hold(self) -> None:
        """SIGSTOP."""
        self.send(signal.SIGSTOP)
        until("it is stopped", lambda: _is_stopped(psutil.Process(self.pid)))

    def go_on(self) -> None:
        """SIGCONT."""
        self.send(signal.SIGCONT)

    def close(self) -> None:
        if self.runs():
            self.kill()


def go_on(process: psutil.Process) -> None:
    """SIGCONT to a stopped process, if it is still there."""
    try:
        process.resume()
    except psutil.NoSuchProcess:
        return


def processes_of(site: str) -> list[psutil.Process]:
    """Every process that was started for this site, directly or not, and still runs."""
    return [one for one in psutil.process_iter() if _site_of(one) == site]


def _site_of(process: psutil.Process) -> str | None:
    try:
        return process.environ().get(SITE) if process.status() != psutil.STATUS_ZOMBIE else None
    except psutil.Error:
        return None


def _family(pid: int) -> list[psutil.Process]:
    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _is_stopped(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_STOPPED
    except psutil.NoSuchProcess:
        return False
