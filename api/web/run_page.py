"""One run as it went, and one import."""

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec
from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from api.callers import NEEDS_READ, NEEDS_WRITE
from api.parts import Parts
from api.routes.access import AnyRequest, access_of, caller_of
from api.web.again import AgainView, again_view
from api.web.frame import PAGE, render
from api.web.run_spans import rows
from api.web.run_view import RunView, Title, run_view, titled
from shared.access import Access
from shared.catalog.imports import get_import
from shared.errors import CollectionUnavailable, NotFound
from shared.ids import BlockId, ImportId, RunId, SnapshotId
from shared.types.imports import Import
from shared.types.runfiles import RunFile


@get("/traces/{run_id:str}", opt={**NEEDS_READ, **PAGE}, include_in_schema=False)
async def run_page(request: AnyRequest, parts: NamedDependency[Parts], run_id: FromPath[str]) -> Response[str]:
    """Raises: NotFound, StorageError."""
    access = access_of(request)
    file = await asyncio.to_thread(parts.telemetry.run_file, RunId(run_id), access)
    view = await asyncio.to_thread(run_view, file)
    view = titled(view, await _titles(parts, view, access))
    again = await again_view(parts, RunId(run_id), file.trace, access)
    return await asyncio.to_thread(_run_page, request, file, view, again)


def _run_page(request: AnyRequest, file: RunFile, view: RunView, again: AgainView) -> Response[str]:
    return render(
        request,
        "run.html.j2",
        caller=caller_of(request),
        tab="traces",
        view=view,
        ask_full=ask_full(file),
        again=again,
    )


async def _titles(parts: Parts, view: RunView, access: Access) -> dict[str, Title]:
    """Of the blocks that the run itself has no titles of, as far as their snapshot is there and the reader may see them."""
    unknown = [BlockId(one.block_id) for one in view.blocks if not one.title]
    snapshot_id = view.answer.snapshot_id
    if not unknown or snapshot_id is None:
        return {}
    try:
        return await _read_titles(parts, snapshot_id, unknown, access)
    except (NotFound, CollectionUnavailable):  # the snapshot is gone, or can't be opened: ids have to do
        return {}


async def _read_titles(
    parts: Parts, snapshot_id: SnapshotId, block_ids: Sequence[BlockId], access: Access
) -> dict[str, Title]:
    async with await parts.library.pin(snapshot_id, access) as pinned:
        within = pinned.within()
        blocks = await pinned.read(lambda catalog: catalog.blocks_by_id(within, block_ids))
        documents = await pinned.read(
            lambda catalog: catalog.documents_by_id(within, {one.doc_id for one in blocks.values()})
        )
    return {
        block_id: Title(title=documents[one.doc_id].title, section_path=one.section_path)
        for block_id, one in blocks.items()
        if one.doc_id in documents
    }


def ask_full(file: RunFile) -> dict[str, Any] | None:
    """The body that asks the run's question once more with everything kept; None where it leaned on a conversation, or never began."""
    record, manifest = file.record, file.record.answer.manifest
    if manifest is None or record.exchanges or record.retrieval is None:
        return None
    scope = None if record.retrieval.scope is None else msgspec.to_builtins(record.retrieval.scope)
    return {
        "question": record.answer.question,
        "trace_level": "full",
        "scope": scope,
        "citation_mode": manifest.citation_mode,
        "path": manifest.path if manifest.path_reason == "forced" else "auto",
    }


@get("/imports/{import_id:str}/trace", opt={**NEEDS_WRITE, **PAGE}, include_in_schema=False)
async def import_trace_page(
    request: AnyRequest, parts: NamedDependency[Parts], import_id: FromPath[str]
) -> Response[str]:
    """Raises: NotFound, StorageError."""
    found = await asyncio.to_thread(_import, parts, ImportId(import_id))
    trace = await asyncio.to_thread(parts.telemetry.store.import_trace, found.import_id)
    return render(
        request,
        "import_trace.html.j2",
        caller=caller_of(request),
        tab="library",
        one=found,
        trace=trace,
        rows=rows(trace.spans),
    )


def _import(parts: Parts, import_id: ImportId) -> Import:
    with parts.catalog.open() as db:
        return get_import(db, import_id, now_ms=parts.now_ms())
