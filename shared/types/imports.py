"""Imports: what was asked for, how far it is, what went wrong."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from shared.ids import DocId, ImportId, SnapshotId, SourceId
from shared.types.documents import Trust
from shared.types.snapshots import FailedDocument, Stage

ImportState = Literal["queued", "running", "pausing", "paused", "cancelling", "cancelled", "completed", "failed"]
ImportMode = Literal["add", "sync", "remove", "reindex"]
ItemState = Literal["pending", "parsed", "chunked", "embedded", "indexed", "unchanged", "failed"]


class Upload(Struct, frozen=True, kw_only=True):
    """A file whose bytes already lie in the originals store."""

    name: str  # relative, forward slashes, as the client named it
    sha256: str
    size_bytes: int


class SourceSpec(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the importer may say about the source of its documents; absent = keep or default, an empty list = none."""

    label: str | None = None
    aliases: tuple[str, ...] | UnsetType = UNSET
    trust: Trust | UnsetType = UNSET
    access: tuple[str, ...] | UnsetType = UNSET
    lang_hint: str | UnsetType | None = UNSET  # None = no hint
    tags: tuple[str, ...] | UnsetType = UNSET


class ImportRequest(Struct, frozen=True, kw_only=True):
    mode: ImportMode = "add"
    uploads: tuple[Upload, ...] = ()
    paths: tuple[str, ...] = ()  # absolute files or folders on the server, inside allowed roots
    source: SourceSpec = SourceSpec()
    activate: bool = True


class ImportItem(Struct, frozen=True, kw_only=True):
    """One document of one import."""

    ordinal: int
    source_id: SourceId
    key: str
    state: ItemState
    original_sha256: str | None
    size_bytes: int
    doc_id: DocId | None = None
    version: int | None = None
    blocks: int = 0
    tokens: int = 0
    attempts: int = 0
    failed_stage: Stage | None = None
    failure_code: str | None = None
    failure_reason: str | None = None
    retryable: bool = False


class Progress(Struct, frozen=True, kw_only=True):
    """Counts are of items (documents) unless named otherwise."""

    total: int
    by_state: dict[ItemState, int]
    blocks: int  # chunked so far
    blocks_embedded: int
    tokens: int
    provider_tokens: int  # embedding tokens by the provider's own count; never added to chat tokens
    elapsed_ms: int
    blocks_per_s: float
    remaining_s: float | None  # estimate, for the stage embed; None while nothing can be estimated


class Import(Struct, frozen=True, kw_only=True):
    import_id: ImportId
    state: ImportState
    mode: ImportMode
    stage: Stage | None
    base_snapshot_id: SnapshotId | None
    snapshot_id: SnapshotId | None
    pause_reason: str | None
    failure_code: str | None
    failure_reason: str | None
    created_at_ms: int
    updated_at_ms: int
    finished_at_ms: int | None
    progress: Progress
    failed_documents: tuple[FailedDocument, ...] = ()
