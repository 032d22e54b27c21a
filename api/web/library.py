"""Library: documents, what is being imported, snapshots; as far as the reader may see them."""

import asyncio
from math import ceil
from typing import Annotated

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery, QueryParameter

from api.callers import NEEDS_READ, NEEDS_WRITE, Caller
from api.parts import Parts
from api.retrieval.seen import seen_document, seen_documents
from api.routes.access import AnyRequest, access_of, caller_of
from api.web.frame import PAGE, render
from shared.catalog.imports import list_imports
from shared.catalog.reading import CatalogReader, Within
from shared.catalog.snapshots import active_snapshot_id
from shared.errors import NoSnapshot, NotFound
from shared.ids import DocId, SnapshotId
from shared.types.imports import Import
from shared.types.snapshots import SnapshotDocument

PER_PAGE = 50
IMPORTS = 20
MAX_SHOWN = 2_000  # blocks of one section on one page


@get("/library", opt={**NEEDS_READ, **PAGE}, include_in_schema=False)
async def library_page(
    request: AnyRequest,
    parts: NamedDependency[Parts],
    q: FromQuery[str] = "",
    page: Annotated[int, QueryParameter(ge=1, le=1_000_000)] = 1,
) -> Response[str]:
    caller = caller_of(request)
    active = await asyncio.to_thread(active_snapshot, parts)
    snapshots = await parts.library.snapshots(caller.access)
    found = await _documents(request, parts, q)
    first = (page - 1) * PER_PAGE
    return render(
        request,
        "library.html.j2",
        caller=caller,
        tab="library",
        active=active,
        answering=next((one for one in snapshots if one.snapshot_id == active), None),
        snapshots=[one for one in snapshots if one.state != "building"],
        documents=found[first : first + PER_PAGE],
        total=len(found),
        q=q,
        page=page,
        pages=max(1, ceil(len(found) / PER_PAGE)),
        max_upload_bytes=parts.settings.api.max_upload_bytes,
        imports=await shown_imports(parts, caller),
    )


@get("/library/imports", opt={**NEEDS_WRITE, **PAGE}, include_in_schema=False)
async def imports_part(request: AnyRequest, parts: NamedDependency[Parts]) -> Response[str]:
    """The list of imports alone: a page's script asks for it while one of them goes on."""
    caller = caller_of(request)
    return render(request, "imports.html.j2", caller=caller, imports=await shown_imports(parts, caller))


@get("/documents/{doc_id:str}", opt={**NEEDS_READ, **PAGE}, include_in_schema=False)
async def document_page(
    request: AnyRequest,
    parts: NamedDependency[Parts],
    doc_id: FromPath[str],
    snapshot: FromQuery[str | None] = None,
    section: FromQuery[int | None] = None,
) -> Response[str]:
    """A document's outline, and the blocks of one section of it or of all. Raises: NotFound."""
    wanted = None if not snapshot else SnapshotId(snapshot)
    async with await parts.library.pin(wanted, access_of(request)) as pinned:
        within, the_id = pinned.within(), DocId(doc_id)
        document = (await pinned.read(lambda catalog: catalog.documents_by_id(within, [the_id]))).get(the_id)
        if document is None:
            raise NotFound("There is no such document in this snapshot.", field="doc_id", ids=[doc_id])
        outline = (await pinned.read(lambda catalog: catalog.sections(within, [the_id]))).get(the_id, [])
        only = None if section is None else {section}
        blocks = await pinned.read(lambda catalog: catalog.blocks(within, the_id, sections=only))
    return render(
        request,
        "document.html.j2",
        caller=caller_of(request),
        tab="library",
        document=seen_document(document, access_of(request)),
        snapshot_id=pinned.snapshot.snapshot_id,
        asked_snapshot=wanted,
        outline=outline,
        section=section,
        blocks=blocks[:MAX_SHOWN],
        cut=len(blocks) > MAX_SHOWN,
    )


@get("/compare/{before:str}/{after:str}", opt={**NEEDS_READ, **PAGE}, include_in_schema=False)
async def compare_page(
    request: AnyRequest, parts: NamedDependency[Parts], before: FromPath[str], after: FromPath[str]
) -> Response[str]:
    """What changed from one snapshot to another. Raises: NotFound."""
    access = access_of(request)
    difference = await parts.library.diff(SnapshotId(before), SnapshotId(after), access)
    return render(
        request,
        "compare.html.j2",
        caller=caller_of(request),
        tab="library",
        diff=difference,
        before=await parts.library.snapshot(SnapshotId(before), access),
        after=await parts.library.snapshot(SnapshotId(after), access),
    )


async def _documents(request: AnyRequest, parts: Parts, q: str) -> list[SnapshotDocument]:
    """Those with `q` in the title or file name."""
    folded, access = q.casefold(), access_of(request)

    def named(catalog: CatalogReader, within: Within) -> list[SnapshotDocument]:
        found = [one for one in catalog.documents(within) if folded in f"{one.title}\n{one.key}".casefold()]
        return seen_documents(found, access)

    try:
        async with await parts.library.pin(None, access) as pinned:
            return await pinned.read(lambda catalog: named(catalog, pinned.within()))
    except NoSnapshot:
        return []


async def shown_imports(parts: Parts, caller: Caller) -> list[Import]:
    """Nothing for whoever only reads: they name files that may be hidden from him."""
    return await asyncio.to_thread(_list_imports, parts) if caller.may("write") else []


def _list_imports(parts: Parts) -> list[Import]:
    with parts.catalog.open() as db:
        return list_imports(db, limit=IMPORTS, now_ms=parts.now_ms())


def active_snapshot(parts: Parts) -> SnapshotId | None:
    with parts.catalog.open() as db:
        return active_snapshot_id(db)
