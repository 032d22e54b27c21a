"""Which blocks may hold a literal string: by the index of grams, narrowed to documents that a caller may see, in their order.

What comes from here is a superset of what is looked for: whoever reads the blocks looks at their text.
"""

import sqlite3
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Struct

from shared.text.grams import beginning, grams

Ids = npt.NDArray[np.int64]
_decoder = msgspec.json.Decoder(list[int])


def candidates(connection: sqlite3.Connection, folded_term: str) -> Ids | None:
    """Rows in `blocks`, of all snapshots, ascending; None = the term is too short for the index."""
    wanted = [_quoted(gram) for gram in grams(folded_term)]
    if wanted:
        return _matching(connection, " AND ".join(wanted))
    if (start := beginning(folded_term)) is None:
        return None
    found = connection.execute(
        "select term from scan_grams where term >= :first and term <= :first || char(0x10ffff)", {"first": start}
    )
    any_of = [_quoted(gram) for (gram,) in found]
    return _matching(connection, " OR ".join(any_of)) if any_of else np.empty(0, np.int64)


class Places(Struct, frozen=True, kw_only=True):
    """Where the rows of some documents' blocks lie. One entry for each version that has blocks."""

    starts: Ids  # ascending
    ends: Ids
    order: Ids  # the document's place by doc_id


def places(connection: sqlite3.Connection, *, where: str, parameters: Mapping[str, Any]) -> Places:
    """Of the documents `d` for which `where` holds.

    A version's blocks are stored by one statement under the write lock: their ids follow one another in document order.
    """
    [(stored,)] = connection.execute(
        "select json_group_array(json_array(id, blocks)) from (select b.id, d.blocks from snapshot_documents d"
        " cross join blocks b on b.doc_id = d.doc_id and b.version = d.version and b.block_index = 0"
        f" where {where} order by d.doc_id)",
        parameters,
    )
    ranges = np.array(msgspec.json.decode(stored, type=list[tuple[int, int]]), np.int64).reshape(-1, 2)
    by_start = np.argsort(ranges[:, 0])
    return Places(starts=ranges[by_start, 0], ends=ranges[by_start].sum(axis=1), order=by_start)


def in_order(places: Places, ids: Ids) -> Ids:
    """Those that lie there, by doc_id and block index."""
    if not len(places.starts):
        return np.empty(0, np.int64)
    at = np.searchsorted(places.starts, ids, side="right") - 1
    inside = (at >= 0) & (ids < places.ends[at])
    kept, document = ids[inside], places.order[at[inside]]
    return kept[np.lexsort((kept, document))]


def _matching(connection: sqlite3.Connection, expression: str) -> Ids:
    [(found,)] = connection.execute(
        "select json_group_array(rowid) from scan_index where scan_index match ?", (expression,)
    )
    return np.array(_decoder.decode(found), np.int64)


def _quoted(gram: str) -> str:
    return '"' + gram.replace('"', '""') + '"'
