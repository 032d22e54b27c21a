"""A block: as data, and as a page for whoever follows a citation in a browser."""

from litestar import Response, Router, get

from api.parts import Parts
from api.retrieval.blocks import BlockView
from api.routes.access import AnyRequest, access_of
from api.routes.block_page import CONTENT_SECURITY_POLICY, render
from api.routes.languages import language_of
from shared.errors import NoSnapshot, NotFound


@get("/{block_id:str}")
async def get_block(
    request: AnyRequest, parts: Parts, block_id: str, lang: str | None = None
) -> Response[BlockView] | Response[str]:
    """A block of any published snapshot with its neighbours; a page when the reader is a browser. Write the `#` of the id as %23."""
    view = await _view(request, parts, block_id)
    if request.accept.best_match(["application/json", "text/html"]) != "text/html":
        return Response(view)
    page = render(view, lang=language_of(lang, request.headers.get("accept-language", "")), url=_url)
    headers = {
        "Content-Security-Policy": CONTENT_SECURITY_POLICY,
        "Cache-Control": "no-store",
        "Vary": "Accept, Accept-Language",
    }
    return Response(page, media_type="text/html; charset=utf-8", headers=headers)


blocks = Router("/api/blocks", route_handlers=[get_block], tags=["documents"])


async def _view(request: AnyRequest, parts: Parts, block_id: str) -> BlockView:
    try:
        async with await parts.library.pin(None, access_of(request)) as pinned:
            return await pinned.block(block_id)
    except NoSnapshot as error:
        raise NotFound("There is no such block.", field="block_id", ids=[block_id]) from error


def _url(block_id: str) -> str:
    return f"/api/blocks/{block_id.replace('#', '%23')}"
