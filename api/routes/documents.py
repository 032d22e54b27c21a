"""The documents of a snapshot, as far as the caller may see them."""

from typing import Annotated

from litestar import Router, get
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery, QueryParameter
from msgspec import Struct

from api.callers import NEEDS_READ
from api.parts import Parts
from api.retrieval.library import Pinned
from api.retrieval.seen import seen_document, seen_documents
from api.routes.access import AnyRequest, access_of
from api.routes.original_file import get_original
from shared.errors import NotFound
from shared.ids import DocId, SnapshotId
from shared.types.documents import Block, Section
from shared.types.snapshots import SnapshotDocument


class DocumentOutline(Struct, frozen=True, kw_only=True):
    snapshot_id: SnapshotId
    document: SnapshotDocument
    sections: tuple[Section, ...]  # document order; a section's own blocks follow those of all sections before it


class DocumentBlocks(Struct, frozen=True, kw_only=True):
    """Some of a document's blocks. `document.blocks` is how many there are in all."""

    snapshot_id: SnapshotId
    document: SnapshotDocument
    blocks: tuple[Block, ...]  # document order
    next: int | None  # `first` of the following ones; None = these were the last


@get("/")
async def list_documents(
    request: AnyRequest, parts: NamedDependency[Parts], snapshot_id: FromQuery[str | None] = None
) -> list[SnapshotDocument]:
    """Of the active snapshot, or of the one named; by source and title."""
    async with await _pin(request, parts, snapshot_id) as pinned:
        return seen_documents(await pinned.read(lambda catalog: catalog.documents(pinned.within())), pinned.access)


@get("/{doc_id:str}")
async def get_document(
    request: AnyRequest, parts: NamedDependency[Parts], doc_id: FromPath[str], snapshot_id: FromQuery[str | None] = None
) -> SnapshotDocument:
    async with await _pin(request, parts, snapshot_id) as pinned:
        return await _document(pinned, DocId(doc_id))


@get("/{doc_id:str}/outline")
async def get_outline(
    request: AnyRequest, parts: NamedDependency[Parts], doc_id: FromPath[str], snapshot_id: FromQuery[str | None] = None
) -> DocumentOutline:
    """A document's sections with their sizes and first sentences; a document without headings has the root section only."""
    async with await _pin(request, parts, snapshot_id) as pinned:
        document = await _document(pinned, DocId(doc_id))
        sections = await pinned.read(lambda catalog: catalog.sections(pinned.within(), [document.doc_id]))
    return DocumentOutline(
        snapshot_id=pinned.snapshot.snapshot_id, document=document, sections=tuple(sections.get(document.doc_id, ()))
    )


@get("/{doc_id:str}/blocks")
async def get_blocks(
    request: AnyRequest,
    parts: NamedDependency[Parts],
    doc_id: FromPath[str],
    snapshot_id: FromQuery[str | None] = None,
    first: Annotated[int, QueryParameter(ge=0, le=2**31)] = 0,
    limit: Annotated[int, QueryParameter(ge=1, le=500)] = 100,
) -> DocumentBlocks:
    """A document's blocks from index `first` on. To read on: `next` as `first`, with the reply's `snapshot_id`."""
    async with await _pin(request, parts, snapshot_id) as pinned:
        document = await _document(pinned, DocId(doc_id))
        wanted = range(first, first + limit)
        blocks = await pinned.read(lambda catalog: catalog.blocks(pinned.within(), document.doc_id, indexes=wanted))
    return DocumentBlocks(
        snapshot_id=pinned.snapshot.snapshot_id,
        document=document,
        blocks=tuple(blocks),
        next=wanted.stop if wanted.stop < document.blocks else None,
    )


documents = Router(
    "/api/documents",
    route_handlers=[list_documents, get_document, get_outline, get_blocks, get_original],
    tags=["documents"],
    opt=NEEDS_READ,
)


async def _pin(request: AnyRequest, parts: Parts, snapshot_id: str | None) -> Pinned:
    return await parts.library.pin(None if snapshot_id is None else SnapshotId(snapshot_id), access_of(request))


async def _document(pinned: Pinned, doc_id: DocId) -> SnapshotDocument:
    """As the caller may see it. Raises: NotFound."""
    found = await pinned.read(lambda catalog: catalog.documents_by_id(pinned.within(), [doc_id]))
    if doc_id not in found:
        raise NotFound("There is no such document in this snapshot.", field="doc_id", ids=[doc_id])
    return seen_document(found[doc_id], pinned.access)
