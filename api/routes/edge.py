"""Who may come in at all, and how far: the key, the Host header, the Origin of browsers. Before any route.

Where no key is demanded only loopback is bound, and whoever reaches it without one is the owner. Two things could still bring a stranger in through
the owner's own browser: a name that resolves to 127.0.0.1 (DNS rebinding: the Host header shows it) and a page of another
origin that sends requests here (the Origin and Sec-Fetch headers show it).
"""

from collections.abc import Callable, Mapping
from typing import Protocol, cast
from urllib.parse import parse_qsl, urlsplit

from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.routes import HTTPRoute
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

from api.callers import NEEDS, Caller, Callers, bearer, unauthorized
from api.links import DAYS
from shared.access import Permission
from shared.errors import Forbidden, SettingsError
from shared.keys import demands_key
from shared.loopback import is_loopback
from shared.settings import ApiSettings

_ALIVE = "/healthz"
_DESCRIPTION = "/openapi"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_WILDCARDS = frozenset({"0.0.0.0", "::", ""})
_CAUTION = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)


def check_binding(settings: ApiSettings) -> None:
    """Raises: SettingsError when others could come in without a key."""
    if not (demands_key(settings) or is_loopback(settings.host)):
        raise SettingsError(
            f"api.host: {settings.host} can be reached from other machines, and no key is demanded;"
            " set CITEBOUND_API_API_KEY or CITEBOUND_API_REQUIRE_KEY, or bind 127.0.0.1",
            field="api.host",
        )


def check_way(settings: ApiSettings, *, method: str, headers: Mapping[str, str]) -> None:
    """Whether a request came by a way that its sender chose himself. `headers`: names in lower case. Raises: Forbidden."""
    host = headers.get("host", "")
    _check_host(settings, host)
    _check_origin(method, host, headers)


def needed(method: str, path: str, opt: Mapping[str, object]) -> Permission | None:
    """What it takes to call a route, None = nothing. `opt`: of its handler and routers."""
    if path.startswith(_DESCRIPTION):
        return "read"
    permission = cast(Permission | None, opt.get(NEEDS, "admin"))
    return "read" if method == "OPTIONS" and permission is not None else permission


def check_permission(caller: Caller, permission: Permission) -> None:
    """Raises: Forbidden, in words that do not depend on what was asked for."""
    if not caller.may(permission):
        raise Forbidden(
            f"This takes a key with the permission {permission}; the one that was given has {caller.access.permission}."
        )


def check_cookie_s_way(caller: Caller, *, method: str, headers: Mapping[str, str]) -> None:
    """A cookie comes along by itself: what changes something with it must say that one of our own pages sent it. Raises: Forbidden.

    Every browser of today says so (Origin, which `check_way` has compared); what says nothing can use a bearer token.
    """
    if caller.signed_in and method not in _SAFE and "origin" not in headers:
        raise Forbidden("With the cookie of a browser only pages of this server may change something.", field="Origin")


def _check_host(settings: ApiSettings, host: str) -> None:
    name = _host_name(host)
    if name is not None and (settings.host in _WILDCARDS or is_loopback(name) or name == settings.host.lower()):
        return
    raise Forbidden(
        f"This server does not answer for the host {host!r}. Use the address it was started on.", field="Host"
    )


def _check_origin(method: str, host: str, headers: Mapping[str, str]) -> None:
    origin = headers.get("origin")
    if origin is not None:
        if _authority(origin) != host.lower():
            raise Forbidden(f"Requests from pages of {origin} are not allowed.", field="Origin")
        return
    # Browsers leave Origin out of plain GETs. Following a link to a block's page is fine, reading from another page is not.
    if headers.get("sec-fetch-site") in ("cross-site", "same-site"):
        followed_link = headers.get("sec-fetch-mode") == "navigate" and method == "GET"
        if not followed_link:
            raise Forbidden("Requests from pages of other sites are not allowed.", field="Sec-Fetch-Site")


def _authority(origin: str) -> str | None:
    """host:port of an origin; None for what is none."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


def _host_name(host: str) -> str | None:
    """Without the port; None for what is no host and port."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port  # raises for a port that is none
        return (parts.hostname or "").lower()
    except ValueError:
        return None


async def add_caution(message: Message, _scope: Scope) -> None:
    """Headers of caution on every reply, those of the framework's own errors and of the edge's refusals included."""
    if message["type"] == "http.response.start":
        sent = list(message["headers"])
        present = {name.lower() for name, _ in sent}
        message["headers"] = [*sent, *(header for header in _CAUTION if header[0] not in present)]


async def name_methods(message: Message, scope: Scope) -> None:
    """Allow of an OPTIONS request. The framework names only the method whose handler came first to an address."""
    if message["type"] != "http.response.start" or scope["type"] != ScopeType.HTTP or scope["method"] != "OPTIONS":
        return
    address = cast(Mapping[str, object], scope).get("path_template")  # of a route
    for route in scope["litestar_app"].routes:
        if isinstance(route, HTTPRoute) and route.path_format == address:
            others = [header for header in message["headers"] if header[0].lower() != b"allow"]
            message["headers"] = [*others, (b"allow", ", ".join(sorted(route.methods)).encode())]


class Door(Protocol):
    """By which settings requests come in, and who knows whom they come from."""

    @property
    def settings(self) -> ApiSettings: ...
    @property
    def callers(self) -> Callers: ...


class Edge(ASGIMiddleware):
    """Finds the caller of every request and lets him in or not."""

    scopes = (ScopeType.HTTP,)

    def __init__(self, door: Callable[[], Door]) -> None:
        self._door = door

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        request = cast(HTTPScope, scope)
        method, path = request["method"], request["path"]
        door = self._door()
        check_way(door.settings, method=method, headers=headers)
        query = dict(parse_qsl(request["query_string"].decode("latin-1")))
        permission = needed(method, path, scope["route_handler"].opt)
        caller = await _admit(door.callers, method, path, headers, query, open_to_all=permission is None)
        check_cookie_s_way(caller, method=method, headers=headers)
        if permission is not None:
            check_permission(caller, permission)
        scope["state"]["caller"] = caller
        await next_app(scope, receive, send)


async def _admit(
    callers: Callers, method: str, path: str, headers: Mapping[str, str], query: Mapping[str, str], *, open_to_all: bool
) -> Caller:
    """Raises: Unauthorized, RateLimited, StorageError."""
    if path == _ALIVE:  # must answer whatever is locked or broken
        return callers.stranger
    caller = await callers.with_key(headers)
    if caller is None and bearer(headers) is None:
        caller = await callers.with_session(headers)
    if caller is None and method == "GET":
        caller = await callers.with_link(path, query)
    if caller is None and open_to_all:
        caller = callers.stranger
    if caller is None:
        raise unauthorized(headers, link_days=DAYS)
    return caller
