"""Ask: the first page. Before anything was imported, the way to the first question."""

import asyncio

from litestar import Response, get
from litestar.di import NamedDependency

from api.callers import NEEDS_READ
from api.desk import MAX_QUESTION
from api.parts import Parts
from api.routes.access import AnyRequest, caller_of
from api.web.frame import PAGE, render
from api.web.library import active_snapshot, shown_imports


@get("/", opt={**NEEDS_READ, **PAGE}, include_in_schema=False)
async def ask_page(request: AnyRequest, parts: NamedDependency[Parts]) -> Response[str]:
    """Holds nothing of the library itself: its script asks the API, which knows what the reader may see."""
    caller = caller_of(request)
    if await asyncio.to_thread(active_snapshot, parts) is None:
        return render(
            request,
            "first.html.j2",
            caller=caller,
            tab="ask",
            has_model=parts.chat_model is not None,
            max_upload_bytes=parts.settings.api.max_upload_bytes,
            imports=await shown_imports(parts, caller),
        )
    return render(
        request,
        "ask.html.j2",
        caller=caller,
        tab="ask",
        has_model=parts.chat_model is not None,
        max_question=MAX_QUESTION,
        strict=parts.settings.citations.mode == "strict",
    )
