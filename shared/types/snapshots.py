"""Snapshots: an immutable membership list, a sealed collection, and a manifest of verifiable facts."""

from typing import Literal

from msgspec import Struct

from shared.ids import DocId, ImportId, SnapshotId, SourceId
from shared.types.documents import Trust

SnapshotState = Literal["building", "ready", "ready_partial", "failed"]
Stage = Literal["discover", "parse", "chunk", "embed", "index", "seal", "publish"]


class FailedDocument(Struct, frozen=True, kw_only=True):
    source_label: str
    key: str  # name inside its source
    stage: Stage
    code: str
    reason: str
    attempts: int
    retryable: bool


class SnapshotDocument(Struct, frozen=True, kw_only=True):
    """A document as a snapshot knows it: labels as they were when it was published."""

    doc_id: DocId
    version: int
    title: str
    source_id: SourceId
    source_label: str
    key: str
    aliases: tuple[str, ...]
    lang: str
    trust: Trust
    access: tuple[str, ...]
    tags: tuple[str, ...]
    media_type: str
    updated_at_ms: int
    sections: int
    blocks: int
    tokens: int
    artifact_sha256: str


class ManifestDocument(Struct, frozen=True, kw_only=True):
    doc_id: DocId
    version: int
    artifact_sha256: str
    sections: int
    blocks: int


class SnapshotManifest(Struct, frozen=True, kw_only=True):
    """Facts that are checked before publishing and again when the snapshot is opened."""

    format: Literal[1] = 1
    snapshot_id: SnapshotId
    base_snapshot_id: SnapshotId | None
    documents: tuple[ManifestDocument, ...]  # by doc_id
    failed: int
    sections: int
    blocks: int
    embedding_version: str
    dimensions: int
    keyword_version: str
    chunker_version: str
    index: str  # adapter and parameters, e.g. "qdrant-edge m=0 f32"
    collection_files: dict[
        str, str
    ]  # relative path -> sha256 of the sealed files that never change; {} for a server collection
    build_ms: dict[str, int]
    membership_sha256: str = (
        ""  # over all that the catalog says of its documents and gaps; "" = published before this was stated
    )


class Snapshot(Struct, frozen=True, kw_only=True):
    snapshot_id: SnapshotId
    state: SnapshotState
    import_id: ImportId
    base_snapshot_id: SnapshotId | None
    created_at_ms: int
    published_at_ms: int | None
    documents: int
    blocks: int
    embedding_version: str
    dimensions: int
    keyword_version: str
    manifest_sha256: str | None
    failure: str | None
    pinned: bool = False  # stays, because a person said so
    frozen: bool = False  # stays, because an evaluation refers to it
    failed_documents: tuple[FailedDocument, ...] = ()


class ChangedMember(Struct, frozen=True, kw_only=True):
    """A document that two snapshots hold, but not alike."""

    before: SnapshotDocument
    after: SnapshotDocument


class SnapshotCounts(Struct, frozen=True, kw_only=True):
    documents: int
    blocks: int
    tokens: int


class SnapshotDiff(Struct, frozen=True, kw_only=True):
    """From one snapshot to another. Documents by source label, title, doc_id."""

    before: SnapshotId
    after: SnapshotId
    counts_before: SnapshotCounts
    counts_after: SnapshotCounts
    unchanged: int  # documents
    added: tuple[SnapshotDocument, ...]
    removed: tuple[SnapshotDocument, ...]
    changed: tuple[ChangedMember, ...]  # another version
    relabelled: tuple[ChangedMember, ...]  # the same version under other labels, tags, trust, access or aliases


CheckName = Literal["manifest", "facts", "contents", "collection", "blocks", "scan_index", "originals", "search"]


class SnapshotCheck(Struct, frozen=True, kw_only=True):
    """broken: it can't answer. note: it answers, but something beside it is amiss. skipped: another check has to pass first."""

    name: CheckName
    state: Literal["ok", "note", "broken", "skipped"]
    detail: str


class Verification(Struct, frozen=True, kw_only=True):
    """What came of examining a snapshot."""

    snapshot_id: SnapshotId
    sound: bool  # no check is broken
    checks: tuple[SnapshotCheck, ...]
