"""Rows by the batch: one statement with all of them in one JSON text.

SQLite lets go of the interpreter lock at every step and must get it back from a busy event loop; `executemany` makes a step of each row.
"""

import sqlite3
from collections.abc import Sequence

import msgspec

encode = msgspec.json.encode  # a list of tuples: rows


def array(rows: Sequence[bytes]) -> bytes:
    """Of rows that are JSON already."""
    return b"[" + b",".join(rows) + b"]"


def of_rows(insert: str, *, columns: int, then: str = "") -> str:
    """A statement for `write_rows`. `then`: what the end of an `insert` may be, e.g. `on conflict …`."""
    row = ", ".join(f"json_extract(row, '$[{column}]')" for column in range(columns))
    # The limit keeps SQLite from putting the inner select into the outer one: it would write each row's JSON anew for each column.
    return (
        f"{insert} select {row} from (select value as row from json_each(cast(? as text)) limit -1) where true {then}"
    )


def write_rows(connection: sqlite3.Connection, statement: str, rows: bytes) -> None:
    """`rows`: a JSON array of arrays of columns; texts without null characters. Nothing is done for none."""
    if rows != b"[]":
        connection.execute(statement, [rows])
