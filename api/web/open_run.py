"""A run out of a file that a person saved: shown like any other, kept nowhere, believed in nothing."""

import asyncio
from typing import Final

from litestar import Response, get, post
from litestar.di import NamedDependency

from api.callers import NEEDS_READ
from api.parts import Parts
from api.routes.access import AnyRequest, caller_of
from api.routes.uploads import receive_file
from api.web.frame import PAGE, render
from api.web.run_file_size import fits_a_page
from api.web.run_view import run_view
from shared.errors import TooLarge
from shared.saved_runs import Unreadable, read_run_file
from shared.version import APP_VERSION

MAX_FILE_BYTES: Final = 16 * 1024 * 1024
_LONGEST_NAME: Final = 200


@get("/traces/open", opt={**NEEDS_READ, **PAGE}, include_in_schema=False, sync_to_thread=False)
def open_page(request: AnyRequest) -> Response[str]:
    return _page(request, None)


@post("/traces/open", opt={**NEEDS_READ, **PAGE}, include_in_schema=False, status_code=200)
async def open_run(request: AnyRequest, parts: NamedDependency[Parts]) -> Response[str]:
    """The file as it is in the request; nothing of it is written anywhere. One at a time: a large one takes 350 MB and some seconds.

    Raises: InvalidArgument for a broken form.
    """
    try:
        name, data = await receive_file(request, MAX_FILE_BYTES)
    except TooLarge:
        return _page(request, "too_large", status=413)
    if not name:
        return _page(request, "none")
    async with parts.files:
        return await asyncio.to_thread(_shown, request, name[:_LONGEST_NAME], data)


def _shown(request: AnyRequest, name: str, data: bytes) -> Response[str]:
    file = read_run_file(data)
    if isinstance(file, Unreadable):
        return _page(request, file.why, name=name, detail=file.detail, saved_by=file.saved_by)
    if not fits_a_page(file):
        return _page(request, "too_many", name=name)
    return render(
        request,
        "run_file.html.j2",
        caller=caller_of(request),
        tab="traces",
        view=run_view(file, here=False),
        name=name,
        saved_by=file.app_version if file.app_version != APP_VERSION else "",
    )


def _page(
    request: AnyRequest, why: str | None, *, status: int = 200, name: str = "", detail: str = "", saved_by: str = ""
) -> Response[str]:
    return render(
        request,
        "open_run.html.j2",
        caller=caller_of(request),
        tab="traces",
        status=status,
        why=why,
        name=name,
        detail=detail,
        saved_by=saved_by,
        max_bytes=MAX_FILE_BYTES,
    )
