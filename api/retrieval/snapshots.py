"""Snapshots opened, verified, counted and closed: the cache behind the library."""

import asyncio
from collections import Counter

from api.retrieval.threads import Threads
from api.retrieval.verify import check_collection, check_facts, checked_manifest
from shared.catalog.reading import CatalogReader
from shared.errors import CollectionUnavailable, NoSnapshot, NotFound
from shared.ids import SnapshotId
from shared.types.snapshots import Snapshot
from shared.vectors.port import Collection, Vectors


class OpenSnapshot:
    """A verified snapshot. `pins`: requests that use it now."""

    def __init__(self, snapshot: Snapshot, collection: Collection) -> None:
        self.snapshot = snapshot
        self.collection = collection
        self.pins = 0


class Snapshots:
    """Opens a snapshot once, however many ask at the same time; closes it when nobody uses it and another one is active."""

    def __init__(self, threads: Threads, vectors: Vectors) -> None:
        self._threads = threads
        self._vectors = vectors
        self._active: SnapshotId | None = None
        self._waiting: Counter[SnapshotId] = Counter()  # callers between asking and having
        self._opening: dict[SnapshotId, asyncio.Task[OpenSnapshot]] = {}
        self._open: dict[SnapshotId, OpenSnapshot] = {}
        self._closing: set[asyncio.Task[None]] = set()

    async def take(self, snapshot_id: SnapshotId | None) -> tuple[OpenSnapshot, SnapshotId | None]:
        """The snapshot, to be given back with `release`, and which one is active at this time.

        Raises: NoSnapshot, NotFound, CollectionUnavailable, StorageError.
        """
        today = self._active = await self._threads.read(lambda catalog: catalog.active())
        wanted = snapshot_id or today
        if wanted is None:
            raise NoSnapshot("Nothing has been published yet. Import documents first: `citebound import PATH`.")
        self._waiting[wanted] += 1
        try:
            taken = self._open.get(wanted) or await self._opened(wanted)
            taken.pins += 1  # nothing is awaited after this: a cancelled caller holds no pin
        finally:
            self._waiting[wanted] -= 1
            if not self._waiting[wanted]:
                del self._waiting[wanted]
        self._retire_superseded()
        return taken, today

    def release(self, taken: OpenSnapshot) -> None:
        taken.pins -= 1
        self._retire_superseded()

    async def close(self) -> None:
        """Even what is still pinned: the process ends."""
        await asyncio.gather(*self._opening.values(), return_exceptions=True)
        for snapshot_id in list(self._open):
            self._retire(snapshot_id)
        await asyncio.gather(*self._closing)

    async def _opened(self, snapshot_id: SnapshotId) -> OpenSnapshot:
        task = self._opening.get(snapshot_id)
        if task is None:
            task = self._opening[snapshot_id] = asyncio.create_task(self._verify(snapshot_id))
        # A caller that goes away must not stop the opening for the others, nor leave a collection open that nobody knows.
        return await asyncio.shield(task)

    async def _verify(self, snapshot_id: SnapshotId) -> OpenSnapshot:
        try:
            opened = await self._threads.read(lambda catalog: _open_verified(catalog, self._vectors, snapshot_id))
            self._open[snapshot_id] = opened
            return opened
        finally:
            del self._opening[snapshot_id]

    def _retire_superseded(self) -> None:
        for snapshot_id, one in list(self._open.items()):
            if one.pins == 0 and not self._waiting[snapshot_id] and snapshot_id != self._active:
                self._retire(snapshot_id)

    def _retire(self, snapshot_id: SnapshotId) -> None:
        closing = asyncio.create_task(self._threads.run(self._open.pop(snapshot_id).collection.close))
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)


def _open_verified(catalog: CatalogReader, vectors: Vectors, snapshot_id: SnapshotId) -> OpenSnapshot:
    """Blocking. Source: spec/02 "Storage": a mismatch makes the snapshot unavailable with a reason, never quietly different."""
    snapshot = catalog.snapshot(snapshot_id)
    if snapshot.state == "building":
        raise NotFound("There is no such snapshot.", field="snapshot_id", ids=[snapshot_id])
    if snapshot.state == "failed":
        raise CollectionUnavailable(
            f"Snapshot {snapshot_id} failed while it was built: {snapshot.failure}. Import again.", ids=[snapshot_id]
        )
    manifest = checked_manifest(snapshot, catalog.manifest_text(snapshot_id))
    check_facts(snapshot, manifest, catalog.facts(snapshot_id))
    collection = vectors.open(snapshot_id, files=manifest.collection_files)
    try:
        check_collection(snapshot, manifest, collection.count())
    except BaseException:
        collection.close()
        raise
    return OpenSnapshot(snapshot, collection)
