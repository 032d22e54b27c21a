"""A block: as data, and as a page for whoever follows a citation in a browser."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from litestar import Response, Router, get
from litestar.di import NamedDependency
from litestar.openapi import ResponseSpec
from litestar.params import FromPath, FromQuery
from msgspec import structs

from api.callers import NEEDS_READ
from api.links import PARAMETERS
from api.parts import Parts
from api.retrieval.blocks import BlockView
from api.routes.accepting import preferred
from api.routes.access import AnyRequest, access_of, caller_of
from api.routes.block_page import CONTENT_SECURITY_POLICY, render
from api.routes.languages import Lang, language_of
from api.routes.query_names import ALSO_READS, IS_A_PAGE
from api.routes.quote_page import render_quote
from api.stored_quotes import stored_quote
from shared.errors import NotFound
from shared.ids import BlockId, SnapshotId, SourceId
from shared.types.runs import StoredQuote
from shared.types.snapshots import SnapshotDocument

_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cache-Control": "no-store",
    "Vary": "Accept, Accept-Language",
}


@get(
    "/{block_id:str}",
    opt={ALSO_READS: PARAMETERS, IS_A_PAGE: True},
    responses={200: ResponseSpec(data_container=BlockView | StoredQuote, description="the block, or its page")},
)
async def get_block(
    request: AnyRequest,
    parts: NamedDependency[Parts],
    block_id: FromPath[str],
    snapshot: FromQuery[str | None] = None,
    lang: FromQuery[str | None] = None,
) -> Response[Any]:
    """A block with its neighbours; a page when the reader is a browser. Write the `#` of the id as %23.

    As `snapshot` shows it, if that one is still there and holds it; else the active one, else the newest that does. When none
    does any more, what an answer quoted of it: `source` is `stored_quote` then.
    Links under answers name the snapshot that was read and, where a key is demanded, are signed: they need no key.
    """
    wanted = None if snapshot is None else SnapshotId(snapshot)
    try:
        view = await parts.library.block(block_id, access_of(request), snapshot_id=wanted)
        if not caller_of(request).known:
            view = structs.replace(view, document=_as_forwarded(view.document))
    except NotFound:
        quote = await stored_quote(parts.library, parts.telemetry, block_id, access_of(request))
        if not caller_of(request).known:
            quote = structs.replace(quote, run_id=None, cited_at_ms=None)
        return _quoted(parts, request, quote, lang)
    if not _wants_page(request):
        return Response(view, headers=_link(parts, request, view.block.block_id, view.snapshot_id))
    language = language_of(lang, request.headers.get("accept-language", ""))

    def neighbour(other: BlockId) -> str:
        return f"{_path(other)}?{urlencode({'snapshot': view.snapshot_id, 'lang': language})}"

    page = render(
        view,
        lang=language,
        switch=_switch(request),
        # A signed link opens one block; its neighbours are read here, not walked to.
        url=neighbour if caller_of(request).known else None,
    )
    return Response(page, media_type="text/html", headers=_HEADERS)


blocks = Router("/api/blocks", route_handlers=[get_block], tags=["documents"], opt=NEEDS_READ)


def _as_forwarded(document: SnapshotDocument) -> SnapshotDocument:
    """As whoever was given a link may see it: not how the library is kept."""
    return structs.replace(document, source_id=SourceId(""), key="", aliases=(), access=(), tags=(), artifact_sha256="")


def _quoted(parts: Parts, request: AnyRequest, quote: StoredQuote, lang: str | None) -> Response[Any]:
    if not _wants_page(request):
        return Response(quote, headers=_link(parts, request, quote.block_id, quote.snapshot_id))
    language = language_of(lang, request.headers.get("accept-language", ""))
    page = render_quote(quote, lang=language, switch=_switch(request))
    return Response(page, media_type="text/html", headers=_HEADERS)


def _wants_page(request: AnyRequest) -> bool:
    return preferred(request.headers.get("accept", ""), ("application/json", "text/html")) == "text/html"


def _link(parts: Parts, request: AnyRequest, block_id: BlockId, snapshot_id: SnapshotId) -> dict[str, str]:
    """Where its page is, for whoever shows it to a person. Whoever came by a signed link gets no fresh one: it must end."""
    if not caller_of(request).known:
        return {}
    return {
        "Link": f'<{parts.links.path(block_id, snapshot_id, access_of(request))}>; rel="alternate"; type="text/html"'
    }


def _switch(request: AnyRequest) -> Callable[[Lang], str]:
    """The address of the same page in another language; a signed one stays signed."""
    kept = {name: value for name in PARAMETERS if (value := request.query_params.get(name)) is not None}
    return lambda other: f"?{urlencode({**kept, 'lang': other})}"


def _path(block_id: str) -> str:
    return f"/api/blocks/{block_id.replace('#', '%23')}"
