"""Who may come in at all: the key, the Host header, the Origin of browsers. Before any route.

Without a key only loopback is bound, and whoever reaches it is the owner. Two things could still bring a stranger in through
the owner's own browser: a name that resolves to 127.0.0.1 (DNS rebinding: the Host header shows it) and a page of another
origin that sends requests here (the Origin and Sec-Fetch headers show it).
"""

import ipaddress
import secrets
from collections.abc import Mapping
from typing import cast
from urllib.parse import urlsplit

from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

from shared.access import OWNER, Access
from shared.errors import Forbidden, SettingsError, Unauthorized
from shared.settings import ApiSettings

OPEN_PATHS = frozenset({"/healthz", "/readyz"})
_WILDCARDS = frozenset({"0.0.0.0", "::", ""})
_CAUTION = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)


def is_loopback(host: str) -> bool:
    """`host`: an address or a name, without a port and without brackets."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_binding(settings: ApiSettings) -> None:
    """Raises: SettingsError when others could come in without a key."""
    if settings.api_key is None and not is_loopback(settings.host):
        raise SettingsError(
            f"api.host: {settings.host} can be reached from other machines, and no key is set;"
            " set CITEBOUND_API_API_KEY, or bind 127.0.0.1",
            field="api.host",
        )


def admit(settings: ApiSettings, *, method: str, path: str, headers: Mapping[str, str]) -> Access:
    """Let a request in or not; what it may then read. `headers`: names in lower case.

    Raises: Unauthorized, Forbidden.
    """
    host = headers.get("host", "")
    _check_host(settings, host)
    _check_origin(method, host, headers)
    if settings.api_key is not None and path not in OPEN_PATHS:
        _check_key(settings.api_key, headers.get("authorization", ""))
    return OWNER


def _check_host(settings: ApiSettings, host: str) -> None:
    name = _host_name(host)
    if settings.host in _WILDCARDS or is_loopback(name) or name == settings.host.lower():
        return
    raise Forbidden(
        f"This server does not answer for the host {name!r}. Use the address it was started on.", field="Host"
    )


def _check_origin(method: str, host: str, headers: Mapping[str, str]) -> None:
    origin = headers.get("origin")
    if origin is not None:
        if urlsplit(origin).netloc.lower() != host.lower():
            raise Forbidden(f"Requests from pages of {origin} are not allowed.", field="Origin")
        return
    # Browsers leave Origin out of plain GETs. Following a link to a block's page is fine, reading from another page is not.
    if headers.get("sec-fetch-site") in ("cross-site", "same-site"):
        followed_link = headers.get("sec-fetch-mode") == "navigate" and method == "GET"
        if not followed_link:
            raise Forbidden("Requests from pages of other sites are not allowed.", field="Sec-Fetch-Site")


def _check_key(key: str, authorization: str) -> None:
    scheme, _, given = authorization.partition(" ")
    if scheme.lower() != "bearer" or not secrets.compare_digest(given.strip().encode(), key.encode()):
        raise Unauthorized("This server wants its key as a bearer token, and none or a wrong one was given.")


def _host_name(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return host


class Edge(ASGIMiddleware):
    """`admit` for every request, and headers of caution on every reply."""

    scopes = (ScopeType.HTTP,)

    def __init__(self, settings: ApiSettings) -> None:
        self._settings = settings

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}

        async def send_with_caution(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent = list(message["headers"])
                present = {name.lower() for name, _ in sent}
                message["headers"] = [*sent, *(header for header in _CAUTION if header[0] not in present)]
            await send(message)

        request = cast(HTTPScope, scope)
        access = admit(self._settings, method=request["method"], path=request["path"], headers=headers)
        scope["state"]["access"] = access
        await next_app(scope, receive, send_with_caution)
