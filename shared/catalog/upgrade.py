"""Bring a database's schema up to date: forward only, all or nothing, with a copy of what was there before."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from sqlite_utils import Database

from shared.blobs import storage, sync_folder
from shared.catalog.db import writing
from shared.errors import StorageError


def upgrade(db: Database, migrations: Sequence[str]) -> int:
    """Run those that are missing; returns the version reached. Two processes may call it at once.

    migrations: scripts, oldest first; a statement ends with `;` at a line's end. What was there before stays beside the file as
    NAME.schema-N, N being its version.
    Raises: StorageError, also when the database is of a newer version than this program.
    Source: spec/02 "schema versions with forward migrations and a tested backup before each".
    """
    if _version(db.conn) == len(migrations):
        return len(migrations)
    with writing(db) as connection:
        version = _version(connection)
        if version > len(migrations):
            raise StorageError(
                f"{_path(connection).name} was written by a newer Citebound (schema {version}, this one knows"
                f" {len(migrations)}). Use that version again, or put a backup in its place."
            )
        if 0 < version < len(migrations):
            _back_up(_path(connection), version)
        for number, script in enumerate(migrations[version:], start=version + 1):
            for statement in script.split(";\n"):
                if statement.strip():
                    connection.execute(statement)
            connection.execute(f"pragma user_version = {number}")
    return len(migrations)


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("pragma user_version").fetchone()[0])


def _path(connection: sqlite3.Connection) -> Path:
    return Path(connection.execute("pragma database_list").fetchone()[2])


def _back_up(path: Path, version: int) -> None:
    """Nobody else can write meanwhile: the caller holds the lock. Opened once before it counts as a backup."""
    kept = path.with_name(f"{path.name}.schema-{version}")
    part = path.with_name(f"{kept.name}.part")
    with storage(path.parent):
        part.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(part)) as copy:
            source.backup(copy)
            copy.execute("pragma journal_mode = delete")  # one file, whole without a -wal beside it
            [(found,)] = copy.execute("pragma quick_check(1)").fetchall()
            if found != "ok":
                raise StorageError(f"{path.name} is damaged: {found}. Put a backup in its place.")
        part.replace(kept)
        sync_folder(path.parent)
