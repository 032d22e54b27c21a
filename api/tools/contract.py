"""What the five tools have in common: what a descriptor, a result and a block that was shown look like."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Any, Generic, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Meta, Struct

from api.retrieval.library import Pinned
from api.retrieval.tally import Tally
from shared.ids import BlockId, DocId
from shared.types.documents import Block, Trust
from shared.types.runs import ToolName
from shared.types.snapshots import SnapshotDocument

A = TypeVar("A", bound=Struct)

TOOL_CONTRACT_VERSION = "1"  # of names, arguments, payloads and descriptions together

EmptyReason = Literal["no_match", "scope_empty", "collection_empty"]
ErrorCode = Literal[
    "invalid_argument",
    "scope_not_found",
    "too_large",
    "collection_unavailable",
    "upstream_unavailable",
    "tool_internal_error",
]

# something that can be read; `doc_ids: … | UnsetType = UNSET` in arguments: absent = not said, null is an error
Text: TypeAlias = Annotated[str, Meta(min_length=1, pattern=r"\S")]
DocIdText: TypeAlias = Annotated[DocId, Meta(min_length=1, pattern=r"\S")]


class Descriptor(Struct, frozen=True, kw_only=True):
    """What a model is told about a tool: when to use it, when not to, what the result proves."""

    name: ToolName
    description: dict[str, str]  # "en" and "zh"
    schema: dict[str, Any]  # JSON schema of the arguments


class SeenBlock(Struct, frozen=True, kw_only=True, gc=False):
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
    table_header: str = ""  # shown above it, and no part of it
    span_start: int
    span_end: int
    rank: int  # 1.. in the payload


class ToolResult(Struct, frozen=True, kw_only=True):
    """One logical call, its automatic retry included."""

    payload: bytes  # canonical JSON of the business payload, or {"error": …}
    seen: tuple[SeenBlock, ...] = ()  # in payload order
    error_code: ErrorCode | None = None
    retryable: bool = False
    embedding_tokens: int = 0  # of all attempts
    rerank_tokens: int = 0
    empty_reason: EmptyReason | None = None


class ToolError(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`payload.error`."""

    code: ErrorCode
    message: str
    field: str | None = None
    missing: tuple[str, ...] = ()  # ids or section paths
    retryable: bool | None = None  # told for upstream_unavailable only


class Call(Struct, frozen=True, kw_only=True):
    """Where a tool runs: never told by the model."""

    pinned: Pinned
    scope: frozenset[DocId] | None  # of the run; None = no restriction
    tally: Tally  # of what the call buys
    most_bytes: int  # of a payload


class Reply(Struct, frozen=True, kw_only=True):
    """What a tool found."""

    payload: bytes  # canonical JSON
    seen: tuple[SeenBlock, ...] = ()
    empty_reason: EmptyReason | None = None


class Tool(Struct, Generic[A], frozen=True, kw_only=True):
    """`run` raises: InvalidArgument, ScopeNotFound, TooLarge, CollectionUnavailable, UpstreamError, StorageError."""

    descriptor: Descriptor
    arguments: type[A]
    run: Callable[[A, Call], Awaitable[Reply]]


def describe(name: ToolName, arguments: type[Struct], *, en: str, zh: str) -> Descriptor:
    _, components = msgspec.json.schema_components([arguments])
    return Descriptor(name=name, description={"en": en, "zh": zh}, schema=components[arguments.__name__])


def seen_block(
    block: Block, document: SnapshotDocument, *, rank: int, snippet: tuple[int, int] | None = None
) -> SeenBlock:
    """`snippet`: the span of the block's text that was shown; None = all of it."""
    first, last = snippet or (0, len(block.text))
    return SeenBlock(
        block_id=block.block_id,
        doc_id=block.doc_id,
        version=block.version,
        title=document.title,
        source_label=document.source_label,
        section_path=block.section_path,
        page_first=block.page_first,
        page_last=block.page_last,
        trust=document.trust,
        updated_at_ms=document.updated_at_ms,
        extent="block" if snippet is None else "snippet",
        seen=block.text[first:last],
        table_header=block.table_header if snippet is None else "",
        span_start=block.span_start + first,
        span_end=block.span_start + last,
        rank=rank,
    )


@lru_cache(maxsize=1_024)  # a scan shows thousands of blocks of few documents
def iso_time(at_ms: int) -> str:
    """UTC with seconds, as shown to a model."""
    return datetime.fromtimestamp(at_ms // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
