"""Files of a sealed collection: made durable, told apart from changed ones, written by one writer at a time.

The engine has no checksums (a truncated file loads without a word) and, without its write-ahead log, no lock.
"""

import errno
import fcntl
import hashlib
import os
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from io import BufferedReader, FileIO
from pathlib import Path
from typing import TypeVar

from shared.errors import CollectionUnavailable, Conflict, StorageError

K = TypeVar("K")
T = TypeVar("T")
REWRITTEN = frozenset({"edge_config.json"})  # the engine writes it anew at every load
_ROOM_BYTES = 1024 * 1024
_AT_ONCE = 4  # files; reading, hashing and flushing leave the interpreter free
_PIECE_BYTES = 64 * 1024  # all zero, it becomes a hole
_ZEROS = bytes(_PIECE_BYTES)


def digest_and_sync(folder: Path) -> dict[str, str]:
    """Flush every file and folder below `folder` to the disk. Returns relative path -> sha256 of all but the rewritten files."""
    found = dict(_at_once(partial(_synced, folder), _files(folder)))
    for below, _, _ in os.walk(folder):
        sync_folder(Path(below))
    return {relative: digest for relative, digest in found.items() if digest is not None}


def verify(folder: Path, digests: dict[str, str]) -> None:
    """Raises: CollectionUnavailable naming the first file that is missing, changed or was never sealed; `ids` = the collection and that file."""
    name = folder.name

    def check(relative: str) -> None:
        with _reading(folder, relative) as file:
            _compare(name, relative, hashlib.file_digest(file, "sha256").hexdigest(), digests[relative])

    _at_once(check, sorted(digests))
    for path in _files(folder):
        relative = path.relative_to(folder).as_posix()
        if relative not in digests and path.name not in REWRITTEN and not path.name.startswith("."):
            raise CollectionUnavailable(
                f"collection {name}: file {relative} does not belong to it", ids=[name, relative]
            )


def copy_verified(folder: Path, target: Path, digests: dict[str, str]) -> None:
    """Copy the sealed files of `folder` into the new folder `target`, reading each once to copy and to check it.

    Holes stay holes: the engine preallocates, and a plain copy would be twenty times as large. Never by links: it writes in place.
    What the engine rewrites at every load isn't copied: a reader may be rewriting it now.
    Raises: CollectionUnavailable as `verify`, StorageError; what is in `target` then is of no use.
    """

    def copy(relative: str) -> None:
        with _reading(folder, relative) as file:
            _compare(folder.name, relative, _copied(file, target / relative), digests[relative])

    with storing(f"{target} can't be made"):
        for below, _, _ in os.walk(folder):
            (target / Path(below).relative_to(folder)).mkdir()
    _at_once(copy, sorted(digests))


def require_room(folder: Path) -> None:
    """The engine writes a little at every load, some of it through mapped files: a disk without any room kills the process (SIGBUS).

    On a disk in memory (tmpfs) holes take room as soon as they are read, tens of megabytes for a large collection: keep that much free there.
    Raises: StorageError.
    """
    disk = os.statvfs(folder)
    if disk.f_bavail * disk.f_frsize < _ROOM_BYTES:
        raise StorageError(f"The disk is full: {folder.name} can't be opened. Free some space.")


@contextmanager
def storing(what: str) -> Generator[None]:
    """Translate the disk's failures into ours. `what`: "… can't be …", as it is said in the middle of a sentence."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StorageError(f"The disk is full: {what}. Free some space.") from error
        raise StorageError(f"{what}: {error.strerror or error}") from error


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
        self._released = False
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
        """A second time nothing happens: another writer may hold it by then."""
        if not self._released:
            self._released = True
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


def _synced(folder: Path, path: Path) -> tuple[str, str | None]:
    with path.open("rb") as file:
        os.fsync(file.fileno())
        relative = path.relative_to(folder).as_posix()
        return relative, None if path.name in REWRITTEN else hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _reading(folder: Path, relative: str) -> Generator[BufferedReader]:
    name = folder.name
    try:
        with (folder / relative).open("rb") as file:
            yield file
    except FileNotFoundError as error:
        raise CollectionUnavailable(f"collection {name}: file {relative} is missing", ids=[name, relative]) from error
    except OSError as error:
        raise CollectionUnavailable(
            f"collection {name}: file {relative} can't be read ({error.strerror})", ids=[name, relative]
        ) from error


def _compare(name: str, relative: str, found: str, digest: str) -> None:
    if found != digest:
        raise CollectionUnavailable(
            f"collection {name}: file {relative} has changed since it was sealed",
            ids=[name, relative],
        )


def _copied(file: BufferedReader, place: Path) -> str:
    """Returns the sha256 of what was read."""
    digest = hashlib.sha256()
    with storing(f"{place} can't be made"):
        copy = place.open("xb", buffering=0)
    with copy:
        while piece := file.read(_PIECE_BYTES):
            digest.update(piece)
            with storing(f"{place} can't be written"):
                _put(copy, piece)
        with storing(f"{place} can't be written"):
            copy.truncate()  # a hole at the end
    return digest.hexdigest()


def _put(copy: FileIO, piece: bytes) -> None:
    if piece == _ZEROS[: len(piece)]:
        copy.seek(len(piece), os.SEEK_CUR)
        return
    while piece:  # a disk that is nearly full takes a part, and refuses the next
        piece = piece[copy.write(piece) :]


def _at_once(do: Callable[[K], T], things: Iterable[K]) -> list[T]:
    """In the order of `things`; the first error in that order is raised."""
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="sealed") as pool:
        return list(pool.map(do, things))
