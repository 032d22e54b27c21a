"""A block's id in the engines, which take only numbers and UUIDs.

The UUID is the block id itself, packed: 8 bytes of doc_id, 4 of index, 4 of version. So ids sort as hits do (doc_id, index), and a search
needs no payload: fetching one for every hit made a search with many equal scores four times as slow.
"""

import struct
import uuid

from shared.ids import BlockId, DocId, block_id

_DOC_BYTES = 8
_LAYOUT = struct.Struct(f">{_DOC_BYTES}sII")


def pack(block: BlockId) -> uuid.UUID:
    """Raises: ValueError for what is no block id (see shared.ids)."""
    doc, _, rest = block.partition(".v")
    version, _, index = rest.partition("#")
    name = doc.encode("ascii")
    if not 0 < len(name) <= _DOC_BYTES:
        raise ValueError(f"not a block id: {block!r}")
    return uuid.UUID(
        bytes=name.ljust(_DOC_BYTES, b"\0") + int(index).to_bytes(4, "big") + int(version).to_bytes(4, "big")
    )


def unpack(packed: uuid.UUID) -> tuple[BlockId, DocId, int]:
    """block_id, doc_id, index."""
    name, index, version = _LAYOUT.unpack(packed.bytes)
    doc = DocId(name.rstrip(b"\0").decode("ascii"))
    return block_id(doc, version, index), doc, index
