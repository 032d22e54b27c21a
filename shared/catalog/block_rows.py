"""The one place where a stored block becomes a Block, for readers and builders alike."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from shared.types.documents import Block, BlockFlag

# each field of a Block, of blocks `b` and their sections `s`
COLUMNS: Final = {
    "block_id": "b.block_id",
    "doc_id": "b.doc_id",
    "version": "b.version",
    "index": "b.block_index",
    "section_ordinal": "b.section_ordinal",
    "section_path": "s.path",
    "text": "b.text",
    "table_header": "b.table_header",
    "page_first": "b.page_first",
    "page_last": "b.page_last",
    "span_start": "b.span_start",
    "span_end": "b.span_end",
    "tokens": "b.tokens",
    "sha256": "b.sha256",
    "flags": "b.flags",  # JSON array
}
BLOCK = ", ".join(COLUMNS.values())
_FLAGS = msgspec.json.Decoder(tuple[BlockFlag, ...])


def to_block(row: Sequence[Any]) -> Block:
    """`row`: begins with the columns of BLOCK; types are the schema's and not looked at. Raises: msgspec.DecodeError, flags damaged."""
    return Block(
        block_id=row[0],
        doc_id=row[1],
        version=row[2],
        index=row[3],
        section_ordinal=row[4],
        section_path=row[5],
        text=row[6],
        table_header=row[7],
        page_first=row[8],
        page_last=row[9],
        span_start=row[10],
        span_end=row[11],
        tokens=row[12],
        sha256=row[13],
        flags=_FLAGS.decode(row[14]),
    )
