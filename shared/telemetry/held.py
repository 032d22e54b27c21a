"""The store's file as the writer holds it open. By its name others may have removed it or put another one there meanwhile."""

import sqlite3
from pathlib import Path

from sqlite_utils import Database

from shared.telemetry.schema import open_traces


class Held:
    """A connection for writing. SQLite would go on for ever into a file that nobody finds any more."""

    def __init__(self, path: Path, *, busy_ms: int) -> None:
        """Raises: as `open_traces`; OSError when the file is gone already."""
        self._path = path
        self.db: Database = open_traces(path, busy_ms=busy_ms)
        self._identity = _identity(path)
        self.spans = 0  # written here
        self.runs = 0

    @property
    def in_place(self) -> bool:
        """Whether readers find this file by its name."""
        try:
            return _identity(self._path) == self._identity
        except OSError:
            return False

    def all_runs(self) -> int | None:
        """How many the file holds, whoever wrote them; None where it can't be told."""
        try:
            return int(self.db.conn.execute("select count(*) from runs").fetchone()[0])
        except sqlite3.Error:
            return None

    def close(self) -> None:
        self.db.conn.close()


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino
