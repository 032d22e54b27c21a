"""What differs between two snapshots, document by document."""

from collections.abc import Sequence

from api.retrieval.seen import check_published, seen_documents
from api.retrieval.snapshots import published_snapshot
from shared.access import Access
from shared.catalog.reading import CatalogReader, Within
from shared.ids import SnapshotId
from shared.types.snapshots import ChangedMember, SnapshotCounts, SnapshotDiff, SnapshotDocument


def snapshot_diff(catalog: CatalogReader, before: SnapshotId, after: SnapshotId, access: Access) -> SnapshotDiff:
    """Blocking. Of what the caller may see in each. Raises: NotFound, CollectionUnavailable for one that failed, StorageError."""
    for one in (before, after):
        check_published(catalog, one, access)
    today = catalog.active()
    sides = [
        seen_documents(catalog.documents(Within(snapshot_id=one, labels=access.labels, today=today)), access)
        for one in (published_snapshot(catalog, before).snapshot_id, published_snapshot(catalog, after).snapshot_id)
    ]
    return compare(before, after, *sides)


def compare(
    before: SnapshotId,
    after: SnapshotId,
    documents_before: Sequence[SnapshotDocument],
    documents_after: Sequence[SnapshotDocument],
) -> SnapshotDiff:
    """Pure. Every document of either side is in exactly one of the four lists or among the unchanged."""
    old = {document.doc_id: document for document in documents_before}
    new = {document.doc_id: document for document in documents_after}
    pairs = [ChangedMember(before=old[doc], after=document) for doc, document in new.items() if doc in old]
    changed = tuple(pair for pair in pairs if pair.before.version != pair.after.version)
    relabelled = tuple(
        pair for pair in pairs if pair.before.version == pair.after.version and pair.before != pair.after
    )
    return SnapshotDiff(
        before=before,
        after=after,
        counts_before=_counts(documents_before),
        counts_after=_counts(documents_after),
        unchanged=len(pairs) - len(changed) - len(relabelled),
        added=tuple(document for doc, document in new.items() if doc not in old),
        removed=tuple(document for doc, document in old.items() if doc not in new),
        changed=changed,
        relabelled=relabelled,
    )


def _counts(documents: Sequence[SnapshotDocument]) -> SnapshotCounts:
    return SnapshotCounts(
        documents=len(documents),
        blocks=sum(document.blocks for document in documents),
        tokens=sum(document.tokens for document in documents),
    )
