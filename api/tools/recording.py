"""What is kept of a tool call, so that it can be carried out again and compared. Pure."""

import hashlib

from api.tools.arguments import canonical
from api.tools.contract import SeenBlock, ToolResult
from shared.types.runs import Fingerprint, RecordedCall

MOST_BLOCKS = 1_000  # of one call; a larger listing is compared as a whole


def recorded(turn: int, tool: str, arguments: dict[str, object], result: ToolResult | None) -> RecordedCall:
    """`result` None: cut off. A payload of many MB takes tens of ms to hash: not on the event loop."""
    text = canonical(arguments)
    return RecordedCall(
        turn=turn,
        tool=tool,
        arguments=text,
        arguments_sha256=hashlib.sha256(text.encode()).hexdigest(),
        error_code=None if result is None else result.error_code,
        came_to=None if result is None else fingerprint(result),
    )


def fingerprint(result: ToolResult) -> Fingerprint:
    listed = result.seen if len(result.seen) <= MOST_BLOCKS else ()
    return Fingerprint(
        payload_sha256=hashlib.sha256(result.payload).hexdigest(),
        payload_bytes=len(result.payload),
        blocks=len(result.seen),
        block_ids=tuple(block.block_id for block in listed),
        texts=tuple(text_hash(block) for block in listed),
    )


def text_hash(block: SeenBlock) -> str:
    return seen_hash(block.table_header, block.seen)


def seen_hash(table_header: str, seen: str) -> str:
    """Of what was shown of a block, the repeated header of its table included."""
    return hashlib.sha256(f"{table_header}\n{seen}".encode()).hexdigest()[:16]
