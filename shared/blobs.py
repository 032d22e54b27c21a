"""Content-addressed files: uploaded originals, parse checkpoints, span contents.

A file lies under the SHA-256 of its bytes, is written once and never changed. It appears by a rename, so a file that is there is whole,
whatever was killed when; fsync comes before it, except for what can be made again.
"""

import errno
import hashlib
import os
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from shared.errors import NotFound, StorageError

_PIECE_BYTES = 1024 * 1024
_INCOMING = "incoming"  # a part that was never finished stays here until `sweep`
_LEAVING = ".leaving"  # a file that is being removed


class Receiver:
    """Takes the bytes of one file as they come; `finish` puts it in its place."""

    def __init__(self, folder: Path, part: Path, file: BinaryIO, *, lasting: bool = True) -> None:
        self._folder = folder
        self._lasting = lasting
        self._part = part
        self._file = file
        self._hash = hashlib.sha256()
        self._size_bytes = 0

    def write(self, data: bytes) -> None:
        with storage(self._folder):
            self._file.write(data)
        self._hash.update(data)
        self._size_bytes += len(data)

    def finish(self) -> tuple[str, int]:
        """SHA-256 (hexadecimal) and size in bytes."""
        sha256 = self._hash.hexdigest()
        target = _place(self._folder, sha256)
        with storage(self._folder):
            self._file.flush()
            if not (_refresh(target) and _is_sound(target, sha256)):  # what was damaged is mended by storing it again
                if self._lasting:
                    os.fsync(self._file.fileno())
                self._file.close()
                target.parent.mkdir(mode=0o700, exist_ok=True)
                self._part.replace(target)
                if self._lasting:
                    sync_folder(target.parent)
        return sha256, self._size_bytes


class Blobs:
    """Safe to use from several threads and processes at once: equal content meets in one place by an atomic rename.

    Raises: StorageError when the folder can't be written or the disk is full.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, data: bytes, *, lasting: bool = True) -> str:
        """lasting: False for what can be made again; a power cut may take it, or leave it damaged, which reading notices."""
        sha256 = hashlib.sha256(data).hexdigest()
        if not self._is_known(sha256):
            with self.receiving(lasting=lasting) as receiver:
                receiver.write(data)
                receiver.finish()
        return sha256

    def _is_known(self, sha256: str) -> bool:
        """Nobody removes it for a while then."""
        with storage(self._folder):
            return _refresh(self.path(sha256)) and _is_sound(self.path(sha256), sha256)

    def put_file(self, path: Path) -> tuple[str, int]:
        """Copy a file in; SHA-256 and size in bytes of what was copied.

        Raises: OSError when `path` can't be read, StorageError when the copy can't be written.
        """
        with path.open("rb") as source:
            sha256 = hashlib.file_digest(source, "sha256").hexdigest()
            if self._is_known(sha256):  # most of a folder that is imported again
                return sha256, source.tell()
            source.seek(0)
            return self._copied(source)

    def _copied(self, source: BinaryIO) -> tuple[str, int]:
        with self.receiving() as receiver:
            while piece := source.read(_PIECE_BYTES):
                receiver.write(piece)
            return receiver.finish()

    @contextmanager
    def receiving(self, *, lasting: bool = True) -> Generator[Receiver]:
        """A file that arrives piece by piece; nothing stays of one that was not finished."""
        incoming = self._folder / _INCOMING
        with storage(self._folder):
            incoming.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=incoming)
        part = Path(name)
        file = os.fdopen(descriptor, "wb")
        try:
            yield Receiver(self._folder, part, file, lasting=lasting)
        finally:
            with suppress(OSError):  # closing writes what is left over, and would fail once more on a full disk
                file.close()
            part.unlink(missing_ok=True)  # gone already when `finish` renamed it

    def sweep(self, *, older_than_s: float) -> int:
        """Remove parts that a killed process left behind; how many. `older_than_s`: longer than any upload takes."""
        removed = 0
        for part in (self._folder / _INCOMING).glob("*"):
            with suppress(FileNotFoundError):  # finished meanwhile
                if time.time() - part.stat().st_mtime > older_than_s:
                    part.unlink()
                    removed += 1
        return removed

    def unused(self, *, for_s: float) -> Iterator[str]:
        """SHA-256 of every file that nobody has put here for that long; an old file that is put again counts as new."""
        for path in self._folder.glob("[0-9a-f][0-9a-f]/*"):
            sha256 = path.name.removesuffix(_LEAVING)
            if path.parent.name == sha256[:2] and _is_old(path, for_s):
                yield sha256

    def remove(self, sha256: str, *, unused_for_s: float) -> bool:
        """Take a file away, unless somebody has put it again meanwhile; False then.

        It leaves its place before it is looked at for the last time: whoever puts the same content just then either finds it gone
        and writes his own, or has made it new and it comes back.
        """
        place = self.path(sha256)
        leaving = place.with_name(f"{sha256}{_LEAVING}")
        with storage(self._folder):
            with suppress(FileNotFoundError):
                place.rename(leaving)
            if _is_old(leaving, unused_for_s):
                leaving.unlink(missing_ok=True)
                return True
            with suppress(FileNotFoundError):
                leaving.replace(place)  # the same bytes, should it have been written anew
        return False

    def path(self, sha256: str) -> Path:
        """Where the content lies, whether or not it is there."""
        return _place(self._folder, sha256)

    def read(self, sha256: str) -> bytes:
        """Exactly what was stored. Raises: NotFound when it isn't there, or not as it was."""
        try:
            content = self.path(sha256).read_bytes()
        except FileNotFoundError as error:
            raise _lost(sha256) from error
        if hashlib.sha256(content).hexdigest() != sha256:
            raise _lost(sha256)
        return content

    def sound(self, sha256: str) -> Path:
        """Where the content lies, once all of it was read and is what was stored. Raises: NotFound."""
        path = self.path(sha256)
        if not _is_sound(path, sha256):
            raise _lost(sha256)
        return path


@contextmanager
def storage(folder: Path) -> Generator[None]:
    """Translate the disk's failures into ours."""
    try:
        yield
    except OSError as error:
        what = "The disk is full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else f"Can't write ({error.strerror})"
        raise StorageError(f"{what}: {folder}. Free some space or check its permissions.") from error


def _lost(sha256: str) -> NotFound:
    return NotFound("This content isn't stored (any more), or was changed.", ids=[sha256])


def _is_sound(path: Path, sha256: str) -> bool:
    with suppress(FileNotFoundError), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == sha256
    return False


def _place(folder: Path, sha256: str) -> Path:
    return folder / sha256[:2] / sha256


def _refresh(path: Path) -> bool:
    """Whether it is there; then its time is now, so that `remove` knows that somebody has put it again."""
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    return True


def _is_old(path: Path, for_s: float) -> bool:
    with suppress(FileNotFoundError):
        return time.time() - path.stat().st_mtime > for_s
    return False


def sync_folder(folder: Path) -> None:
    """Make a rename in it last."""
    if os.name == "nt":
        return  # a folder can't be opened there; the rename is journalled
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
