"""A block: as data, and as a page for whoever follows a citation in a browser."""

from typing import Any

from litestar import Response, Router, get
from litestar.di import NamedDependency
from litestar.openapi import ResponseSpec
from litestar.params import FromPath, FromQuery

from api.parts import Parts
from api.retrieval.blocks import BlockView
from api.routes.access import AnyRequest, access_of
from api.routes.block_page import CONTENT_SECURITY_POLICY, render
from api.routes.languages import language_of


@get("/{block_id:str}", responses={200: ResponseSpec(data_container=BlockView, description="the block, or its page")})
async def get_block(
    request: AnyRequest, parts: NamedDependency[Parts], block_id: FromPath[str], lang: FromQuery[str | None] = None
) -> Response[Any]:
    """A block of any published snapshot with its neighbours; a page when the reader is a browser. Write the `#` of the id as %23."""
    view = await parts.library.block(block_id, access_of(request))
    if request.accept.best_match(["application/json", "text/html"]) != "text/html":
        return Response(view)
    page = render(view, lang=language_of(lang, request.headers.get("accept-language", "")), url=_url)
    headers = {
        "Content-Security-Policy": CONTENT_SECURITY_POLICY,
        "Cache-Control": "no-store",
        "Vary": "Accept, Accept-Language",
    }
    return Response(page, media_type="text/html", headers=headers)


blocks = Router("/api/blocks", route_handlers=[get_block], tags=["documents"])


def _url(block_id: str) -> str:
    return f"/api/blocks/{block_id.replace('#', '%23')}"
