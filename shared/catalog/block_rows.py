"""The one place where a stored block becomes a Block, for readers and builders alike."""

from collections.abc import Sequence
from typing import Any

import msgspec

from shared.types.documents import Block, BlockFlag

BLOCK = (  # of blocks `b` and their sections `s`
    "b.block_id, b.doc_id, b.version, b.block_index, b.section_ordinal, s.path, b.text, b.table_header, b.page_first,"
    " b.page_last, b.span_start, b.span_end, b.tokens, b.sha256, b.flags"
)
COLUMNS = BLOCK.count(",") + 1
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
