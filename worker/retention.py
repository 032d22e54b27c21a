"""What no longer has to be kept goes: old snapshots, and what their documents leave behind. spec/03 "Retention and rollback".

Every step is one short transaction or one file, can be done again, and looks for itself at what is left to do: killed between any
two steps, the next run goes on. A thing is taken out only after everything that leads to it: snapshot, collection, membership,
version, checkpoint, then vectors and files, which are looked for from the other side.
"""

import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from shared.blobs import Blobs
from shared.catalog import garbage, retention
from shared.catalog.building import abandon_snapshot, orphaned_snapshots
from shared.catalog.conversations import DAY_MS, forget_conversations
from shared.catalog.db import Database
from shared.catalog.garbage import StoredVersion
from shared.catalog.retention import Standing, begin_removal
from shared.catalog.snapshot_leases import Beats, beats, drop_silent
from shared.clock import NowMs
from shared.embeddings.cache import EmbeddingCache
from shared.errors import Conflict, NotFound
from shared.ids import SnapshotId
from shared.vectors.port import Vectors
from worker.stages.embed import Target, block_texts
from worker.sweeps import Sweeps

SILENT_S = 120.0  # a process whose beat stands still for this long, watched from here, is gone
SWEEP_S = 3600.0  # between two looks for what no row speaks of
DAY_S = 24 * 3600.0  # no upload takes longer; a catalog that was put in place by mistake is noticed in a day
_log = logging.getLogger(__name__)


def superfluous(snapshots: Sequence[Standing], *, keep: int) -> list[SnapshotId]:
    """Which snapshots go, oldest first.

    keep: how many of those published last stay, 1.. . A held one stays besides; one that is being built is its import's affair.
    One that failed goes as soon as a later one was published.
    """
    published = sorted(
        (one for one in snapshots if one.state in ("ready", "ready_partial")),
        key=lambda one: (one.published_at_ms or 0, one.snapshot_id),
    )
    newest = published[-1].snapshot_id if published else ""
    old = [*published[:-keep], *(one for one in snapshots if one.state == "failed" and one.snapshot_id < newest)]
    return sorted(one.snapshot_id for one in old if not one.holds)


class Silence:
    """Watches the beats of the processes that have snapshots open. Its own clock is the only one."""

    def __init__(self) -> None:
        self._seen: dict[tuple[SnapshotId, str], tuple[int, float]] = {}  # beat, and when it was first seen

    def observe(self, now: Beats, *, at_s: float) -> Beats:
        """Those that have not beaten for SILENT_S. at_s: monotonic seconds."""
        before = self._seen
        self._seen = {
            lease: before[lease] if lease in before and before[lease][0] == count else (count, at_s)
            for lease, count in now.items()
        }
        return {lease: count for lease, (count, since) in self._seen.items() if at_s - since >= SILENT_S}


class Store(Struct, frozen=True, kw_only=True):
    """What retention works on."""

    db: Database  # the catalog, this thread's own connection
    blobs: Blobs
    cache: EmbeddingCache
    vectors: Vectors
    owns_collections: (
        bool  # False = a server that others may use too: only what this catalog knows as its own is touched
    )
    sweeps: Path  # beside the catalog: says that the two belong together


