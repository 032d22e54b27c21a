"""A little room on the data folder's disk, given up when the disk is full: so that the reason for a pause can still be written down."""

import os
from contextlib import suppress
from pathlib import Path

from shared.blobs import storage

SIZE_BYTES = 1024 * 1024  # some hundred states; writing one takes a few pages of 4 kB


class Reserve:
    """A file of random bytes: zeros may take no room. Several threads and processes may lay it up at once."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def lay_up(self) -> None:
        """Take the room unless it is taken. Raises: StorageError when there is none: no work should begin then."""
        if self._path.exists() and self._path.stat().st_size == SIZE_BYTES:
            return
        with storage(self._path.parent):
            try:
                with self._path.open("wb", buffering=0) as file:
                    left = SIZE_BYTES
                    while left:
                        left -= file.write(os.urandom(left))
                    os.fsync(file.fileno())
            except OSError:
                self.give_up()
                raise

    def give_up(self) -> None:
        with suppress(OSError):  # a disk that can't even remove a file: whoever writes next will say so
            self._path.unlink(missing_ok=True)
