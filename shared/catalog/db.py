"""Open the catalog and write to it."""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from sqlite_utils import Database as Database

from shared.errors import StorageError
from shared.text.grams import marked

BUSY_TIMEOUT_S = 10.0
_NEEDED = (3, 34, 0)  # FTS5's trigram tokenizer
_CHECKPOINT_PAGES = 8_000  # 32 MB of log: each checkpoint flushes log and file, whoever commits waits for it


def open_database(path: Path) -> Database:
    """A connection of the caller's own thread; WAL, foreign keys on. The schema is brought up to date by upgrade.py.

    Raises: StorageError.
    """
    if sqlite3.sqlite_version_info < _NEEDED:
        needed = ".".join(map(str, _NEEDED))
        raise StorageError(
            f"This Python has SQLite {sqlite3.sqlite_version}; the catalog needs {needed} or later. Use another Python."
        )
    try:
        # isolation_level None: no implicit BEGIN; every write goes through `writing`.
        connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
        connection.execute("pragma journal_mode = wal")
        # full: what a caller was told (202, published, paid for) survives a power cut; normal loses the last commits under WAL.
        # 1.5 ms a commit instead of 0.03 (2026-12, virtual disk): `writing(lasting=False)` is for progress, eight commits a document.
        connection.execute("pragma synchronous = full")
        connection.execute(f"pragma wal_autocheckpoint = {_CHECKPOINT_PAGES}")
        connection.execute("pragma foreign_keys = on")
        connection.execute("pragma trusted_schema = on")  # some builds don't: our triggers write a virtual table
        connection.create_function("marked", 1, marked, deterministic=True)  # for the catalog's triggers
    except sqlite3.Error as error:
        raise StorageError(f"The catalog {path.name} can't be opened: {error}. Check the data folder.") from error
    return Database(connection)


def is_storage_fault(error: BaseException) -> bool:
    """Whether the disk or the file is to blame: locked, full, damaged (a plain DatabaseError); not a broken constraint or statement."""
    return isinstance(error, sqlite3.OperationalError) or type(error) is sqlite3.DatabaseError


@contextmanager
def writing(db: Database, *, lasting: bool = True) -> Generator[sqlite3.Connection]:
    """One short write transaction.

    BEGIN IMMEDIATE: a deferred BEGIN that reads first fails at once under WAL (SQLITE_BUSY_SNAPSHOT) after another writer.
    lasting: False where a power cut may take it back, because the work is only done again; a kill takes nothing. Commits keep their
    order, so a lasting one makes all before it last.
    Raises: StorageError when the lock can't be had in BUSY_TIMEOUT_S or the disk is full.
    """
    connection = db.conn
    try:
        if not lasting:
            connection.execute("pragma synchronous = normal")
        connection.execute("begin immediate")
    except sqlite3.DatabaseError as error:
        raise _unwritable(error) from error
    try:
        yield connection
        connection.execute("commit")
    except BaseException as error:
        if connection.in_transaction:
            connection.execute("rollback")
        if is_storage_fault(error):
            raise _unwritable(error) from error
        raise
    finally:
        if not lasting:
            connection.execute("pragma synchronous = full")


def _unwritable(error: BaseException) -> StorageError:
    words = str(error)
    if "full" in words:
        remedy = "Free some space on the data folder's disk."
    elif "locked" in words:
        remedy = "Another program keeps it open for writing: end that one."
    elif "no such module" in words or "no such tokenizer" in words:
        remedy = "This Python's SQLite was built without FTS5, which the exact scan needs: use another Python."
    else:
        remedy = "Check the data folder."
    return StorageError(f"The catalog can't be written: {words}. {remedy}")
