"""A read-only connection to the catalog: what the reads of every kind share.

Short rows (documents, sections, ids, the few blocks of a search) come as one, a JSON array made by SQLite that msgspec reads into
Structs: two thirds of the processor time of rows that become Structs one by one. Many long texts are cheaper as rows (decision 0139).
SQLite's JSON holds every text exactly, U+0000 included, integers and NULL; it holds no blobs.
"""

import sqlite3
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import msgspec

from shared.catalog.commits import commits_seen
from shared.catalog.db import open_database
from shared.errors import StorageError
from shared.text.fold import fold

MAPPED_BYTES = (
    8 << 30
)  # of address space, not of memory; a full scan of 100,000 blocks takes 140 ms with and 220 ms without
PUBLISHED = "('ready', 'ready_partial')"
Parameters: TypeAlias = Mapping[str, Any] | tuple[Any, ...]
T = TypeVar("T")
_pieces = msgspec.json.Decoder(list[msgspec.Raw])


class Reads:
    """One call at a time. Raises: StorageError from every method."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.db = open_database(path)
        self.db.conn.execute("pragma query_only = on")
        self.db.conn.execute(f"pragma mmap_size = {MAPPED_BYTES}")
        self.db.conn.create_function("fold", 1, fold, deterministic=True)

    def close(self) -> None:
        self.db.close()

    def state(self) -> int:
        """Of the catalog: another one after each commit of others."""
        with reading():
            return commits_seen(self.db.conn)

    def row(self, sql: str, parameters: Parameters) -> tuple[Any, ...] | None:
        return next(self.rows(sql, parameters), None)

    def rows(self, sql: str, parameters: Parameters) -> Iterator[tuple[Any, ...]]:
        with reading():
            yield from self.db.conn.execute(sql, parameters)

    def listed(self, item: str, of: str, parameters: Parameters, into: msgspec.json.Decoder[T]) -> list[T]:
        """Rows, all in one.

        item: the JSON of a row, e.g. by `json_object`; of: what follows `from` in a select of it.
        """
        with reading():
            items = f"select {item} item from {of}"
            query = f"select cast('[' || coalesce(group_concat(item), '') || ']' as blob) from ({items})"
            [(found,)] = self.db.conn.execute(query, parameters)
            # piece by piece: a long list read in one go would keep the lock from everybody else
            return [into.decode(piece) for piece in _pieces.decode(found)]


def json_object(columns: Mapping[str, str]) -> str:
    """The SQL of a JSON object, by its fields and what they are made of."""
    fields = ", ".join(f"'{field}', {column}" for field, column in columns.items())
    return f"json_object({fields})"


@contextmanager
def reading() -> Generator[None]:
    try:
        yield
    except (sqlite3.Error, msgspec.MsgspecError) as error:
        raise StorageError(f"The catalog can't be read: {error}. Run ./scripts/run doctor.") from error
