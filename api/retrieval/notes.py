"""The little that the query process writes into the catalog: which snapshots it has open, and which documents it found changed.

Nothing waits for it: a catalog that is locked or a disk that is full costs half a second at an opening and nothing else.
"""

import logging
import os
import socket
import uuid
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import TypeVar

from shared.catalog.db import Database, open_database
from shared.catalog.documents import mark_damaged
from shared.catalog.snapshot_leases import beat, drop_snapshot_lease, take_snapshot_lease
from shared.errors import StorageError
from shared.ids import DocId, SnapshotId

T = TypeVar("T")

BUSY_MS = 500
_log = logging.getLogger(__name__)


class Notes:
    """Blocking; safe to use from several threads."""

    def __init__(self, catalog: Path) -> None:
        self._catalog = catalog
        self._me = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:12]}"

    def take(self, snapshot_id: SnapshotId) -> bool:
        """Say that it is open here, so that it is not removed; False when that can't be said, or there is no such snapshot."""
        return bool(self._write(lambda db: take_snapshot_lease(db, snapshot_id, self._me)))

    def drop(self, snapshot_id: SnapshotId) -> None:
        self._write(lambda db: drop_snapshot_lease(db, snapshot_id, self._me))

    def beat(self, held: Collection[SnapshotId]) -> set[SnapshotId] | None:
        """Say again that these are open; returns those that were removed meanwhile, None when it can't be said."""
        return self._write(lambda db: beat(db, self._me, held))

    def damaged(self, versions: Iterable[tuple[DocId, int]]) -> None:
        """No import carries these over any more; a reindex makes them anew."""

        def mark(db: Database) -> None:
            for doc_id, version in versions:
                mark_damaged(db, doc_id, version)

        self._write(mark)

    def _write(self, write: Callable[[Database], T]) -> T | None:
        try:
            db = open_database(self._catalog)
        except StorageError as error:
            _log.warning("the catalog can't be written: %s", error.message)
            return None
        try:
            db.conn.execute(f"pragma busy_timeout = {BUSY_MS}")
            return write(db)
        except StorageError as error:
            _log.warning("the catalog can't be written: %s", error.message)
            return None
        finally:
            db.conn.close()
