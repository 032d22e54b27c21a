"""Snapshots and the documents in them as a caller may see them: as if what he may not see were not there."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager

from msgspec import structs

from shared.access import Access, shown_labels
from shared.catalog.reading import CatalogReader, Within
from shared.errors import CollectionUnavailable, NotFound
from shared.ids import SnapshotId
from shared.types.snapshots import Snapshot, SnapshotDocument


def seen_snapshots(catalog: CatalogReader, access: Access) -> list[Snapshot]:
    """Blocking. The newest first; those that were never published for callers without limits only. Raises: StorageError."""
    found = catalog.snapshots()
    if access.labels is None:
        return found
    today = catalog.active()
    return [_as_seen(catalog, one, access, today) for one in found if one.published_at_ms is not None]


def seen_snapshot(catalog: CatalogReader, snapshot_id: SnapshotId, access: Access) -> Snapshot:
    """Blocking. Raises: NotFound, StorageError."""
    if access.labels is None:
        return catalog.snapshot(snapshot_id)
    check_published(catalog, snapshot_id, access)
    return _as_seen(catalog, catalog.snapshot(snapshot_id), access, catalog.active())


def check_published(catalog: CatalogReader, snapshot_id: SnapshotId, access: Access) -> None:
    """Blocking. For a caller with limits one that failed, or is being built, is not there: its reasons name documents.

    Raises: NotFound, StorageError.
    """
    if access.labels is not None and not catalog.is_published(snapshot_id):
        raise NotFound("There is no such snapshot.", field="snapshot_id", ids=[snapshot_id])


def seen_document(document: SnapshotDocument, access: Access) -> SnapshotDocument:
    """With those of its labels that the caller holds."""
    return structs.replace(document, access=shown_labels(document.access, access))


def seen_documents(documents: Iterable[SnapshotDocument], access: Access) -> list[SnapshotDocument]:
    return [seen_document(document, access) for document in documents]


@contextmanager
def faults_for(access: Access) -> Generator[None]:
    """A fault that names documents says so to callers without limits only. Raises: CollectionUnavailable."""
    try:
        yield
    except CollectionUnavailable as fault:
        snapshots = [one for one in fault.ids if one.startswith("snap_")]
        if access.labels is None or len(snapshots) == len(fault.ids):
            raise
        raise CollectionUnavailable(
            "What is stored of this snapshot is not what was published. Tell whoever runs this server.", ids=snapshots
        ) from None


def _as_seen(catalog: CatalogReader, snapshot: Snapshot, access: Access, today: SnapshotId | None) -> Snapshot:
    """That it is partial stays said, as every answer from it says; what is missing has no labels, so it is not told."""
    within = Within(snapshot_id=snapshot.snapshot_id, labels=access.labels, today=today)
    documents, blocks = catalog.counts(within)
    return structs.replace(snapshot, documents=documents, blocks=blocks, failed_documents=(), failure=None)
