"""Signing in with a key, and out again. Source: decision 0110."""

from typing import Any
from urllib.parse import parse_qs

from litestar import Response, get, post
from litestar.datastructures import Cookie
from litestar.di import NamedDependency
from litestar.response import Redirect

from api.callers import NEEDS_NOTHING, Callers
from api.parts import Parts
from api.routes.access import AnyRequest
from api.routes.bodies import read_limited
from api.sessions import COOKIE, HOURS
from api.web.frame import PAGE, render

_MAX_FORM_BYTES = 8_192


@get("/sign-in", opt={**NEEDS_NOTHING, **PAGE}, include_in_schema=False, sync_to_thread=False)
def sign_in_page(request: AnyRequest) -> Response[str]:
    return render(request, "sign_in.html.j2", caller=None, target="/", refused=False)


@post("/sign-in", opt={**NEEDS_NOTHING, **PAGE}, include_in_schema=False, status_code=200)
async def sign_in(
    request: AnyRequest, parts: NamedDependency[Parts], callers: NamedDependency[Callers]
) -> Response[Any]:
    """Exchange a key for a session; on to the page that was wanted. A wrong key gets the form again, whatever is wrong with it."""
    form = parse_qs((await read_limited(request, _MAX_FORM_BYTES)).decode("utf-8", "replace"))
    key, target = (form.get(name, [""])[0].strip() for name in ("key", "target"))
    caller = await callers.with_key({"authorization": f"Bearer {key}"}) if key else None
    if caller is None:
        return render(request, "sign_in.html.j2", caller=None, status=401, target=own_path(target), refused=True)
    reply = Redirect(own_path(target), status_code=303)
    if parts.sessions.are_kept:
        reply.cookies.append(_cookie(request, parts.sessions.begin(caller.access.key_id), HOURS * 3_600))
    return reply


@post("/sign-out", opt={**NEEDS_NOTHING, **PAGE}, include_in_schema=False, status_code=303)
async def sign_out(request: AnyRequest) -> Redirect:
    reply = Redirect("/", status_code=303)
    reply.cookies.append(_cookie(request, "", 0))
    return reply


def own_path(target: str) -> str:
    """A path of this server; "/" for what leads elsewhere."""
    leads_here = target.startswith("/") and not target.startswith("//") and "\\" not in target
    return target if leads_here and target.isprintable() else "/"


def _cookie(request: AnyRequest, value: str, max_age_s: int) -> Cookie:
    secure = request.scope["scheme"] == "https"
    return Cookie(COOKIE, value=value, max_age=max_age_s, httponly=True, samesite="strict", secure=secure)
