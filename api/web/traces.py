"""Traces: every question that the reader may see, narrowed down in the address."""

import asyncio
import re
from typing import get_args
from urllib.parse import urlencode

import msgspec
from litestar import Response, get
from litestar.di import NamedDependency
from msgspec import Struct

from api.callers import NEEDS_READ
from api.parts import Parts
from api.routes.access import AnyRequest, access_of, caller_of
from api.web.frame import PAGE, render
from shared.catalog.reading import CatalogReader, Within
from shared.errors import NoSnapshot
from shared.ids import DocId, RunId, SnapshotId
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


async def _named(said: str, parts: Parts, request: AnyRequest) -> tuple[DocId, ...]:
    """The documents that a part of a title or file name means, or the one with this id; () = nothing was said."""
    if not said:
        return ()
    folded = said.casefold()

    def named(catalog: CatalogReader, within: Within) -> list[DocId]:
        return [one.doc_id for one in catalog.documents(within) if folded in f"{one.title}\n{one.key}".casefold()]

    try:
        async with await parts.library.pin(None, access_of(request)) as pinned:
            found = await pinned.read(lambda catalog: named(catalog, pinned.within()))
    except NoSnapshot:
        found = []
    return (DocId(said), *found[:MOST_NAMED])
