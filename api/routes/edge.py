"""Who may come in at all: the key, the Host header, the Origin of browsers. Before any route.

Without a key only loopback is bound, and whoever reaches it is the owner. Two things could still bring a stranger in through
the owner's own browser: a name that resolves to 127.0.0.1 (DNS rebinding: the Host header shows it) and a page of another
origin that sends requests here (the Origin and Sec-Fetch headers show it).
"""

import secrets
from collections.abc import Mapping
from typing import cast
from urllib.parse import parse_qsl, urlsplit

from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

from api.links import DAYS, BlockLinks
from shared.access import OWNER, Access
from shared.errors import Forbidden, SettingsError, Unauthorized
from shared.loopback import is_loopback
from shared.settings import ApiSettings

OPEN_PATHS = frozenset({"/", "/healthz", "/readyz"})
_WILDCARDS = frozenset({"0.0.0.0", "::", ""})
_CAUTION = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)


def check_binding(settings: ApiSettings) -> None:
    """Raises: SettingsError when others could come in without a key."""
    if settings.api_key is None and not is_loopback(settings.host):
        raise SettingsError(
            f"api.host: {settings.host} can be reached from other machines, and no key is set;"
            " set CITEBOUND_API_API_KEY, or bind 127.0.0.1",
            field="api.host",
        )


def admit(
    settings: ApiSettings, *, method: str, path: str, headers: Mapping[str, str], by_link: bool = False
) -> Access:
    """Let a request in or not; what it may then read. `headers`: names in lower case. `by_link`: its address is signed.

    Raises: Unauthorized, Forbidden.
    """
    host = headers.get("host", "")
    _check_host(settings, host)
    _check_origin(method, host, headers)
    if not (path in OPEN_PATHS or (by_link and method == "GET") or brings_key(settings, headers)):
        raise Unauthorized(
            "This server wants its key as a bearer token, and none or a wrong one was given."
            f" A link to a block opens it without a key for {DAYS} days: ask again for a new one."
        )
    return OWNER


def brings_key(settings: ApiSettings, headers: Mapping[str, str]) -> bool:
    """Whether the caller holds the key, or none is demanded. `headers`: names in lower case."""
    if settings.api_key is None:
        return True
    scheme, _, given = headers.get("authorization", "").partition(" ")
    return scheme.lower() == "bearer" and secrets.compare_digest(given.strip().encode(), settings.api_key.encode())


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


class Edge(ASGIMiddleware):
    """`admit` for every request."""

    scopes = (ScopeType.HTTP,)

    def __init__(self, settings: ApiSettings, links: BlockLinks) -> None:
        self._settings = settings
        self._links = links

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        request = cast(HTTPScope, scope)
        query = dict(parse_qsl(request["query_string"].decode("latin-1")))
        access = admit(
            self._settings,
            method=request["method"],
            path=request["path"],
            headers=headers,
            by_link=self._links.opens(request["path"], query),
        )
        scope["state"]["access"] = access
        await next_app(scope, receive, send)
