"""Vectors already paid for: (embedding version, SHA-256 of the embedded text) -> vector.

Rows are never changed; they go when no block has their text any more, or no snapshot their version (worker/retention.py).
"""

import sqlite3
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from shared.catalog.db import open_database, writing
from shared.errors import StorageError

Dense: TypeAlias = npt.NDArray[np.float32]  # shape (dimensions,)

_ASKED_AT_ONCE = 500  # SQLite's limit of parameters is 999 in old builds
_REMOVED_AT_ONCE = 1_000  # rows in one transaction
_STORED = np.dtype("<f4")
# The key sits in an index of its own: rows arrive in random key order, and a clustered table of 1.5 kB rows would split
# its pages in half at every insert.
_SCHEMA = (
    "create table if not exists versions (id integer primary key, name text not null unique)",
    "create table if not exists vectors (version_id integer not null references versions (id), sha256 blob not null,"
    " vector blob not null, unique (version_id, sha256))",
)


class EmbeddingCache:
    """One connection, usable from several threads in turn; several processes may have the file open.

    Losing the file costs the embeddings again and nothing else.
    """

    def __init__(self, path: Path) -> None:
        """Raises: StorageError."""
        self._path = path
        self._turn = threading.Lock()
        self._db = open_database(path)
        with writing(self._db) as connection:
            for statement in _SCHEMA:
                connection.execute(statement)

    def get(self, version: str, hashes: Sequence[str]) -> dict[str, Dense]:
        """Those of `hashes` (64 hex digits each) that are known. Raises: StorageError."""
        known: dict[str, Dense] = {}
        with self._turn, self._readable():
            for start in range(0, len(hashes), _ASKED_AT_ONCE):
                asked = [bytes.fromhex(sha256) for sha256 in hashes[start : start + _ASKED_AT_ONCE]]
                rows = self._db.conn.execute(
                    "select vectors.sha256, vectors.vector from vectors"
                    " join versions on versions.id = vectors.version_id"
                    f" where versions.name = ? and vectors.sha256 in ({', '.join('?' * len(asked))})",
                    [version, *asked],
                )
                for sha256, vector in rows:
                    known[sha256.hex()] = np.frombuffer(vector, dtype=_STORED).astype(np.float32)
        return known

    def check_writable(self) -> None:
        """Before something is paid for: could it be stored? Raises: StorageError (locked, not writable)."""
        with self._turn, writing(self._db):
            return

    def put(self, version: str, vectors: Mapping[str, Dense]) -> None:
        """One transaction. The first vector of a text stays: whoever comes later gets the same. Raises: StorageError."""
        with self._turn, writing(self._db) as connection:
            connection.execute("insert or ignore into versions (name) values (?)", [version])
            (version_id,) = connection.execute("select id from versions where name = ?", [version]).fetchone()
            connection.executemany(
                "insert or ignore into vectors (version_id, sha256, vector) values (?, ?, ?)",
                (
                    (version_id, bytes.fromhex(sha256), np.asarray(vector, dtype=_STORED).tobytes())
                    for sha256, vector in vectors.items()
                ),
            )

    def remove(self, hashes: Sequence[str]) -> None:
        """Take these texts' vectors out, of every version. One transaction: give it some hundreds. Raises: StorageError."""
        with self._turn, writing(self._db) as connection:
            connection.executemany(
                "delete from vectors where version_id in (select id from versions) and sha256 = ?",
                [(bytes.fromhex(sha256),) for sha256 in hashes],
            )

    def versions(self) -> set[str]:
        """Those that it holds vectors of, or did. Raises: StorageError."""
        with self._turn, self._readable():
            return {name for (name,) in self._db.conn.execute("select name from versions")}

    def forget(self, version: str) -> bool:
        """Take out some vectors of a version, in one transaction; True while there are more. Raises: StorageError."""
        with self._turn, writing(self._db) as connection:
            gone = connection.execute(
                "delete from vectors where rowid in (select vectors.rowid from vectors"
                " join versions on versions.id = vectors.version_id where versions.name = ? limit ?)",
                [version, _REMOVED_AT_ONCE],
            )
            if gone.rowcount < _REMOVED_AT_ONCE:
                connection.execute("delete from versions where name = ?", [version])
                return False
        return True

    def close(self) -> None:
        with self._turn:
            self._db.conn.close()

    @contextmanager
    def _readable(self) -> Generator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise StorageError(
                f"The embedding cache {self._path.name} can't be read: {error}. It may be deleted while nothing runs;"
                " every text is then embedded once more."
            ) from error
