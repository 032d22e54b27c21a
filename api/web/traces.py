"""Traces: every question that the reader may see, and one of them as it went."""

import asyncio
import re
from typing import Any, get_args
from urllib.parse import urlencode

import msgspec
from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath
from msgspec import Struct

from api.callers import NEEDS_READ, NEEDS_WRITE
from api.parts import Parts
from api.retrieval.seen import seen_documents
from api.routes.access import AnyRequest, access_of, caller_of
from api.web.again import AgainView, again_view
from api.web.frame import PAGE, render
from api.web.run_spans import rows
from api.web.run_view import run_view
from shared.catalog.imports import get_import
from shared.errors import NoSnapshot
from shared.ids import DocId, ImportId, RunId, SnapshotId
from shared.types.imports import Import
from shared.types.runfiles import RunFile
from shared.types.runs import Status
from shared.types.traces import RunFilter, Stop

PER_PAGE = 50
MOST_NAMED = 50  # documents that a part of a title may mean
_COUNT = re.compile(r"\d{1,12}")
_SECONDS = re.compile(r"\d{1,6}(?:\.\d{1,3})?")


class Asked(Struct, frozen=True, kw_only=True):
    """The form as it was filled in; "" = left open. What makes no sense is as good as left open."""

    text: str = ""
    status: str = ""
    stopped_by: str = ""
    document: str = ""
    snapshot: str = ""
    bundle: str = ""
    min_tokens: str = ""
    max_tokens: str = ""
    min_s: str = ""
    max_s: str = ""
    before: str = ""

    def narrows(self) -> bool:
        return any(value for name, value in self.named() if name != "before")

    def named(self) -> list[tuple[str, str]]:
        return [(name, value) for name, value in msgspec.to_builtins(self).items() if value]

    def address(self, **other: str) -> str:
        """Of the same list, but for what is given here."""
        said = {**dict(self.named()), **other}
        return "/traces?" + urlencode({name: value for name, value in said.items() if value})


def asked_for(query: dict[str, str]) -> Asked:
    """From the address of the page."""
    said = {name: value.strip()[:200] for name, value in query.items() if name in Asked.__struct_fields__}
    known: dict[str, tuple[str, ...]] = {"status": get_args(Status), "stopped_by": (*get_args(Stop), "any", "none")}
    for name, values in known.items():
        if said.get(name) not in values:
            said[name] = ""
    for name, form in (("min_tokens", _COUNT), ("max_tokens", _COUNT), ("min_s", _SECONDS), ("max_s", _SECONDS)):
        if not form.fullmatch(said.get(name, "")):
            said[name] = ""
    return Asked(**said)


def filter_of(asked: Asked, doc_ids: tuple[DocId, ...]) -> RunFilter:
    return RunFilter(
        status=msgspec.convert(asked.status or None, Status | None),
        stopped_by=msgspec.convert(asked.stopped_by or None, type=RunFilter.__annotations__["stopped_by"]),
        min_tokens=_number(asked.min_tokens),
        max_tokens=_number(asked.max_tokens),
        min_duration_ms=_ms(asked.min_s),
        max_duration_ms=_ms(asked.max_s),
        snapshot_id=SnapshotId(asked.snapshot) if asked.snapshot else None,
        prompt_bundle=asked.bundle or None,
        doc_ids=doc_ids,
        text=asked.text or None,
        before=RunId(asked.before) if asked.before else None,
    )


def _number(said: str) -> int | None:
    return int(said) if said else None


def _ms(said: str) -> int | None:
    return round(float(said) * 1000) if said else None


@get("/traces", opt={**NEEDS_READ, **PAGE}, include_in_schema=False)
async def traces_page(request: AnyRequest, parts: NamedDependency[Parts]) -> Response[str]:
    caller, access = caller_of(request), access_of(request)
    asked = asked_for(dict(request.query_params.items()))
    wanted = filter_of(asked, await _named(asked.document, parts, request))
    found = await asyncio.to_thread(parts.telemetry.list_runs, access, limit=PER_PAGE + 1, wanted=wanted)
    snapshots = [one.snapshot_id for one in await parts.library.snapshots(access) if one.state != "building"]
    return render(
        request,
        "traces.html.j2",
        caller=caller,
        tab="traces",
        runs=found[:PER_PAGE],
        asked=asked,
        older=asked.address(before=found[PER_PAGE - 1].run_id) if len(found) > PER_PAGE else "",
        newest=asked.address(before="") if asked.before else "",
        statuses=get_args(Status),
        stops=get_args(Stop),
        snapshots=snapshots if not asked.snapshot or asked.snapshot in snapshots else [*snapshots, asked.snapshot],
        sees_all=access.is_admin,
    )


@get("/traces/{run_id:str}", opt={**NEEDS_READ, **PAGE}, include_in_schema=False)
async def run_page(request: AnyRequest, parts: NamedDependency[Parts], run_id: FromPath[str]) -> Response[str]:
    """Raises: NotFound, StorageError."""
    file = await asyncio.to_thread(parts.telemetry.run_file, RunId(run_id), access_of(request))
    again = await again_view(parts, RunId(run_id), file.trace, access_of(request))
    return await asyncio.to_thread(_run_page, request, file, again)


def _run_page(request: AnyRequest, file: RunFile, again: AgainView) -> Response[str]:
    return render(
        request,
        "run.html.j2",
        caller=caller_of(request),
        tab="traces",
        view=run_view(file),
        ask_full=ask_full(file),
        again=again,
    )


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


async def _named(said: str, parts: Parts, request: AnyRequest) -> tuple[DocId, ...]:
    """The documents that a part of a title or file name means, or the one with this id; () = nothing was said."""
    if not said:
        return ()
    try:
        async with await parts.library.pin(None, access_of(request)) as pinned:
            seen = seen_documents(await pinned.read(lambda catalog: catalog.documents(pinned.within())), pinned.access)
    except NoSnapshot:
        seen = []
    folded = said.casefold()
    named = [one.doc_id for one in seen if folded in f"{one.title}\n{one.key}".casefold()]
    return (DocId(said), *named[:MOST_NAMED])
