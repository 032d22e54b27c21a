"""Two runs beside each other: which, out of an address; both as far as the reader may see them."""

import asyncio

from litestar import Response, get
from litestar.di import NamedDependency

from api.callers import NEEDS_READ
from api.parts import Parts
from api.routes.access import AnyRequest, access_of, caller_of
from api.web.compare_runs import compared
from api.web.frame import PAGE, render
from api.web.run_view import run_view
from shared.ids import RunId
from shared.types.runfiles import RunFile


@get("/traces/compare", opt={**NEEDS_READ, **PAGE}, include_in_schema=False)
async def compare_runs_page(request: AnyRequest, parts: NamedDependency[Parts]) -> Response[str]:
    """`left` and `right`, or `run` twice, as two boxes of the list are ticked: then the older is on the left. Raises: NotFound."""
    wanted = chosen(list(request.query_params.multi_items()))
    if len(wanted) != 2:
        return render(request, "choose_runs.html.j2", caller=caller_of(request), tab="traces", ticked=len(wanted))
    access = access_of(request)
    left, right = [await asyncio.to_thread(parts.telemetry.run_file, RunId(one), access) for one in wanted]
    return await asyncio.to_thread(_page, request, left, right)


def chosen(query: list[tuple[str, str]]) -> list[str]:
    """The runs that an address names; those ticked each once. Pure. Ids of runs sort by when they began."""
    sides = [value for side in ("left", "right") for name, value in query if name == side and value]
    ticked = sorted({value for name, value in query if name == "run" and value})
    return sides if len(sides) == 2 else ticked


def _page(request: AnyRequest, left: RunFile, right: RunFile) -> Response[str]:
    one, other = run_view(left, prefix="left"), run_view(right, prefix="right")
    return render(
        request,
        "compare_runs.html.j2",
        caller=caller_of(request),
        tab="traces",
        left=one,
        right=other,
        both=compared(one, other),
    )
