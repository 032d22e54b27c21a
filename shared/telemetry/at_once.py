"""Rows by the batch: one statement with all of them in one JSON text.

SQLite lets go of the interpreter lock at every step and must get it back from a busy event loop; `executemany` makes a step of each row.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Final

MOST_BYTES: Final = 4 * 1024 * 1024  # of one text: after a store was locked for long there may be hundreds of megabytes


def of_rows(insert: str, *, columns: int, then: str = "") -> str:
    """A statement for `write_rows`. `then`: what the end of an `insert` may be, e.g. `on conflict …`."""
    row = ", ".join(f"json_extract(row, '$[{column}]')" for column in range(columns))
    # The limit keeps SQLite from putting the inner select into the outer one: it would write each row's JSON anew for each column.
    return (
        f"{insert} select {row} from (select value as row from json_each(cast(? as text)) limit -1) where true {then}"
    )


def write_rows(
    connection: sqlite3.Connection, statement: str, rows: Sequence[bytes], *, most_bytes: int = MOST_BYTES
) -> None:
    """`rows`: of each a JSON array of its columns; texts without null characters."""
    for piece in _pieces(rows, most_bytes):
        connection.execute(statement, [b"[" + b",".join(piece) + b"]"])


def _pieces(rows: Sequence[bytes], most_bytes: int) -> Iterator[list[bytes]]:
    """Of `most_bytes`, or of one row."""
    piece, size = list[bytes](), 0
    for row in rows:
        if piece and size + len(row) > most_bytes:
            yield piece
            piece, size = [], 0
        piece.append(row)
        size += len(row)
    if piece:
        yield piece
