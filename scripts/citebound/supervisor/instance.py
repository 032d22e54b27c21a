"""One running Citebound per data folder: the lock that says so, and the note that says where it listens.

The lock is an flock: the kernel frees it when the last process that inherited it is gone, however it ended, so a killed
supervisor blocks nobody, and its orphans do for as long as they may still be writing.
"""

import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from scripts.citebound.failure import CommandFailed
from shared.layout import Layout


class Instance(Struct, frozen=True, kw_only=True):
    """run.json; readable by its owner only."""

    address: str  # http://127.0.0.1:8765
    pid: int  # of the supervisor
    children: dict[str, int]  # name -> process id
    started_at_ms: int
    ready: bool = False  # everything answered once since the start
    settings: dict[str, str] | None = None  # name -> "name = value", secrets masked; those that aren't the default


_decoder = msgspec.json.Decoder(Instance)


def read_instance(layout: Layout) -> Instance | None:
    """What the last start wrote down, or None; whether it still runs is another question."""
    try:
        return _decoder.decode(layout.running.read_bytes())
    except OSError:  # not there, or in no folder that can be read
        return None
    except msgspec.DecodeError:  # cut short by a full disk: as good as none
        return None


def write_instance(layout: Layout, instance: Instance) -> None:
    fresh = layout.running.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(msgspec.json.format(msgspec.json.encode(instance)))
    fresh.replace(layout.running)


def forget_instance(layout: Layout) -> None:
    layout.running.unlink(missing_ok=True)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def take_lock(path: Path) -> int | None:
    """A descriptor that holds the folder's lock, or None if another process does; closing it gives the lock back."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def claim_folder(layout: Layout, *, patience_s: float = 20.0, tell: Callable[[str], None]) -> int:
    """Make the data folder ours; returns the lock's descriptor.

    Waits only for the orphans of a supervisor that was killed: they end by themselves within seconds.
    Raises: CommandFailed when another instance runs or its orphans don't end.
    """
    told = False
    deadline = time.monotonic() + patience_s
    while (descriptor := take_lock(layout.lock)) is None:
        other = read_instance(layout)
        if other is not None and is_alive(other.pid):
            raise CommandFailed(
                f"already running on this data folder: {other.address}, process {other.pid} ({layout.root})",
                remedy=f"use it as it is, stop it with Ctrl-C there or `kill {other.pid}`, or give this one another folder in"
                " CITEBOUND_DATA_DIR",
                error="already_running",
            )
        if time.monotonic() > deadline:
            left = [f"{name} {pid}" for name, pid in (other.children if other else {}).items() if is_alive(pid)]
            raise CommandFailed(
                f"the data folder {layout.root} is still in use by what an earlier start left: {', '.join(left) or 'unknown'}",
                remedy="end those processes, then start again",
                error="already_running",
            )
        if not told:
            tell("waiting for the rest of an earlier instance to end")
            told = True
        time.sleep(0.1)
    return descriptor
