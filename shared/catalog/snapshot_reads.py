"""What is known of snapshots themselves, and of all that one is made of."""

from msgspec import Struct

from shared.catalog.documents import is_as_imported
from shared.catalog.reads import PUBLISHED, Reads, reading
from shared.catalog.snapshots import (
    active_snapshot_id,
    get_snapshot,
    list_snapshots,
    membership_sha256,
    removed_at_ms,
)
from shared.ids import BlockId, DocId, SnapshotId
from shared.types.snapshots import Snapshot


class DocumentFacts(Struct, frozen=True, kw_only=True):
    """A member as recorded and as counted, to be compared with the manifest."""

    doc_id: DocId
    version: int
    artifact_sha256: str  # of the membership row
    version_artifact_sha256: str | None  # of the document version; None = no such version
    sections: int  # rows there are
    blocks: int


class SnapshotReads(Reads):
    """Without regard to access: whoever asks decides who is told."""

    def active(self) -> SnapshotId | None:
        with reading():
            return active_snapshot_id(self.db)

    def snapshot(self, snapshot_id: SnapshotId) -> Snapshot:
        """Raises: NotFound."""
        with reading():
            return get_snapshot(self.db, snapshot_id)

    def snapshots(self) -> list[Snapshot]:
        """The newest first, those under construction included."""
        with reading():
            return list_snapshots(self.db)

    def manifest_text(self, snapshot_id: SnapshotId) -> str | None:
        """As stored, for hashing; None = never sealed."""
        row = self.row("select manifest from snapshots where snapshot_id = ?", (snapshot_id,))
        return None if row is None else row[0]

    def facts(self, snapshot_id: SnapshotId) -> list[DocumentFacts]:
        """By doc_id."""
        rows = self.rows(
            "select d.doc_id, d.version, d.artifact_sha256, v.artifact_sha256,"
            " (select count(*) from sections s where s.doc_id = d.doc_id and s.version = d.version),"
            " (select count(*) from blocks b where b.doc_id = d.doc_id and b.version = d.version)"
            " from snapshot_documents d left join document_versions v on v.doc_id = d.doc_id and v.version = d.version"
            " where d.snapshot_id = ? order by d.doc_id",
            (snapshot_id,),
        )
        return [
            DocumentFacts(
                doc_id=row[0],
                version=row[1],
                artifact_sha256=row[2],
                version_artifact_sha256=row[3],
                sections=row[4],
                blocks=row[5],
            )
            for row in rows
        ]

    def is_published(self, snapshot_id: SnapshotId) -> bool:
        """Whether it is there for readers, now."""
        sql = f"select 1 from snapshots where snapshot_id = ? and state in {PUBLISHED}"
        return self.row(sql, (snapshot_id,)) is not None

    def removed_at_ms(self, snapshot_id: SnapshotId) -> int | None:
        """When a published snapshot was removed; None = it is there, or never was."""
        with reading():
            return removed_at_ms(self.db, snapshot_id)

    def membership_sha256(self, snapshot_id: SnapshotId) -> str:
        """As the manifest states it."""
        with reading():
            return membership_sha256(self.db, snapshot_id)

    def is_as_imported(self, doc_id: DocId, version: int) -> bool:
        """Whether the sections and blocks of a version are still those of its artifact hash."""
        with reading():
            return is_as_imported(self.db, doc_id, version)

    def block_ids(self, snapshot_id: SnapshotId) -> set[BlockId]:
        """Of every block that the members have."""
        return {
            BlockId(row[0])
            for row in self.rows(
                "select b.block_id from snapshot_documents d cross join blocks b"
                " on b.doc_id = d.doc_id and b.version = d.version where d.snapshot_id = ?",
                (snapshot_id,),
            )
        }

    def originals(self, snapshot_id: SnapshotId) -> set[str]:
        """SHA-256 of what the members were made of."""
        return {
            row[0]
            for row in self.rows(
                "select v.original_sha256 from snapshot_documents d join document_versions v"
                " on v.doc_id = d.doc_id and v.version = d.version where d.snapshot_id = ?",
                (snapshot_id,),
            )
        }
