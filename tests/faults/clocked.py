"""`python -m tests.faults.clocked MODULE`: the module on a machine whose clock is put forward or back while it runs.

CITEBOUND_TEST_CLOCK names a file that holds by how many milliseconds; what measures durations is left alone, as the system does.
"""

import os
import runpy
import sys
import time
from collections.abc import Callable
from pathlib import Path


def off_by_ms(file: Path) -> int:
    try:
        return int(file.read_text())
    except FileNotFoundError:
        return 0


def turn(clock: Callable[[], int], file: Path) -> Callable[[], int]:
    """clock: nanoseconds."""
    return lambda: clock() + off_by_ms(file) * 1_000_000


if __name__ == "__main__":
    time.time_ns = turn(time.time_ns, Path(os.environ["CITEBOUND_TEST_CLOCK"]))
    time.time = lambda: time.time_ns() / 1e9
    module = sys.argv.pop(1)
    runpy.run_module(module, run_name="__main__", alter_sys=True)
