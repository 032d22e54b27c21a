"""Whether a snapshot's documents are, letter by letter, what was published: their rows are read through and hashed.

30 ms per 1,000 blocks: what fits is done while the snapshot is opened, the rest behind it. A version never changes and many
snapshots share it, so each is read once in a process.
"""

import time
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from shared.catalog.reading import CatalogReader
from shared.errors import CollectionUnavailable
from shared.ids import DocId, SnapshotId
from shared.types.snapshots import ManifestDocument, SnapshotManifest

Version: TypeAlias = tuple[DocId, int]


class ChangedDocument(CollectionUnavailable):
    """What is stored of a version is not what was imported."""

    def __init__(self, snapshot_id: SnapshotId, versions: Iterable[Version]) -> None:
        self.versions = tuple(versions)
        names = ", ".join(f"{doc_id} version {version}" for doc_id, version in self.versions[:5])
        super().__init__(
            f"Snapshot {snapshot_id} is not what was published: what is stored of document {names} was changed."
            " Activate a snapshot without it, restore a backup, or make it anew with mode reindex.",
            ids=[snapshot_id, *(doc_id for doc_id, _ in self.versions)],
        )


class Contents:
    """The documents of one snapshot that this process has not read through yet. One caller at a time."""

    def __init__(self, manifest: SnapshotManifest, *, known: set[Version]) -> None:
        """`known`: versions that were found to be right; grows."""
        self._snapshot_id = manifest.snapshot_id
        self._known = known
        self._left: Iterator[ManifestDocument] = iter(manifest.documents)

    def read(self, catalog: CatalogReader, *, for_s: float) -> bool:
        """Blocking. Go on for about that long (a document is read whole); True when nothing is left.

        Raises: ChangedDocument, StorageError.
        """
        until = time.monotonic() + for_s
        for document in self._left:
            version = (document.doc_id, document.version)
            if version in self._known:
                continue
            if not catalog.is_as_imported(*version):
                raise ChangedDocument(self._snapshot_id, [version])
            self._known.add(version)
            if time.monotonic() >= until:
                return False
        return True


def changed_documents(catalog: CatalogReader, manifest: SnapshotManifest) -> list[Version]:
    """Blocking. Reads everything, whatever is known. Raises: StorageError."""
    versions = ((document.doc_id, document.version) for document in manifest.documents)
    return [version for version in versions if not catalog.is_as_imported(*version)]
