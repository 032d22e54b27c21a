"""The file that a version of a document was made of: which one is meant, and who may have it."""

from collections.abc import Sequence

from msgspec import Struct

from api.retrieval.seen import check_published
from api.retrieval.snapshots import published_snapshot
from shared.access import Access
from shared.catalog.reading import CatalogReader, Within
from shared.errors import NoSnapshot, NotFound
from shared.ids import DocId, SnapshotId
from shared.types.snapshots import SnapshotDocument


class Original(Struct, frozen=True, kw_only=True):
    document: SnapshotDocument  # as the snapshot knows it that shows this version
    sha256: str


def original(
    catalog: CatalogReader, doc_id: DocId, *, version: int | None, snapshot_id: SnapshotId | None, access: Access
) -> Original:
    """Blocking. `version` None: the one in `snapshot_id`, None = in the active snapshot.

    A version without a snapshot is looked for in all that are published, the active one first, then the newest. Labels have to do there
    and, if the document is in the active snapshot, in that one too.
    Raises: NotFound, the same for what is not there and for what the caller may not see; NoSnapshot, CollectionUnavailable, StorageError.
    """
    active = catalog.active()
    if snapshot_id is not None:
        check_published(catalog, snapshot_id, access)
        holders: Sequence[SnapshotId] = [published_snapshot(catalog, snapshot_id).snapshot_id]
    elif version is not None:
        holders = sorted(catalog.snapshots_of(doc_id, version), key=lambda one: one != active)
    elif active is not None:
        holders = [active]
    else:
        raise NoSnapshot("Nothing has been published yet.")
    for holder in holders[:1]:
        within = Within(snapshot_id=holder, labels=access.labels, today=active)
        document = catalog.documents_by_id(within, [doc_id]).get(doc_id)
        if document is not None and version in (None, document.version):
            return Original(document=document, sha256=catalog.original_sha256(doc_id, document.version))
    what = "document" if version is None else f"version {version} of a document"
    raise NotFound(f"No snapshot that is kept and meant here holds such a {what}.", field="doc_id", ids=[doc_id])
