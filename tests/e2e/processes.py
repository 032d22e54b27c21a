"""Waiting for real processes, bounded."""

import time
from collections.abc import Callable, Iterable

import psutil

BOUND_S = 120  # on a machine that has much else to do


def until(what: str, true: Callable[[], bool], *, seconds: float = BOUND_S) -> None:
    """Look again and again; fails with `what` when it does not come true in time."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.05)


def gone(pids: Iterable[int]) -> bool:
    """True when none of them runs; a zombie that waits for its parent's glance does not."""
    return not any(_runs(pid) for pid in pids)


def family(pid: int) -> list[int]:
    """The process and everything beneath it."""
    process = psutil.Process(pid)
    return [pid, *(child.pid for child in process.children(recursive=True))]


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
