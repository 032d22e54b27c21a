"""A zip of files: every file in it is a document, named after the archive and its path inside."""

import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from msgspec import Struct

from shared.errors import DocumentCode, DocumentError

MAX_MEMBERS = 20_000
MAX_UNPACKED_BYTES = 4 * 1024**3  # of one archive
_UTF8_NAMES = 0x800
_ENCRYPTED = 0x1


class Packed(Struct, frozen=True, kw_only=True):
    name: str  # as its author wrote it, relative, forward slashes
    size_bytes: int  # unpacked, as declared; zipfile stops there
    info: zipfile.ZipInfo


class Archive:
    """Nothing is written anywhere; a member is read piece by piece. Raises: DocumentError corrupt, encrypted, too_large."""

    def __init__(self, path: Path) -> None:
        with _readable():
            self._zip = zipfile.ZipFile(path)
        try:
            self._check()
        except DocumentError:
            self.close()
            raise

    def members(self) -> Iterator[Packed]:
        """Files in sorted order."""
        found = [(member_name(info), info) for info in self._zip.infolist() if not info.is_dir()]
        for name, info in sorted(found, key=lambda pair: pair[0]):
            yield Packed(name=name, size_bytes=info.file_size, info=info)

    @contextmanager
    def reading(self, member: Packed) -> Generator[IO[bytes]]:
        with _readable(), self._zip.open(member.info) as file:
            yield file

    def close(self) -> None:
        self._zip.close()

    def _check(self) -> None:
        members = self._zip.infolist()
        if any(member.flag_bits & _ENCRYPTED for member in members):
            raise _refusal("encrypted", "The archive is protected by a password.")
        if len(members) > MAX_MEMBERS:
            raise _refusal("too_large", f"The archive holds {len(members)} files; at most {MAX_MEMBERS} are taken.")
        unpacked = sum(member.file_size for member in members)
        if unpacked > MAX_UNPACKED_BYTES:
            raise _refusal(
                "too_large", f"The archive unpacks to {unpacked} bytes; at most {MAX_UNPACKED_BYTES} are taken."
            )


def member_name(info: zipfile.ZipInfo) -> str:
    """Names without the UTF-8 flag are in the code page of whoever packed them, in China nearly always GBK.

    zipfile has read them as code page 437; what is UTF-8 or GB18030 after all is read as that.
    """
    if info.flag_bits & _UTF8_NAMES or info.filename.isascii():
        return info.filename
    try:
        raw = info.filename.encode("cp437")
    except UnicodeEncodeError:
        return info.filename
    for encoding in ("utf-8", "gb18030"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return info.filename


@contextmanager
def _readable() -> Generator[None]:
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as error:
        raise _refusal("corrupt", f"The archive is damaged or of a strange kind ({type(error).__name__}).") from error


def _refusal(code: DocumentCode, message: str) -> DocumentError:
    return DocumentError(code, message)
