"""The file at hand, as the formats' modules see it."""

from pathlib import PurePosixPath

from msgspec import Struct

from worker.parsers.clean import readable
from worker.parsers.encoding import decode


class File(Struct, frozen=True, kw_only=True):
    data: bytes
    name: str

    @property
    def stem(self) -> str:
        return PurePosixPath(self.name).stem

    @property
    def suffix(self) -> str:
        """Lower case, with the dot."""
        return PurePosixPath(self.name).suffix.lower()

    def text(self, *, declared: str | None = None) -> tuple[str, str]:
        """Readable text and the name of its encoding. Raises: unreadable."""
        text, encoding = decode(self.data, declared=declared)
        return readable(text), encoding
