"""A document version that no snapshot holds any more: who may still be told what was quoted of it."""

from msgspec import Struct

from shared.access import Access
from shared.catalog.reading import CatalogReader, Within
from shared.ids import DocId, SnapshotId


class Gone(Struct, frozen=True, kw_only=True):
    snapshot_removed_at_ms: int | None  # None = not known here
    active_version: int | None  # of the document today, if it is there


def gone(catalog: CatalogReader, doc_id: DocId, version: int, *, read_from: SnapshotId, access: Access) -> Gone | None:
    """Blocking. None = it is not gone, or the caller may not be told of it.

    read_from: the snapshot in which it was quoted. The labels that are known last for the document have to do, and today's if it is
    in the active snapshot; where the former are not known, only the owner is told. Raises: StorageError.
    """
    if catalog.snapshots_of(doc_id, version):
        return None
    labels = catalog.last_labels(doc_id)
    if access.labels is not None and (labels is None or (labels and access.labels.isdisjoint(labels))):
        return None
    active = catalog.active()
    today = None
    if active is not None:
        everyone, caller = (
            catalog.documents_by_id(Within(snapshot_id=active, labels=one), [doc_id]) for one in (None, access.labels)
        )
        if doc_id in everyone and doc_id not in caller:
            return None
        today = caller.get(doc_id)
    return Gone(
        snapshot_removed_at_ms=catalog.removed_at_ms(read_from), active_version=None if today is None else today.version
    )
