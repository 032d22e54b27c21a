"""Published snapshots, verified when first opened and pinned while in use."""

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self, TypeVar

from msgspec import structs

from api.retrieval.blocks import NEIGHBOURS, BlockView, block_view
from api.retrieval.contents import ChangedDocument
from api.retrieval.diff import snapshot_diff
from api.retrieval.examine import examine
from api.retrieval.fusion import Fused
from api.retrieval.gone import Gone, gone
from api.retrieval.hybrid import check_versions, hybrid_search
from api.retrieval.notes import Notes
from api.retrieval.originals import Original, original
from api.retrieval.profiles import Preference, Reranking, SearchProfile
from api.retrieval.refine import Material, read_material, refine
from api.retrieval.scope import resolve
from api.retrieval.seen import check_published, faults_for, seen_document, seen_snapshot, seen_snapshots
from api.retrieval.snapshots import OpenSnapshot, Pace, Snapshots
from api.retrieval.tally import Tally
from api.retrieval.threads import Threads
from shared.access import Access
from shared.blobs import Blobs
from shared.catalog.commits import Commits
from shared.catalog.reading import CatalogReader, Within
from shared.embeddings.port import Embedder
from shared.ids import DocId, SnapshotId
from shared.layout import Layout
from shared.rerank.port import Reranker
from shared.settings import ApiSettings
from shared.types.runs import Citation, Scope
from shared.types.snapshots import Snapshot, SnapshotDiff, Verification
from shared.vectors.port import Filter, Vectors

T = TypeVar("T")


class Pinned:
    """One snapshot, one caller's access to it and one way of searching it, held open until the end of the `async with`."""

    def __init__(
        self,
        opened: OpenSnapshot,
        access: Access,
        *,
        today: SnapshotId | None,
        profile: SearchProfile,
        embedder: Embedder,
        reranker: Reranker | None,
        threads: Threads,
        snapshots: Snapshots,
        most_result_bytes: int,
    ) -> None:
        self.access = access
        self.profile = profile
        self.most_result_bytes = most_result_bytes  # of one tool's payload
        self._opened = opened
        self._today = today  # active when it was pinned; one answer for as long as it is held
        self._embedder = embedder
        self._reranker = reranker
        self._threads = threads
        self._snapshots = snapshots
        self._released = False
        self._seen_languages: frozenset[str] | None = None

    @property
    def snapshot(self) -> Snapshot:
        return self._opened.snapshot

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def release(self) -> None:
        """Once is enough, more does no harm."""
        if not self._released:
            self._released = True
            self._snapshots.release(self._opened)

    def within(self, doc_ids: frozenset[DocId] | None = None) -> Within:
        """What the caller may see of this snapshot, inside a scope."""
        return Within(
            snapshot_id=self.snapshot.snapshot_id, labels=self.access.labels, today=self._today, doc_ids=doc_ids
        )

    async def read(self, query: Callable[[CatalogReader], T]) -> T:
        """Run catalog queries off the event loop; give them `within(...)`. Raises: StorageError, CollectionUnavailable."""
        with faults_for(self.access):
            try:
                return await self._threads.read(query)
            finally:  # nothing was found, or something was missing, because it is not the snapshot any more? Then say that
                await self._snapshots.confirm(self._opened)

    async def search(self, query: str, *, doc_ids: frozenset[DocId] | None = None, tally: Tally) -> tuple[Fused, ...]:
        """Hybrid search under the caller's access, by this pin's profile; `doc_ids` already checked.

        Raises: CollectionUnavailable, UpstreamError.
        """
        without, languages = frozenset[DocId](), self._opened.languages
        if self.access.labels is not None:
            without, languages = await self.read(self._seen)
        if doc_ids is not None:
            doc_ids, without = doc_ids - without, frozenset[DocId]()
        within = self.within(doc_ids)

        async def material(candidates: Sequence[Fused]) -> Material:
            return await self.read(lambda catalog: read_material(catalog, within, candidates))

        return await hybrid_search(
            query,
            within=Filter(
                doc_ids=None if doc_ids is None else tuple(sorted(doc_ids)),
                access=self.access.labels,
                without=tuple(sorted(without)),
            ),
            snapshot=self.snapshot,
            collection=self._opened.collection,
            languages=languages,
            embedder=self._embedder,
            threads=self._threads,
            profile=self.profile,
            refine=lambda fused: refine(
                query, fused, profile=self.profile, reranker=self._reranker, material=material, tally=tally
            ),
            tally=tally,
        )

    def _seen(self, catalog: CatalogReader) -> tuple[frozenset[DocId], frozenset[str]]:
        """Blocking. What the collection would show and the caller may not see, and the languages of what he sees.

        That there is more, in another language, must not show in what he finds.
        """
        if self._seen_languages is None:
            self._seen_languages = catalog.languages(self.within())
        return catalog.hidden(self.within()), self._seen_languages

    def check_searchable(self) -> None:
        """Raises: CollectionUnavailable when this process can't make queries that compare with the snapshot's vectors."""
        check_versions(self.snapshot, self._embedder)

    async def resolve_scope(self, scope: Scope | None) -> frozenset[DocId] | None:
        """The documents a scope means, united; None = no restriction.

        Raises: ScopeNotFound naming every document, source and tag that the caller has not; InvalidArgument for an empty list.
        """
        if scope is None:
            return None
        return await self.read(lambda catalog: resolve(catalog, self.within(), scope))


