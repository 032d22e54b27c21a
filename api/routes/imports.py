"""Hand in documents and follow what becomes of them."""

import asyncio
import logging
from typing import Annotated, Protocol

import msgspec
from litestar import Router, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, QueryParameter
from msgspec import Struct

from api.callers import NEEDS_WRITE
from api.live import Live, Tell
from api.parts import Parts
from api.routes.access import AnyRequest
from api.routes.bodies import decode, read_limited
from api.routes.import_paths import check_paths, roots
from api.routes.streams import HEARTBEAT, sse
from api.routes.uploads import receive_upload
from shared.catalog import imports as catalog_imports
from shared.catalog.db import Database
from shared.errors import NotFound, UpstreamError
from shared.ids import ImportId
from shared.types.imports import Import, ImportMode, ImportRequest, SourceSpec
from shared.types.traces import Trace

_log = logging.getLogger(__name__)

RING_S = 2.0

_FINISHED = frozenset({"completed", "failed", "cancelled"})


class PathsBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Files and folders on this server."""

    paths: tuple[str, ...] = ()
    source: SourceSpec = SourceSpec()
    mode: ImportMode = "add"
    activate: bool = True


_paths_body = msgspec.json.Decoder(PathsBody)


@post("/", status_code=202, request_max_body_size=None)  # the size is bounded where the body is read
async def create_import(request: AnyRequest, parts: NamedDependency[Parts]) -> Import:
    """Accept files (multipart/form-data) or paths on this server (JSON); the worker does the rest.

    Multipart: any number of parts `files`, each with a relative file name; beside them fields of the JSON form: `mode`,
    `activate`, `source` (JSON) or its fields one by one (`label`, `trust`, `tags` …).
    """
    kind, _ = request.content_type
    limits = parts.settings.api
    if kind == "multipart/form-data":
        wanted = await receive_upload(request, parts.originals, limits)
    else:
        body = decode(await read_limited(request, limits.max_body_bytes), _paths_body)
        paths = await asyncio.to_thread(
            check_paths, body.paths, roots(parts.settings), must_exist=body.mode != "remove"
        )
        wanted = ImportRequest(mode=body.mode, paths=paths, source=body.source, activate=body.activate)
    return await accept_import(parts, wanted)


async def accept_import(parts: Parts, wanted: ImportRequest) -> Import:
    """Write down what is wanted and tell the worker. Raises: InvalidArgument, StorageError."""
    accepted = await asyncio.to_thread(_accept, parts, wanted)
    await _ring(parts, accepted.import_id)
    return accepted


@get("/", sync_to_thread=True)
def list_imports(
    parts: NamedDependency[Parts], limit: Annotated[int, QueryParameter(ge=1, le=1000)] = 50
) -> list[Import]:
    """The newest first."""
    with parts.catalog.open() as db:
        return catalog_imports.list_imports(db, limit=limit, now_ms=parts.now_ms())


@get("/{import_id:str}", sync_to_thread=True)
def get_import(parts: NamedDependency[Parts], import_id: FromPath[str]) -> Import:
    return _get(parts, ImportId(import_id))


@get("/{import_id:str}/trace", sync_to_thread=True)
def get_trace(parts: NamedDependency[Parts], import_id: FromPath[str]) -> Trace:
    """The import's stages as spans."""
    _get(parts, ImportId(import_id))
    return parts.telemetry.store.import_trace(ImportId(import_id))


@get("/{import_id:str}/events", media_type="text/event-stream", response_description="events")
async def watch_import(parts: NamedDependency[Parts], import_id: FromPath[str]) -> Live:
    """`progress` with the import whenever it changed, `finished` at its end."""
    first = await asyncio.to_thread(_get, parts, ImportId(import_id))
    return Live(lambda tell: _progress(parts, first, tell))


@post("/{import_id:str}/{verb:str}", status_code=200)
async def act(parts: NamedDependency[Parts], import_id: FromPath[str], verb: FromPath[str]) -> Import:
    """`pause`, `resume`, `cancel` or `retry`; the import as it is then."""
    move = _VERBS.get(verb)
    if move is None:
        raise NotFound(f"An import can't {verb!r}; it can {', '.join(_VERBS)}.", field="verb", ids=[import_id])
    after = await asyncio.to_thread(_move, parts, ImportId(import_id), move)
    await _ring(parts, after.import_id)
    return after


imports = Router(
    "/api/imports",
    route_handlers=[create_import, list_imports, get_import, get_trace, watch_import, act],
    tags=["imports"],
    opt=NEEDS_WRITE,
)


class _Verb(Protocol):
    def __call__(self, db: Database, import_id: ImportId, *, now_ms: int) -> None: ...


_VERBS: dict[str, _Verb] = {
    "pause": catalog_imports.pause,
    "resume": catalog_imports.resume,
    "cancel": catalog_imports.cancel,
    "retry": catalog_imports.retry,
}


def _accept(parts: Parts, wanted: ImportRequest) -> Import:
    with parts.catalog.open() as db:
        import_id = catalog_imports.create_import(db, wanted, now_ms=parts.now_ms())
        return catalog_imports.get_import(db, import_id, now_ms=parts.now_ms())


def _move(parts: Parts, import_id: ImportId, move: _Verb) -> Import:
    with parts.catalog.open() as db:
        move(db, import_id, now_ms=parts.now_ms())
        return catalog_imports.get_import(db, import_id, now_ms=parts.now_ms())


def _get(parts: Parts, import_id: ImportId) -> Import:
    with parts.catalog.open() as db:
        return catalog_imports.get_import(db, import_id, now_ms=parts.now_ms())


async def _ring(parts: Parts, import_id: ImportId) -> None:
    """The catalog holds the import whatever becomes of the message: a broker that is down or hangs only delays it."""
    try:
        async with asyncio.timeout(RING_S):
            await asyncio.to_thread(parts.bell.ring, import_id)
    except (UpstreamError, TimeoutError) as error:
        _log.warning("the worker was not told of %s and will find it by itself: %s", import_id, error)


async def _progress(parts: Parts, first: Import, tell: Tell) -> bytes:
    seen, silent_s = first, 0.0
    await tell(sse("progress", seen))
    while seen.state not in _FINISHED:
        await asyncio.sleep(parts.poll_s)
        silent_s += parts.poll_s
        now = await asyncio.to_thread(_get, parts, seen.import_id)
        if _changed(seen, now):
            seen, silent_s = now, 0.0
            await tell(sse("progress", seen))
        elif silent_s >= parts.heartbeat_s:
            silent_s = 0.0
            await tell(HEARTBEAT)
    return sse("finished", seen)


def _changed(before: Import, now: Import) -> bool:
    """Whether anything but the clock moved on."""
    return (
        before.state,
        before.stage,
        before.updated_at_ms,
        before.progress.by_state,
        before.progress.blocks_embedded,
    ) != (
        now.state,
        now.stage,
        now.updated_at_ms,
        now.progress.by_state,
        now.progress.blocks_embedded,
    )
