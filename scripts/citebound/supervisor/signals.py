"""Signals as something to wait for, so that the supervisor's loop sleeps and still reacts at once."""

import os
import select
import signal
from types import FrameType

_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Signals:
    """Installed for the life of the process; main thread only. SIGCHLD wakes, the others also ask to stop."""

    def __init__(self) -> None:
        self.asked = 0  # how often somebody asked to stop
        self._read, write = _pipe()
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        for number in _STOPPING:
            signal.signal(number, self._stop)
        signal.signal(signal.SIGCHLD, _wake)

    @property
    def stopping(self) -> bool:
        return self.asked > 0

    def wait(self, seconds: float) -> None:
        """Until a signal comes or the time is over."""
        if select.select([self._read], [], [], max(seconds, 0))[0]:
            os.read(self._read, 4096)

    def _stop(self, _signal: int, _frame: FrameType | None) -> None:
        self.asked += 1


def _wake(_signal: int, _frame: FrameType | None) -> None:
    """The wakeup descriptor does the work; without a handler Python would not write to it."""


def _pipe() -> tuple[int, int]:
    read, write = os.pipe()
    os.set_blocking(read, False)
    os.set_blocking(write, False)
    return read, write