class Library:
    """One per process; caches open snapshots. Construct it inside or outside of the event loop, use it inside one."""

    def __init__(
        self,
        *,
        layout: Layout,
        vectors: Vectors,
        embedder: Embedder,
        reranker: Reranker | None = None,
        pace: Pace | None = None,
        most_result_bytes: int = ApiSettings().max_result_bytes,
    ) -> None:
        """`embedder`, `reranker` (None = off), `vectors` stay the caller's."""
        self._embedder = embedder
        self._reranker = reranker
        self._most_result_bytes = most_result_bytes
        self._threads = Threads(layout.catalog)
        self._vectors = vectors
        self._notes = Notes(layout.catalog)
        self._commits = Commits(layout.catalog)
        self._snapshots = Snapshots(self._threads, vectors, self._notes, self._commits, pace=pace or Pace())

    def engine(self) -> str:
        """The vector engine, by its adapter and parameters, if it answers. Blocking. Raises: UpstreamError, StorageError."""
        self._vectors.names()
        return self._vectors.index

    def profile(self, prefer: Preference | None) -> SearchProfile:
        """How a request with this preference is searched here."""
        reranker = self._reranker
        reranking = None if reranker is None else Reranking(model=reranker.model, depth=reranker.depth)
        return SearchProfile(rerank=reranking, prefer=prefer)

    async def pin(self, snapshot_id: SnapshotId | None, access: Access, *, prefer: Preference | None = None) -> Pinned:
        """Hold a snapshot (None = the active one) for a request: `async with await library.pin(None, access) as pinned`.

        Raises: NoSnapshot, NotFound, CollectionUnavailable naming the fact that does not hold, StorageError.
        """
        if snapshot_id is not None and access.labels is not None:
            await self._threads.read(lambda catalog: check_published(catalog, snapshot_id, access))
        with faults_for(access):
            opened, today = await self._snapshots.take(snapshot_id)
        return Pinned(
            opened,
            access,
            today=today,
            profile=self.profile(prefer),
            embedder=self._embedder,
            reranker=self._reranker,
            threads=self._threads,
            snapshots=self._snapshots,
            most_result_bytes=self._most_result_bytes,
        )

    async def block(
        self, block_id: str, access: Access, *, snapshot_id: SnapshotId | None = None, neighbours: int = NEIGHBOURS
    ) -> BlockView:
        """A block of any published snapshot, `snapshot_id` preferred, then the active one; needs the catalog only, no collection.

        Raises: NotFound, StorageError, CollectionUnavailable when its text isn't the one that was published.
        """
        view = await self._threads.read(
            lambda catalog: block_view(
                catalog, block_id, snapshot_id=snapshot_id, labels=access.labels, neighbours=neighbours
            )
        )
        return structs.replace(view, document=seen_document(view.document, access))

    async def original(
        self, doc_id: DocId, access: Access, *, version: int | None = None, snapshot_id: SnapshotId | None = None
    ) -> Original:
        """Which file a version of a document was made of. Raises: NotFound, NoSnapshot, CollectionUnavailable, StorageError."""
        return await self._threads.read(
            lambda catalog: original(catalog, doc_id, version=version, snapshot_id=snapshot_id, access=access)
        )

    async def gone(self, citation: Citation, access: Access) -> Gone | None:
        """What is known of the version that a citation was made from; None = it is there, or the caller may not be told."""
        return await self._threads.read(
            lambda catalog: gone(
                catalog, citation.doc_id, citation.version, read_from=citation.snapshot_id, access=access
            )
        )

    async def examine(self, snapshot_id: SnapshotId, originals: Blobs) -> Verification:
        """Check everything that a published snapshot is made of, and remember what was found. Takes as long as reading it all.

        Raises: NotFound, StorageError, UpstreamError.
        """
        running = (self._embedder.version, self._embedder.dimensions)
        found, changed = await self._threads.read(
            lambda catalog: examine(catalog, snapshot_id, vectors=self._vectors, originals=originals, running=running)
        )
        if changed:
            await self._threads.run(lambda: self._notes.damaged(changed))
            self._snapshots.found_damaged(ChangedDocument(snapshot_id, changed), snapshot_id)
        elif found.sound:
            self._snapshots.found_sound(snapshot_id)
        return found

    async def diff(self, before: SnapshotId, after: SnapshotId, access: Access) -> SnapshotDiff:
        """What changed from one published snapshot to another, as far as the caller may see both. Raises: NotFound, StorageError."""
        return await self._threads.read(lambda catalog: snapshot_diff(catalog, before, after, access))

    async def snapshots(self, access: Access) -> list[Snapshot]:
        """The newest first, as far as the caller may see them. Raises: StorageError."""
        return await self._threads.read(lambda catalog: seen_snapshots(catalog, access))

    async def snapshot(self, snapshot_id: SnapshotId, access: Access) -> Snapshot:
        """Raises: NotFound, StorageError."""
        return await self._threads.read(lambda catalog: seen_snapshot(catalog, snapshot_id, access))

    async def settled(self) -> None:
        """Close here what no run uses and another snapshot superseded, so that it can be removed. Raises: StorageError."""
        await self._snapshots.settled()

    async def close(self) -> None:
        """Close every collection and connection. What it was given stays the caller's."""
        await self._snapshots.close()
        await self._threads.run(self._commits.close)
        await self._threads.close()