class Retention:
    """One per worker process. `run` from one thread."""

    def __init__(
        self,
        store: Store,
        *,
        keep: int,
        conversation_days: int,
        embedding_version: str,
        parser_version: str,
        now_ms: NowMs,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._keep = keep
        self._conversation_days = conversation_days
        self._embedding_version = embedding_version
        self._parser_version = parser_version
        self._now_ms = now_ms
        self._monotonic_s = monotonic_s
        self._silence = Silence()
        self._sweeps = Sweeps(store.db, store.sweeps)
        self._swept_at_s: float | None = None
        self._waiting: set[str] = set()  # collections that somebody writes: said once

    def run(self, check: Callable[[], None]) -> None:
        """Remove what may go. Nothing to do costs some queries.

        check: called between any two steps; may raise to stop, e.g. because the process ends.
        Raises: StorageError, UpstreamError (a vector server); whatever is left is done the next time.
        """
        db = self._store.db
        drop_silent(db, self._silence.observe(beats(db), at_s=self._monotonic_s()))
        self._decide(check)
        removed = [snapshot_id for snapshot_id in retention.removing(db) if self._remove(snapshot_id, check)]
        at_s = self._monotonic_s()
        due = self._swept_at_s is None or at_s - self._swept_at_s >= SWEEP_S
        if removed or due:
            self._remove_versions(check)
            self._remove_checkpoints(check)
            self._remove_vectors(check)
            self._sweep(check)
            self._forget_conversations(check)
            self._swept_at_s = at_s

    def _forget_conversations(self, check: Callable[[], None]) -> None:
        """Those in which nothing was asked for so many days."""
        before_ms = self._now_ms() - self._conversation_days * DAY_MS
        while forget_conversations(self._store.db, before_ms=before_ms):
            check()

    def _decide(self, check: Callable[[], None]) -> None:
        for snapshot_id in orphaned_snapshots(self._store.db):
            check()
            abandon_snapshot(self._store.db, snapshot_id, now_ms=self._now_ms())
        for snapshot_id in superfluous(retention.standings(self._store.db), keep=self._keep):
            check()
            try:
                begin_removal(self._store.db, snapshot_id, cause="retention", now_ms=self._now_ms())
            except (Conflict, NotFound) as reason:  # somebody was quicker
                _log.info("snapshot_id=%s stays for now: %s", snapshot_id, reason)

    def _remove(self, snapshot_id: SnapshotId, check: Callable[[], None]) -> bool:
        check()
        if not self._drop(snapshot_id):
            return False
        check()
        while retention.forget_members(self._store.db, snapshot_id, now_ms=self._now_ms()):
            check()
        check()
        retention.finish_removal(self._store.db, snapshot_id)
        _log.info("snapshot_id=%s removed", snapshot_id)
        return True

    def _drop(self, collection: str) -> bool:
        try:
            self._store.vectors.drop(collection)
        except Conflict as reason:  # somebody is writing it
            if collection not in self._waiting:
                _log.warning("collection=%s can't be removed yet: %s", collection, reason)
            self._waiting.add(collection)
            return False
        self._waiting.discard(collection)
        return True

    def _remove_versions(self, check: Callable[[], None]) -> None:
        db = self._store.db
        while garbage.condemn_versions(db, now_ms=self._now_ms()):
            check()
        for version in garbage.leaving_versions(db):
            texts = block_texts(db, _target(version))
            for at in range(0, len(texts), garbage.AT_ONCE):
                check()
                some = texts[at : at + garbage.AT_ONCE]
                garbage.remove_blocks(db, [(text.block_id, text.sha256) for text in some])
            check()
            garbage.remove_version(db, version)

    def _remove_checkpoints(self, check: Callable[[], None]) -> None:
        more = True
        while more:
            check()
            more = garbage.forget_checkpoints(self._store.db, lineage=self._parser_version, now_ms=self._now_ms())

    def _remove_vectors(self, check: Callable[[], None]) -> None:
        """Of removed blocks, unless another block has the same text; and of embedding versions that no snapshot has any more."""
        db, cache = self._store.db, self._store.cache
        if garbage.has_released_vectors(db):
            last = garbage.last_block(db)
            for version in garbage.sharing_text(db):
                garbage.strike_released(db, self._keys_of(version))
            while garbage.remove_released(db, after=last, keys_of=self._keys_of, remove=cache.remove):
                check()
        unused = garbage.unused_embedding_versions(db) & cache.versions() - {self._embedding_version}
        for version in sorted(unused):
            check()
            while cache.forget(version):
                check()

    def _keys_of(self, version: StoredVersion) -> list[str]:
        return [text.sha256 for text in block_texts(self._store.db, _target(version))]

    def _sweep(self, check: Callable[[], None]) -> None:
        """What no row speaks of: collections of a catalog that is gone, uploads that came to nothing, what a kill left behind."""
        store, now_ms = self._store, self._now_ms()
        day_ago_ms = now_ms - round(DAY_S * 1000)
        for snapshot_id in retention.unswept(store.db, before_ms=day_ago_ms):
            check()
            if self._drop(snapshot_id):
                retention.mark_swept(store.db, snapshot_id)
        if not self._sweeps.begin(now_ms=now_ms, known_since_ms=day_ago_ms):
            return
        if store.owns_collections:
            there = {*store.vectors.names(), *store.vectors.unfinished()}  # before the rows: a row comes first
            for name in sorted(there - retention.all_snapshot_ids(store.db)):
                check()
                if self._drop(name):
                    _log.info("collection=%s: removed, the catalog doesn't know it", name)
        referred = garbage.referred_blobs(store.db, now_ms=now_ms)
        unused = [sha256 for sha256 in store.blobs.unused(for_s=DAY_S) if sha256 not in referred]
        referred = garbage.referred_blobs(store.db, now_ms=now_ms) if unused else referred
        for sha256 in unused:
            check()
            if sha256 not in referred:
                store.blobs.remove(sha256, unused_for_s=DAY_S)


def _target(version: StoredVersion) -> Target:
    return Target(doc_id=version.doc_id, version=version.version, title=version.title)
