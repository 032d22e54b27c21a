"""Files of a sealed collection: made durable, told apart from changed ones, written by one writer at a time.

The engine has no checksums (a truncated file loads without a word) and, without its write-ahead log, no lock.
"""

import fcntl
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from shared.errors import CollectionUnavailable, Conflict

REWRITTEN = frozenset({"edge_config.json"})  # the engine writes it anew at every load


def digest_and_sync(folder: Path) -> dict[str, str]:
    """Flush every file and folder below `folder` to the disk. Returns relative path -> sha256 of all but the rewritten files."""
    digests: dict[str, str] = {}
    for path in _files(folder):
        with path.open("rb") as file:
            os.fsync(file.fileno())
            if path.name not in REWRITTEN:
                digests[path.relative_to(folder).as_posix()] = hashlib.file_digest(file, "sha256").hexdigest()
    for below, _, _ in os.walk(folder):
        sync_folder(Path(below))
    return digests


def verify(folder: Path, digests: dict[str, str]) -> None:
    """Raises: CollectionUnavailable naming the first file that is missing, changed or was never sealed; `ids` = the collection and that file."""
    name = folder.name
    for relative, digest in sorted(digests.items()):
        try:
            with (folder / relative).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except FileNotFoundError as error:
            raise CollectionUnavailable(
                f"collection {name}: file {relative} is missing; import again or restore it", ids=[name, relative]
            ) from error
        except OSError as error:
            raise CollectionUnavailable(
                f"collection {name}: file {relative} can't be read ({error.strerror})", ids=[name, relative]
            ) from error
        if found != digest:
            raise CollectionUnavailable(
                f"collection {name}: file {relative} has changed since it was sealed; import again or restore it",
                ids=[name, relative],
            )
    for path in _files(folder):
        relative = path.relative_to(folder).as_posix()
        if relative not in digests and path.name not in REWRITTEN and not path.name.startswith("."):
            raise CollectionUnavailable(
                f"collection {name}: file {relative} does not belong to it; remove it", ids=[name, relative]
            )


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class WriterLock:
    """Held by the one process that writes a collection; the kernel frees it when that process is gone, however it ended."""

    def __init__(self, path: Path, *, name: str) -> None:
        """Raises: Conflict when another writer holds it."""
        self._path = path
        while True:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                os.close(self._descriptor)
                raise Conflict(f"collection {name} is being written by another process", ids=[name]) from error
            if self._is_current():
                return
            os.close(self._descriptor)  # its holder removed it between our open and our lock

    def release(self) -> None:
        self._path.unlink(missing_ok=True)
        os.close(self._descriptor)

    def _is_current(self) -> bool:
        try:
            return os.stat(self._path).st_ino == os.fstat(self._descriptor).st_ino
        except FileNotFoundError:
            return False


def _files(folder: Path) -> Iterator[Path]:
    for below, _, names in os.walk(folder):
        for name in sorted(names):
            yield Path(below, name)
