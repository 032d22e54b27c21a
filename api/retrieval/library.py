"""Published snapshots, verified when first opened and pinned while in use."""

from types import TracebackType
from typing import Self

from api.retrieval.blocks import NEIGHBOURS, BlockView
from shared.access import Access
from shared.embeddings.port import Embedder
from shared.ids import DocId, SnapshotId
from shared.layout import Layout
from shared.types.runs import Scope
from shared.types.snapshots import Snapshot, SnapshotManifest
from shared.vectors.port import Vectors


class Pinned:
    """One snapshot and one caller's access to it, held open until the end of the `async with`."""

    snapshot: Snapshot
    manifest: SnapshotManifest
    access: Access

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.release()

    async def release(self) -> None:
        raise NotImplementedError

    async def resolve_scope(self, scope: Scope | None) -> frozenset[DocId] | None:
        """The documents a scope means, united; None = no restriction.

        Raises: ScopeNotFound naming every document, source and tag that the caller has not; InvalidArgument for an empty scope.
        """
        raise NotImplementedError

    async def block(self, block_id: str, *, neighbours: int = NEIGHBOURS) -> BlockView:
        """A block of this or of any other published snapshot that the caller may see. Raises: NotFound."""
        raise NotImplementedError


class Library:
    """One per process; caches open snapshots."""

    def __init__(self, *, layout: Layout, vectors: Vectors, embedder: Embedder) -> None:
        raise NotImplementedError

    async def pin(self, snapshot_id: SnapshotId | None, access: Access) -> Pinned:
        """Hold a snapshot (None = the active one) for a request: `async with await library.pin(None, access) as pinned`.

        Raises: NoSnapshot, NotFound, CollectionUnavailable naming the fact that does not hold, StorageError.
        """
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError
