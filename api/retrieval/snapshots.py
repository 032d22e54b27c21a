"""Snapshots opened, verified, counted and closed: the cache behind the library."""

import asyncio
import math
import time
from collections import Counter
from collections.abc import Coroutine
from contextlib import suppress

from msgspec import Struct

from api.retrieval.contents import ChangedDocument, Contents, Version
from api.retrieval.notes import Notes
from api.retrieval.threads import Threads
from api.retrieval.verify import check_collection, check_facts, checked_manifest
from shared.catalog.commits import Commits
from shared.catalog.reading import CatalogReader, Within
from shared.errors import CollectionUnavailable, NoSnapshot, NotFound, StorageError
from shared.ids import SnapshotId
from shared.types.snapshots import Snapshot
from shared.vectors.port import Collection, Vectors


class Pace(Struct, frozen=True, kw_only=True):
    """How often what is open is tended to. Seconds."""

    beat: float = 20.0  # well within what the worker takes for silence
    trust: float = 60.0  # after its last beat a lease is believed to stand for this long
    opening: float = 1.0  # of reading contents through while the caller waits
    slice: float = 0.02  # of reading the rest behind it …
    rest: float = 0.1  # … and of leaving the processor to others


class OpenSnapshot:
    """A verified snapshot. `pins`: requests that use it now."""

    def __init__(
        self, snapshot: Snapshot, collection: Collection, contents: Contents, *, languages: frozenset[str]
    ) -> None:
        self.snapshot = snapshot
        self.collection = collection
        self.languages = languages  # of its documents
        self.contents = contents
        self.pins = 0
        self.beaten_at_s = -math.inf  # monotonic; when its lease was last known to stand
        self.fault: CollectionUnavailable | None = None  # found since it was opened


