"""Whether the index of grams holds every block, and making it anew. A gram that is not found is a hit that nobody misses.

FTS5's own integrity-check isn't enough (it looks past a term that can't be looked up any more, 3.40), and takes the write lock.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

from shared.catalog.db import Database, is_storage_fault, open_database, writing
from shared.errors import StorageError
from shared.text.grams import grams_in, marked

REMEDY = "./scripts/run rebuild-scan-index makes it anew"
_TOTALS, _STRUCTURE = 1, 10  # of scan_index_data: https://sqlite.org/fts5.html#fts5_data_structures
_EMPTY_STRUCTURE = bytes(7)
_FORMAT = 4


def is_complete(connection: sqlite3.Connection) -> bool:
    """Whether as many blocks were put in as versions have. Cheap; says nothing about what the disk did to it since."""
    row = connection.execute("select block from scan_index_data where id = ?", (_TOTALS,)).fetchone()
    [(wanted,)] = connection.execute(
        "select coalesce(sum(blocks), 0) from document_versions where state in ('sound', 'damaged')"
    )
    return _first_varint(row[0] if row else b"") >= wanted


def index_fault(path: Path) -> str | None:
    """Compare every gram of every block with what the index says, and look every gram up; None = nothing is amiss.

    0.6 to 1 ms a block, nearly all of it for the looking up (40 us a gram); keeps nobody from writing. Raises: StorageError when the catalog can't be read.
    """
    with closing(open_database(path).conn) as connection:
        connection.execute("create virtual table temp.scan_entries using fts5vocab (main, scan_index, instance)")
        connection.execute("begin")  # one state of the catalog for all that follows
        try:
            indexed = _indexed(connection)
        except sqlite3.DatabaseError as error:
            if "locked" in str(error):
                raise StorageError(f"The catalog can't be read: {error}.") from error
            return f"it can't be read ({error})"
        if indexed is None:
            return "it has entries that are not found by looking them up"
        try:
            there = _there(connection)
        except sqlite3.Error as error:
            raise StorageError(f"The catalog can't be read: {error}.") from error
    if indexed != there:
        return f"it has {indexed[0]} entries, the blocks have {there[0]}, and they are not the same"
    return None


def rebuild_index(db: Database) -> int:
    """From the blocks, whatever is left of it; how many blocks there are. 0.2 ms a block, during which nobody else writes.

    Raises: StorageError.
    """
    with writing(db) as connection:
        try:
            connection.execute("insert into scan_index (scan_index) values ('rebuild')")
        except sqlite3.DatabaseError as error:
            if not is_storage_fault(error) or "full" in str(error):
                raise
            # what a table must have to be opened at all: as FTS5 writes it for an empty one
            connection.execute("replace into scan_index_config (k, v) values ('version', ?)", (_FORMAT,))
            connection.execute("replace into scan_index_data (id, block) values (?, ?)", (_STRUCTURE, _EMPTY_STRUCTURE))
            connection.execute("insert into scan_index (scan_index) values ('rebuild')")
        [(blocks,)] = connection.execute("select count(*) from blocks")
    return blocks


def _indexed(connection: sqlite3.Connection) -> tuple[int, int] | None:
    """Entries and their digest; None = one is not found by its gram."""
    entries = digest = 0
    for gram, count, ids in connection.execute(
        "select term, count(*), sum(doc) from temp.scan_entries group by term"  # in their order, without sorting
    ):
        looked_up = connection.execute("select doc from scan_grams where term = ?", (gram,)).fetchone()
        if looked_up != (count,):
            return None
        entries += count
        digest += hash(gram) * ids
    return entries, digest


def _there(connection: sqlite3.Connection) -> tuple[int, int]:
    """What `_indexed` has to be."""
    entries = digest = 0
    for row, folded in connection.execute("select id, folded from blocks"):
        found = grams_in(marked(folded))
        entries += len(found)
        digest += row * sum(map(hash, found))
    return entries, digest


def _first_varint(data: bytes) -> int:
    """SQLite's: seven bits a byte, the highest first; a set top bit means that another byte follows."""
    value = 0
    for byte in data:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return value
