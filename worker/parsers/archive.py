"""Zip containers (Office, EPUB, OpenDocument), opened with care: a few kilobytes may claim to be gigabytes."""

import io
import zipfile
import zlib

from shared.errors import DocumentError
from worker.parsers.markup import Node, parse_xml

MAX_MEMBERS = 20_000
MAX_UNPACKED_BYTES = 600 * 1024 * 1024
MAX_RATIO = 200  # of a large archive as a whole; deflate reaches 1030, real documents stay below 50
RATIO_MATTERS_FROM_BYTES = 50 * 1024 * 1024


class Archive:
    """Members are read into memory, never written to disk; zipfile stops at the size that a member declares.

    Raises: corrupt, encrypted, too_large.
    """

    def __init__(self, data: bytes) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise DocumentError(
                "corrupt", "The file is damaged or incomplete: its zip directory can't be read."
            ) from error
        members = self._zip.infolist()
        if any(member.flag_bits & 1 for member in members):
            raise DocumentError("encrypted", "The file is protected with a password. Save it without one.")
        unpacked = sum(member.file_size for member in members)
        packed = sum(member.compress_size for member in members)
        bomb = unpacked > RATIO_MATTERS_FROM_BYTES and unpacked > MAX_RATIO * max(packed, 1)
        if len(members) > MAX_MEMBERS or unpacked > MAX_UNPACKED_BYTES or bomb:
            raise DocumentError("too_large", "The file unpacks to more than a document may take.")
        self.names = tuple(member.filename for member in members)

    def read(self, name: str) -> bytes:
        try:
            return self._zip.read(name)
        except KeyError as error:
            raise DocumentError("corrupt", f"The file is damaged: its part {name} is missing.") from error
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as error:
            raise DocumentError("corrupt", f"The file is damaged: its part {name} can't be unpacked.") from error

    def xml(self, name: str) -> Node:
        return parse_xml(self.read(name))
