"""The documents of a snapshot, as far as the caller may see them."""

from litestar import Router, get
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery

from api.callers import NEEDS_READ
from api.parts import Parts
from api.retrieval.seen import seen_document, seen_documents
from api.routes.access import AnyRequest, access_of
from shared.errors import NotFound
from shared.ids import DocId, SnapshotId
from shared.types.snapshots import SnapshotDocument


@get("/")
async def list_documents(
    request: AnyRequest, parts: NamedDependency[Parts], snapshot_id: FromQuery[str | None] = None
) -> list[SnapshotDocument]:
    """Of the active snapshot, or of the one named; by source and title."""
    wanted = None if snapshot_id is None else SnapshotId(snapshot_id)
    async with await parts.library.pin(wanted, access_of(request)) as pinned:
        return seen_documents(await pinned.read(lambda catalog: catalog.documents(pinned.within())), pinned.access)


@get("/{doc_id:str}")
async def get_document(
    request: AnyRequest, parts: NamedDependency[Parts], doc_id: FromPath[str], snapshot_id: FromQuery[str | None] = None
) -> SnapshotDocument:
    wanted = None if snapshot_id is None else SnapshotId(snapshot_id)
    async with await parts.library.pin(wanted, access_of(request)) as pinned:
        found = await pinned.read(lambda catalog: catalog.documents_by_id(pinned.within(), [DocId(doc_id)]))
    if DocId(doc_id) not in found:
        raise NotFound("There is no such document in this snapshot.", field="doc_id", ids=[doc_id])
    return seen_document(found[DocId(doc_id)], pinned.access)


documents = Router("/api/documents", route_handlers=[list_documents, get_document], tags=["documents"], opt=NEEDS_READ)
