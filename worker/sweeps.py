"""Whether the catalog is the folder's own, so that what it doesn't know may be removed.

Somebody may put an older catalog in place, e.g. from a backup: everything that came after it then looks like nobody's. Catalog and
folder therefore count their sweeps together. Where the numbers differ, the catalog has a day to prove itself before anything goes.
"""

import os
from pathlib import Path

from shared.blobs import storage
from shared.catalog.db import Database
from shared.catalog.garbage import Sweep, last_sweep, note_sweep


class Sweeps:
    def __init__(self, db: Database, beside: Path) -> None:
        """`beside`: a file in the folder, not in the catalog."""
        self._db = db
        self._beside = beside

    def begin(self, *, now_ms: int, known_since_ms: int) -> bool:
        """Count one more; False when the two have not belonged together since `known_since_ms` at least. Raises: StorageError."""
        last, number = last_sweep(self._db), self._read()
        agreed = last is not None and last.number == number
        since_ms = last.since_ms if last is not None and agreed else now_ms
        following = max(number, last.number if last else 0) + 1
        note_sweep(self._db, Sweep(number=following, since_ms=since_ms))
        self._write(following)  # killed before this, they differ and wait for another day
        return agreed and since_ms <= known_since_ms

    def _read(self) -> int:
        try:
            return int(self._beside.read_text(encoding="ascii"))
        except (FileNotFoundError, ValueError):
            return -1

    def _write(self, number: int) -> None:
        part = self._beside.with_name(f"{self._beside.name}.part")
        with storage(self._beside.parent):
            part.write_text(str(number), encoding="ascii")
            os.replace(part, self._beside)
