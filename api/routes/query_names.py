"""A query parameter that an address doesn't know is refused with its name: ignored, ?limt=5 would get 50 without a word.

For all of /api, by what the routes declare. Not for /v1, whose clients send what other servers read (Azure's api-version), nor for
pages: a link that was passed on comes with what messengers and search engines append to it.
"""

from collections.abc import Iterable
from typing import Final, cast
from urllib.parse import parse_qsl

from litestar import Litestar
from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.routes import HTTPRoute
from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send

from api.routes.accepting import preferred
from shared.errors import InvalidArgument

ALSO_READS: Final = "also_reads"  # in the `opt` of a handler: names that it reads by hand
IS_A_PAGE: Final = "is_a_page"  # likewise: whether it is one for whoever wants text/html
_PREFIX = "/api/"
_FORMS = ("application/json", "text/html")


class QueryNames(ASGIMiddleware):
    """Behind the door: who may not come in is told nothing of an address."""

    scopes = (ScopeType.HTTP,)

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], frozenset[str]] | None = None

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        request = cast(HTTPScope, scope)
        if request["query_string"] and request["path"].startswith(_PREFIX):
            self._check(request)
        await next_app(scope, receive, send)

    def _check(self, request: HTTPScope) -> None:
        if self._known is None:
            self._known = _names_of(request["litestar_app"])
        known = self._known.get((request["path_template"], request["method"]))
        opt = request["route_handler"].opt
        if known is None or (opt.get(IS_A_PAGE) and wants_page(request)):
            return
        given = parse_qsl(request["query_string"].decode("latin-1"), keep_blank_values=True)
        check_names((name for name, _ in given), known=known | frozenset(cast(Iterable[str], opt.get(ALSO_READS, ()))))


def check_names(given: Iterable[str], *, known: frozenset[str]) -> None:
    """Raises: InvalidArgument naming the first unknown one and all that are known."""
    unknown = next((name for name in given if name not in known), None)
    if unknown is not None:
        there = f"it takes {', '.join(sorted(known))}" if known else "it takes none"
        raise InvalidArgument(f"This address knows no query parameter {unknown!r}; {there}.", field=unknown)


def _names_of(app: Litestar) -> dict[tuple[str, str], frozenset[str]]:
    """By path and method, of every route that has handlers of ours."""
    return {
        (route.path_format, method): frozenset(one.field_alias for one in model.expected_query_params)
        for route in app.routes
        if isinstance(route, HTTPRoute)
        for method, (_, model) in route.route_handler_map.items()
        if method != "OPTIONS"
    }


def wants_page(request: HTTPScope) -> bool:
    accept = next((value for name, value in request["headers"] if name == b"accept"), b"")
    return preferred(accept.decode("latin-1"), _FORMS) == "text/html"
