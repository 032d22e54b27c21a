"""The machine: data folder, disk, lock, port, broker."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from scripts.citebound.console import size
from scripts.citebound.doctor.check import Check
from scripts.citebound.failure import CommandFailed
from scripts.citebound.supervisor import broker
from scripts.citebound.supervisor.instance import is_alive, read_instance, take_lock
from scripts.citebound.supervisor.listening import listen
from shared.layout import FULL_BYTES, TIGHT_BYTES, Layout
from shared.settings import Settings


def python() -> Check:
    version = ".".join(str(part) for part in sys.version_info[:3])
    memory = psutil.virtual_memory().total
    detail = f"Python {version}, {sys.platform}, {os.cpu_count()} processors, {size(memory)} of memory"
    return Check(name="machine", state="ok", detail=detail)


def folder(root: Path) -> Iterator[Check]:
    """Whether the data folder can be written and has room."""
    if not root.exists():
        yield Check(
            name="data folder", state="missing", detail=f"{root} is not there yet", remedy="the first start makes it"
        )
    standing = next(parent for parent in (root, *root.parents) if parent.exists())
    try:
        with tempfile.TemporaryFile(dir=standing):
            pass
    except OSError as error:
        yield Check(
            name="data folder",
            state="broken",
            detail=f"can't write to {standing}: {error.strerror}",
            remedy="make it writable, or choose another one in CITEBOUND_DATA_DIR",
        )
        return
    free = shutil.disk_usage(standing).free
    if free >= TIGHT_BYTES:
        yield Check(name="disk", state="ok", detail=f"{size(free)} free")
    else:
        yield Check(
            name="disk",
            state="broken" if free < FULL_BYTES else "note",
            detail=f"only {size(free)} free at {standing}",
            remedy="make room, or move the data folder (CITEBOUND_DATA_DIR)",
        )


def instance(layout: Layout) -> tuple[str | None, Check]:
    """The running instance's address, if one runs, and what to say about it."""
    found = read_instance(layout)
    if found is not None and is_alive(found.pid):
        return found.address, Check(name="running", state="ok", detail=f"{found.address}, process {found.pid}")
    if layout.lock.exists():
        lock = take_lock(layout.lock)
        if lock is None:
            left = [pid for pid in (found.children.values() if found else ()) if is_alive(pid)]
            return None, Check(
                name="running",
                state="broken",
                detail=f"the data folder is locked by processes of an instance that was killed: {left}",
                remedy="wait some seconds; if they stay, end them",
            )
        os.close(lock)
    return None, Check(name="running", state="missing", detail="nothing runs", remedy="./scripts/run starts it")


def port(settings: Settings) -> Check:
    """Whether the API could listen; only asked when nothing runs."""
    api = settings.api
    try:
        listen(api.host, api.port).close()
    except CommandFailed as failed:
        return Check(name="port", state="broken", detail=failed.message, remedy=failed.remedy)
    return Check(name="port", state="ok", detail=f"{api.host}:{api.port or 'any free one'} can be used")


def broker_check(settings: Settings, layout: Layout, *, running: bool) -> Check:
    url = settings.broker.url
    if url is not None:
        return _reachable("broker", url, default_port=6379)
    try:
        binary = broker.server_binary()
        version = subprocess.run([binary, "--version"], capture_output=True, text=True, timeout=10, check=True)
    except CommandFailed as failed:
        return Check(name="broker", state="broken", detail=failed.message, remedy=failed.remedy)
    except (OSError, subprocess.SubprocessError) as error:
        return Check(
            name="broker",
            state="broken",
            detail=f"the embedded server does not run here: {error}",
            remedy="use one of your own: CITEBOUND_BROKER_URL=redis://host:6379/0",
        )
    if running and not broker.answers(broker.socket_path(layout.broker)):
        return Check(
            name="broker",
            state="broken",
            detail="the embedded server does not answer",
            remedy=f"see {layout.logs / 'broker.log'}; the supervisor starts it again by itself",
        )
    return Check(name="broker", state="ok", detail=f"embedded: {version.stdout.split(' sha=')[0].strip()}")


def qdrant(settings: Settings) -> Check:
    url = settings.qdrant.url
    if url is None:
        return Check(name="vectors", state="ok", detail="embedded engine")
    return _reachable("vectors", url, default_port=6333)


def _reachable(name: str, url: str, *, default_port: int) -> Check:
    parts = urlsplit(url)
    where = parts.path if parts.scheme == "unix" else f"{parts.hostname}:{parts.port or default_port}"
    try:
        if parts.scheme == "unix":
            with socket.socket(socket.AF_UNIX) as line:
                line.settimeout(3)
                line.connect(parts.path)
        else:
            socket.create_connection((parts.hostname or "", parts.port or default_port), timeout=3).close()
    except OSError as error:
        return Check(
            name=name,
            state="broken",
            detail=f"nothing answers at {where}: {error.strerror or error}",
            remedy=f"start it, or correct or unset CITEBOUND_{'BROKER' if name == 'broker' else 'QDRANT'}_URL",
        )
    return Check(name=name, state="ok", detail=f"answers at {where}")
