"""Identifiers: what they look like and how they are made.

doc_id        8 characters of base32, from the source and the document's key in it; survives content changes and renames of labels
block_id      "{doc_id}.v{version}#{index}", the only citation key
key_id        "key_" and 8 random characters of base32; the same 8 stand in the key's secret
*_id          prefix + 26 characters of Crockford base32: 48 bits of milliseconds, 80 random bits; sorts by time
"""

import base64
import hashlib
import re
import secrets
from typing import NewType

SourceId = NewType("SourceId", str)
DocId = NewType("DocId", str)
BlockId = NewType("BlockId", str)
SnapshotId = NewType("SnapshotId", str)
ImportId = NewType("ImportId", str)
RunId = NewType("RunId", str)
ConversationId = NewType("ConversationId", str)
KeyId = NewType("KeyId", str)

_CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"
BLOCK_ID_PATTERN = r"[a-z2-7]{8}\.v[1-9][0-9]*#(?:0|[1-9][0-9]*)"
_BLOCK_ID = re.compile(BLOCK_ID_PATTERN)


def new_snapshot_id(now_ms: int) -> SnapshotId:
    return SnapshotId(_sortable("snap", now_ms))


def new_import_id(now_ms: int) -> ImportId:
    return ImportId(_sortable("imp", now_ms))


def new_run_id(now_ms: int) -> RunId:
    return RunId(_sortable("run", now_ms))


def new_conversation_id(now_ms: int) -> ConversationId:
    return ConversationId(_sortable("conv", now_ms))


def source_id(kind: str, root: str) -> SourceId:
    """`root`: absolute folder path, or the label of an upload source."""
    return SourceId(_digest32(f"{kind}\0{root}", 10))


def doc_id(source: SourceId, key: str, *, salt: int = 0) -> DocId:
    """`key`: the document's name inside its source, e.g. a relative path with forward slashes.

    40 bits: two documents may meet; the catalog then asks again with the next `salt`.
    """
    return DocId(_digest32(f"{source}\0{key}\0{salt}", 8))


def block_id(doc: DocId, version: int, index: int) -> BlockId:
    return BlockId(f"{doc}.v{version}#{index}")


def is_block_id(text: str) -> bool:
    return _BLOCK_ID.fullmatch(text) is not None


def _digest32(text: str, length: int) -> str:
    return base64.b32encode(hashlib.sha256(text.encode()).digest()).decode().lower()[:length]


def _sortable(prefix: str, now_ms: int) -> str:
    number = (now_ms << 80) | secrets.randbits(80)
    digits = [_CROCKFORD[(number >> shift) & 31] for shift in range(125, -1, -5)]
    return f"{prefix}_{''.join(digits)}"
