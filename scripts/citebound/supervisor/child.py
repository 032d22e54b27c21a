"""One supervised process: started in a session of its own, stopped by its main process only, swept away with its helpers."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from scripts.citebound.supervisor.logs import tail


class Recipe(Struct, frozen=True, kw_only=True):
    """How a process is started."""

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    log: Path
    pass_fds: tuple[int, ...]
    grace_s: float  # between SIGTERM and SIGKILL


class Child:
    """A running process. A terminal's Ctrl-C doesn't reach it (its own session): it is stopped once, and in its turn."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.started = time.monotonic()
        with recipe.log.open("ab") as log:
            self._log_start = log.tell()
            self._process = subprocess.Popen(
                recipe.argv,
                env=dict(recipe.env),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=recipe.pass_fds,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def exit_code(self) -> int | None:
        """None while it runs; negative = the signal that killed it. What it left in its group is swept away."""
        code = self._process.poll()
        if code is not None:
            self._sweep()
        return code

    def lived_ms(self) -> int:
        return int((time.monotonic() - self.started) * 1000)

    def last_lines(self) -> Sequence[str]:
        """Of its log, from this start on."""
        return tail(self.recipe.log, since=self._log_start)

    def stop(self, *, hurry: Callable[[], bool]) -> bool:
        """Ask, wait, then force; True if it went by itself.

        hurry: asked while waiting; True ends the patience. SIGTERM goes to the main process only: workers hang on a second one.
        """
        deadline = time.monotonic() + self.recipe.grace_s
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        while self._process.poll() is None and time.monotonic() < deadline and not hurry():
            time.sleep(0.02)
        went = self._process.returncode is not None
        self._sweep()
        self._process.wait()
        return went

    def _sweep(self) -> None:
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:  # the usual case: nobody left
            return
        except PermissionError:  # macOS says this of a group with zombies only
            return


def ending(code: int) -> str:
    """How a process ended, by its exit code: "it ended …".

    Code 0 is that of one that stopped in order, which ours do when anybody sends them SIGTERM: who it was doesn't show.
    """
    if code == 0:
        return "in order, because somebody else stopped it or by itself (exit code 0)"
    number = -code if code < 0 else code - 128  # as shells and the broker's guard say it
    if code < 0 or 0 < number < signal.NSIG:
        return f"by {_signal_name(number)}"
    return f"with an error (exit code {code})"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # most real-time signals have none
        return f"signal {number}"
