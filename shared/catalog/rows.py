"""Read rows as plain dictionaries, on the way to becoming Structs."""

import json
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, TypeAlias

import msgspec
from sqlite_utils import Database

from shared.catalog.db import is_storage_fault
from shared.errors import StorageError

Row: TypeAlias = dict[str, Any]


def rows(db: Database, sql: str, **values: object) -> list[Row]:
    """Raises: StorageError when the disk fails."""
    with _reading():
        cursor = db.conn.execute(sql, values)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]


def first_column(db: Database, sql: str, **values: object) -> list[Any]:
    """For many short rows. Raises: StorageError when the disk fails."""
    with _reading():
        return [value for (value,) in db.conn.execute(sql, values)]


def one(db: Database, sql: str, **values: object) -> Row | None:
    return next(iter(rows(db, sql, **values)), None)


def from_json(row: Row, *columns: str) -> Row:
    """The row with its JSON columns decoded."""
    return row | {column: msgspec.json.decode(row[column]) for column in columns}


def to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


@contextmanager
def _reading() -> Generator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        if is_storage_fault(error):
            raise StorageError(f"The catalog can't be read: {error}.") from error
        raise
