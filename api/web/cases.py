"""Cases: answers that somebody called wrong, each with its run; for the run's asker, and admins."""

import asyncio
from typing import Annotated, Any, Final, cast, get_args
from urllib.parse import parse_qs

import msgspec
from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery, QueryParameter
from litestar.response import Redirect

from api.callers import NEEDS_READ
from api.parts import Parts
from api.routes.access import AnyRequest, access_of, caller_of
from api.routes.bodies import read_limited
from api.routes.feedback import cases_of, find_case
from api.web.frame import PAGE, render
from shared.errors import InvalidArgument
from shared.telemetry.cases import case_of, check_gold
from shared.types.cases import CaseChange, CaseStatus, Layer

PER_PAGE: Final = 50
LAYERS: Final[tuple[Layer, ...]] = get_args(Layer)
_MAX_FORM_BYTES: Final = 65_536


@get("/cases", opt={**NEEDS_READ, **PAGE}, include_in_schema=False)
async def cases_page(
    request: AnyRequest,
    parts: NamedDependency[Parts],
    status: FromQuery[str] = "open",
    page: Annotated[int, QueryParameter(ge=1, le=1_000_000)] = 1,
) -> Response[str]:
    """`status`: open, closed, or anything else for all."""
    wanted = cast(CaseStatus, status) if status in get_args(CaseStatus) else None
    first = (page - 1) * PER_PAGE
    found = await asyncio.to_thread(cases_of, parts, access_of(request), status=wanted, first=first, limit=PER_PAGE + 1)
    return render(
        request,
        "cases.html.j2",
        caller=caller_of(request),
        tab="traces",
        cases=found[:PER_PAGE],
        shown=wanted or "all",
        page=page,
        more=len(found) > PER_PAGE,
    )


@get("/cases/{case_id:str}", opt={**NEEDS_READ, **PAGE}, include_in_schema=False)
async def case_page(
    request: AnyRequest, parts: NamedDependency[Parts], case_id: FromPath[str], saved: FromQuery[bool] = False
) -> Response[str]:
    """One case with its run. Raises: NotFound."""
    stored, record = await asyncio.to_thread(find_case, parts, case_id, access_of(request))
    return render(
        request,
        "case.html.j2",
        caller=caller_of(request),
        tab="traces",
        case=case_of(stored, record),
        answer=record.answer,
        layers=LAYERS,
        saved=saved,
    )


@post("/cases/{case_id:str}", opt={**NEEDS_READ, **PAGE}, include_in_schema=False, status_code=303)
async def save_case(request: AnyRequest, parts: NamedDependency[Parts], case_id: FromPath[str]) -> Redirect:
    """What the form of the page says. Raises: NotFound, InvalidArgument."""
    stored, record = await asyncio.to_thread(find_case, parts, case_id, access_of(request))
    wanted = _change(parse_qs((await read_limited(request, _MAX_FORM_BYTES)).decode("utf-8", "replace")))
    check_gold(wanted, record)
    await asyncio.to_thread(parts.telemetry.cases.change, stored.run_id, wanted, now_ms=parts.now_ms())
    return Redirect(f"/cases/{case_id}?saved=true", status_code=303)


def _change(form: dict[str, list[str]]) -> CaseChange:
    """A form says everything: what is not ticked is not gold. A layer that nobody named stays unnamed."""
    given: dict[str, Any] = {name: form[name][0] for name in ("layer", "status") if name in form}
    given["note"] = form.get("note", [""])[0].replace("\r\n", "\n").strip()
    given["gold"] = form.get("gold", [])
    try:
        return msgspec.convert(given, CaseChange, strict=False)
    except msgspec.ValidationError as error:
        raise InvalidArgument(f"A field of the form won't do: {error}.", field="form") from error
