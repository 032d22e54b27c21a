"""A block: as data, and as a page for whoever follows a citation in a browser."""

from typing import Any
from urllib.parse import urlencode

from litestar import Response, Router, get
from litestar.di import NamedDependency
from litestar.openapi import ResponseSpec
from litestar.params import FromPath, FromQuery

from api.links import PARAMETERS
from api.parts import Parts
from api.retrieval.blocks import BlockView
from api.routes.access import AnyRequest, access_of
from api.routes.block_page import CONTENT_SECURITY_POLICY, render
from api.routes.edge import brings_key
from api.routes.languages import language_of
from shared.ids import BlockId, SnapshotId


@get("/{block_id:str}", responses={200: ResponseSpec(data_container=BlockView, description="the block, or its page")})
async def get_block(
    request: AnyRequest,
    parts: NamedDependency[Parts],
    block_id: FromPath[str],
    snapshot: FromQuery[str | None] = None,
    lang: FromQuery[str | None] = None,
) -> Response[Any]:
    """A block with its neighbours; a page when the reader is a browser. Write the `#` of the id as %23.

    As `snapshot` shows it, if that one is still there and holds it; else the active one, else the newest that does.
    Links under answers name the snapshot that was read and, where a key is demanded, are signed: they need no key.
    """
    wanted = None if snapshot is None else SnapshotId(snapshot)
    view = await parts.library.block(block_id, access_of(request), snapshot_id=wanted)
    if request.accept.best_match(["application/json", "text/html"]) != "text/html":
        return Response(view)
    language = language_of(lang, request.headers.get("accept-language", ""))
    kept = {name: value for name in PARAMETERS if (value := request.query_params.get(name)) is not None}

    def neighbour(other: BlockId) -> str:
        return f"{_path(other)}?{urlencode({'snapshot': view.snapshot_id, 'lang': language})}"

    page = render(
        view,
        lang=language,
        switch=lambda other: f"?{urlencode({**kept, 'lang': other})}",
        # A signed link opens one block; its neighbours are read here, not walked to.
        url=neighbour if brings_key(parts.settings.api, request.headers) else None,
    )
    headers = {
        "Content-Security-Policy": CONTENT_SECURITY_POLICY,
        "Cache-Control": "no-store",
        "Vary": "Accept, Accept-Language",
    }
    return Response(page, media_type="text/html", headers=headers)


blocks = Router("/api/blocks", route_handlers=[get_block], tags=["documents"])


def _path(block_id: str) -> str:
    return f"/api/blocks/{block_id.replace('#', '%23')}"