class Snapshots:
    """Opens a snapshot once, however many ask at the same time; closes it when nobody uses it and another one is active.

    As long as it is open, a lease in the catalog keeps it from being removed: one for all runs, off their way.
    """

    def __init__(self, threads: Threads, vectors: Vectors, notes: Notes, commits: Commits, *, pace: Pace) -> None:
        self._pace = pace
        self._threads = threads
        self._commits = commits
        self._last_read: tuple[int | None, SnapshotId | None] = (None, None)  # which was active, as of which commit
        self._vectors = vectors
        self._notes = notes
        self._active: SnapshotId | None = None
        self._waiting: Counter[SnapshotId] = Counter()  # callers between asking and having
        self._opening: dict[SnapshotId, asyncio.Task[OpenSnapshot]] = {}
        self._open: dict[SnapshotId, OpenSnapshot] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._known: set[Version] = set()  # versions that were read through and found right
        self._damaged: dict[SnapshotId, CollectionUnavailable] = {}  # found while they were open
        self._noting = asyncio.Lock()  # a lease that one caller drops must not be the one that another has just taken
        self._beating: asyncio.Task[None] | None = None
        self._reading: set[asyncio.Task[None]] = set()

    async def take(self, snapshot_id: SnapshotId | None) -> tuple[OpenSnapshot, SnapshotId | None]:
        """The snapshot, to be given back with `release`, and which one is active at this time.

        Raises: NoSnapshot, NotFound, CollectionUnavailable, StorageError.
        """
        today = self._active = await self._active_now()
        wanted = today if snapshot_id is None else snapshot_id
        if wanted is None:
            raise NoSnapshot("Nothing has been published yet.")
        self._waiting[wanted] += 1
        try:
            taken = self._open.get(wanted) or await self._opened(wanted)
            if taken.fault is not None:
                raise _again(taken.fault)
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

    async def confirm(self, taken: OpenSnapshot) -> None:
        """After a read: what it found was the snapshot's, and not what is left of one that was removed or damaged.

        Costs nothing while the lease stands; a process that stood still, or can't write the catalog, looks.
        Raises: CollectionUnavailable, StorageError.
        """
        if taken.fault is None and time.monotonic() - taken.beaten_at_s > self._pace.trust:
            snapshot_id = taken.snapshot.snapshot_id
            if not await self._threads.read(lambda catalog: catalog.is_published(snapshot_id)):
                taken.fault = _removed(snapshot_id)
        if taken.fault is not None:
            raise _again(taken.fault)

    def found_damaged(self, fault: ChangedDocument, snapshot_id: SnapshotId) -> None:
        """It doesn't answer any more, here and now."""
        self._damaged[snapshot_id] = fault
        if snapshot_id in self._open:
            self._open[snapshot_id].fault = fault
        self._retire_superseded()

    def found_sound(self, snapshot_id: SnapshotId) -> None:
        """It was examined and may be opened again."""
        self._damaged.pop(snapshot_id, None)

    async def settled(self) -> None:
        """Wait until what nobody uses any more is closed, and its lease given back. Raises: StorageError."""
        self._active = await self._threads.read(lambda catalog: catalog.active())
        self._retire_superseded()
        await self._closed()

    async def close(self) -> None:
        """Even what is still pinned: the process ends."""
        await asyncio.gather(*self._opening.values(), return_exceptions=True)
        tending = [task for task in (self._beating, *self._reading) if task is not None]
        for task in tending:
            task.cancel()
        await asyncio.gather(*tending, return_exceptions=True)
        for snapshot_id in list(self._open):
            self._retire(snapshot_id)
        await self._closed()

    async def _active_now(self) -> SnapshotId | None:
        """As the catalog has it at this moment: as it was read last, when nobody has written to it since."""
        mark = self._commits.mark()  # before it is read: what is committed meanwhile makes the next one look again
        if mark is None or mark != self._last_read[0]:
            self._last_read = (mark, await self._threads.read(self._read_active))
        return self._last_read[1]

    def _read_active(self, catalog: CatalogReader) -> SnapshotId | None:
        self._commits.open()
        return catalog.active()

    async def _opened(self, snapshot_id: SnapshotId) -> OpenSnapshot:
        task = self._opening.get(snapshot_id)
        if task is None:
            task = self._opening[snapshot_id] = asyncio.create_task(self._verify(snapshot_id))
        # A caller that goes away must not stop the opening for the others, nor leave a collection open that nobody knows.
        return await asyncio.shield(task)

    async def _verify(self, snapshot_id: SnapshotId) -> OpenSnapshot:
        try:
            if snapshot_id in self._damaged:
                raise _again(self._damaged[snapshot_id])
            at_s = time.monotonic()
            async with self._noting:
                leased = await self._threads.run(lambda: self._notes.take(snapshot_id))
            try:
                opened, done = await self._open_and_read(snapshot_id)
            except BaseException:
                async with self._noting:
                    await self._threads.run(lambda: self._notes.drop(snapshot_id))
                raise
            opened.beaten_at_s = at_s if leased else -math.inf
            self._open[snapshot_id] = opened
            self._beating = self._beating or asyncio.create_task(self._beat())
            if not done:
                self._behind(self._read_through(opened))
            return opened
        finally:
            del self._opening[snapshot_id]

    async def _open_and_read(self, snapshot_id: SnapshotId) -> tuple[OpenSnapshot, bool]:
        opened = await self._threads.read(
            lambda catalog: _open_verified(catalog, self._vectors, snapshot_id, self._known)
        )
        try:
            return opened, await self._read_on(opened, self._pace.opening)
        except BaseException:
            await self._threads.run(opened.collection.close)
            raise

    async def _read_on(self, opened: OpenSnapshot, for_s: float) -> bool:
        """Read contents through for some time; True when all of them are. Raises: ChangedDocument, StorageError."""
        try:
            return await self._threads.read(lambda catalog: opened.contents.read(catalog, for_s=for_s))
        except ChangedDocument as fault:
            versions = fault.versions
            await self._threads.run(lambda: self._notes.damaged(versions))
            raise

    async def _read_through(self, opened: OpenSnapshot) -> None:
        """What did not fit into the opening, in small slices."""
        snapshot_id = opened.snapshot.snapshot_id
        done = False
        while not done and self._open.get(snapshot_id) is opened:
            await asyncio.sleep(self._pace.rest)
            try:
                done = await self._read_on(opened, self._pace.slice)
            except ChangedDocument as fault:
                self.found_damaged(fault, snapshot_id)
                return
            except StorageError:
                continue  # a read of a run will say so

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self._pace.beat)
            async with self._noting:
                held, at_s = dict(self._open), time.monotonic()
                gone = await self._threads.run(lambda names=tuple(held): self._notes.beat(names))
            if gone is None:
                continue
            with suppress(StorageError):  # then whoever asks next finds out which one is active
                self._active = await self._threads.read(lambda catalog: catalog.active())
            for snapshot_id, opened in held.items():
                if snapshot_id in gone:
                    opened.fault = _removed(snapshot_id)
                else:
                    opened.beaten_at_s = at_s
            self._retire_superseded()

    def _behind(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._reading.add(task)
        task.add_done_callback(self._reading.discard)

    async def _closed(self) -> None:
        await asyncio.gather(*self._closing)

    def _retire_superseded(self) -> None:
        for snapshot_id, one in list(self._open.items()):
            unwanted = snapshot_id != self._active or one.fault is not None
            if one.pins == 0 and not self._waiting[snapshot_id] and unwanted:
                self._retire(snapshot_id)

    def _retire(self, snapshot_id: SnapshotId) -> None:
        closing = asyncio.create_task(self._close(self._open.pop(snapshot_id)))
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    async def _close(self, one: OpenSnapshot) -> None:
        await self._threads.run(one.collection.close)
        snapshot_id = one.snapshot.snapshot_id
        async with self._noting:
            if snapshot_id not in self._open and snapshot_id not in self._opening:
                await self._threads.run(lambda: self._notes.drop(snapshot_id))


def _open_verified(
    catalog: CatalogReader, vectors: Vectors, snapshot_id: SnapshotId, known: set[Version]
) -> OpenSnapshot:
    """Blocking. Source: spec/02 "Storage": a mismatch makes the snapshot unavailable with a reason, never quietly different."""
    snapshot = published_snapshot(catalog, snapshot_id)
    manifest = checked_manifest(snapshot, catalog.manifest_text(snapshot_id))
    check_facts(
        snapshot, manifest, catalog.facts(snapshot_id), membership_sha256=catalog.membership_sha256(snapshot_id)
    )
    languages = catalog.languages(Within(snapshot_id=snapshot_id, labels=None))
    collection = vectors.open(snapshot_id, files=manifest.collection_files)
    try:
        check_collection(snapshot, manifest, collection.count())
    except BaseException:
        collection.close()
        raise
    return OpenSnapshot(snapshot, collection, Contents(manifest, known=known), languages=languages)


def published_snapshot(catalog: CatalogReader, snapshot_id: SnapshotId) -> Snapshot:
    """Blocking. Raises: NotFound, also for one that is being built; CollectionUnavailable for one that failed."""
    snapshot = catalog.snapshot(snapshot_id)
    if snapshot.state == "building":
        raise NotFound("There is no such snapshot.", field="snapshot_id", ids=[snapshot_id])
    if snapshot.state == "failed":
        raise CollectionUnavailable(
            f"Snapshot {snapshot_id} failed while it was built: {snapshot.failure}.", ids=[snapshot_id]
        )
    return snapshot


def _removed(snapshot_id: SnapshotId) -> CollectionUnavailable:
    return CollectionUnavailable(
        f"Snapshot {snapshot_id} was removed while this process stood still. Ask again.", ids=[snapshot_id]
    )


def _again(fault: CollectionUnavailable) -> CollectionUnavailable:
    """The same error for another caller: one exception object must not be raised twice."""
    return CollectionUnavailable(fault.message, ids=fault.ids)
