"""Take one file in: its bytes into the originals store and an item into the catalog, or an item that says why not."""

import shutil
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path

from shared.catalog.items import add_failed_item, add_item, known_keys
from shared.errors import DocumentError
from shared.files import Found, document_key, is_junk
from shared.types.documents import Source
from worker.faults import fault_point
from worker.stages.ahead import ahead
from worker.stages.unpack import Archive, Packed
from worker.stages.work import Work

_PIECE_BYTES = 1024 * 1024
_AT_ONCE = 4  # files: most of the time goes by until the disk has them


class Intake:
    """Of one source. What an earlier try has taken in is passed over.

    max_bytes: of one document, and of an archive as it is packed.
    Its methods raise: StorageError, Stopped.
    """

    def __init__(self, work: Work, source: Source, *, max_bytes: int) -> None:
        self._work = work
        self._source_id = source.source_id
        self._max_bytes = max_bytes
        self._known = known_keys(work.db, work.import_id, source.source_id)

    def take_files(self, files: Iterable[Found]) -> None:
        """Files on this machine, copied several at once; a zip is taken apart."""

        def not_known() -> Iterator[Found]:
            for file in files:
                self._work.check()
                if file.key not in self._known:
                    yield file

        with closing(ahead(self._copied, not_known(), at_once=_AT_ONCE)) as results:
            for file, copied in results:
                self._take_file(file, copied)

    def _copied(self, file: Found) -> tuple[str, int] | int:
        """SHA-256 and size in bytes of what is in the originals store now; only the size of what isn't. On any thread."""
        if file.refused is not None:
            return 0
        size_bytes = file.path.stat().st_size
        if size_bytes > self._max_bytes or _is_archive(file.key):
            return size_bytes
        return self._work.blobs.put_file(file.path)

    def _take_file(self, file: Found, copied: Future[tuple[str, int] | int]) -> None:
        if file.refused is not None:
            self._refuse(file.key, "unreadable", file.refused)
            return
        try:
            match copied.result():
                case (sha256, size_bytes):
                    self._take(file.key, sha256, size_bytes)
                case size_bytes:
                    if self._fits(file.key, size_bytes):
                        self._take_archive(file.key, file.path)
        except OSError as error:  # of this file; the store's own come as StorageError
            reason = f"The file can't be read: {error.strerror or type(error).__name__}."
            self._refuse(file.key, "unreadable", reason, retryable=True)

    def take_stored(self, key: str, *, sha256: str, size_bytes: int) -> None:
        """Bytes that are in the originals store already; a zip is taken apart."""
        self._work.check()
        if key in self._known or not self._fits(key, size_bytes):
            return
        original = self._work.blobs.path(sha256)
        if _is_archive(key) and original.is_file():
            self._take_archive(key, original)
        else:
            self._take(key, sha256, size_bytes)

    def _take_archive(self, key: str, path: Path) -> None:
        try:
            archive = Archive(path)
        except DocumentError as error:
            self._refuse(key, error.code, error.message)
            return
        try:
            for member in archive.members():
                self._work.check()
                inner = f"{key}/{document_key(member.name)}"
                if inner not in self._known and not is_junk(member.name) and self._fits(inner, member.size_bytes):
                    self._take_packed(inner, archive, member)
        finally:
            archive.close()

    def _take_packed(self, key: str, archive: Archive, member: Packed) -> None:
        try:
            with archive.reading(member) as file, self._work.blobs.receiving() as receiver:
                shutil.copyfileobj(file, receiver, _PIECE_BYTES)
                taken = receiver.finish()
        except DocumentError as error:
            self._refuse(key, error.code, error.message)
            return
        self._take(key, *taken)

    def _take(self, key: str, sha256: str, size_bytes: int) -> None:
        work = self._work
        add_item(
            work.db, work.import_id, work.worker, self._source_id, key, original_sha256=sha256, size_bytes=size_bytes
        )
        fault_point("discover:stored")

    def _fits(self, key: str, size_bytes: int) -> bool:
        if size_bytes <= self._max_bytes:
            return True
        reason = f"The file has {size_bytes} bytes; at most {self._max_bytes} are taken."
        self._refuse(key, "too_large", reason, size_bytes=size_bytes)
        return False

    def _refuse(self, key: str, code: str, reason: str, *, retryable: bool = False, size_bytes: int = 0) -> None:
        add_failed_item(
            self._work.db,
            self._work.import_id,
            self._work.worker,
            self._source_id,
            key,
            code=code,
            reason=reason,
            retryable=retryable,
            size_bytes=size_bytes,
        )


def _is_archive(key: str) -> bool:
    """By its name: Office and EPUB files are zips as well."""
    return key.lower().endswith(".zip")
