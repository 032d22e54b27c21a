"""What the five tools have in common: what a descriptor, a result and a block that was shown look like."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct

from shared.ids import BlockId, DocId
from shared.types.documents import Trust
from shared.types.runs import ToolName

TOOL_CONTRACT_VERSION = "1"  # of names, arguments, payloads and descriptions together

EmptyReason = Literal["no_match", "scope_empty", "collection_empty"]
ErrorCode = Literal[
    "invalid_argument", "scope_not_found", "collection_unavailable", "upstream_unavailable", "tool_internal_error"
]
Text: TypeAlias = Annotated[str, Meta(min_length=1, pattern=r"\S")]  # something to read in it


class Descriptor(Struct, frozen=True, kw_only=True):
    """What a model is told about a tool: when to use it, when not to, what the result proves."""

    name: ToolName
    description: dict[str, str]  # "en" and "zh"
    schema: dict[str, Any]  # JSON schema of the arguments


class SeenBlock(Struct, frozen=True, kw_only=True):
    """A block that a payload shows, with everything the evidence ledger wants to know of it.

    `seen` is verbatim text of the block: the document's canonical text from span_start to span_end (code points).
    """

    block_id: BlockId
    doc_id: DocId
    version: int
    title: str
    source_label: str
    section_path: str
    page_first: int | None
    page_last: int | None
    trust: Trust
    updated_at_ms: int
    extent: Literal["block", "snippet"]
    seen: str
    span_start: int
    span_end: int
    rank: int  # 1.. in the payload


class ToolResult(Struct, frozen=True, kw_only=True):
    """One logical call, its automatic retry included."""

    payload: bytes  # canonical JSON of the business payload, or {"error": …}
    seen: tuple[SeenBlock, ...] = ()  # in payload order
    error_code: ErrorCode | None = None
    retryable: bool = False
    embedding_tokens: int = 0
    empty_reason: EmptyReason | None = None


class ToolError(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`payload.error`."""

    code: ErrorCode
    message: str
    field: str | None = None
    missing: tuple[str, ...] = ()  # ids or section paths
    retryable: bool | None = None  # told for upstream_unavailable only


def iso_time(at_ms: int) -> str:
    """UTC with seconds, as shown to a model."""
    return datetime.fromtimestamp(at_ms // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
