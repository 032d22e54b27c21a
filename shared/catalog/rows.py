"""Read rows as plain dictionaries, on the way to becoming Structs."""

import json
import sqlite3
from typing import Any, TypeAlias

from sqlite_utils import Database

from shared.errors import StorageError

Row: TypeAlias = dict[str, Any]


def rows(db: Database, sql: str, **values: object) -> list[Row]:
    """Raises: StorageError when the disk fails."""
    try:
        cursor = db.conn.execute(sql, values)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]
    except sqlite3.OperationalError as error:
        raise StorageError(f"The catalog can't be read: {error}.") from error


def first_column(db: Database, sql: str, **values: object) -> list[Any]:
    """For many short rows. Raises: StorageError when the disk fails."""
    try:
        return [value for (value,) in db.conn.execute(sql, values)]
    except sqlite3.OperationalError as error:
        raise StorageError(f"The catalog can't be read: {error}.") from error


def one(db: Database, sql: str, **values: object) -> Row | None:
    return next(iter(rows(db, sql, **values)), None)


def from_json(row: Row, *columns: str) -> Row:
    """The row with its JSON columns decoded."""
    return row | {column: json.loads(row[column]) for column in columns}


def to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
