"""The frame of every page: language, theme, navigation, the policy that browsers hold it to. Text of documents is only ever text."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, cast
from urllib.parse import quote, urlencode

import jinja2
from litestar import Response
from litestar.datastructures import Cookie

from api.callers import Caller
from api.problem import Problem
from api.routes.access import AnyRequest
from api.routes.languages import Lang, language_of
from api.sessions import cookie
from api.web.words import WORDS
from shared.access import Permission
from shared.version import APP_VERSION

Theme = Literal["auto", "light", "dark"]
PAGE: Final = {"page": True}  # in the `opt` of a route for people: its errors are pages too

# Everything from our own origin, in files of its own; nothing inline, nothing from documents runs or loads.
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    )
)
_LANG_COOKIE, _THEME_COOKIE = "citebound_lang", "citebound_theme"
_FIRST_MS, _LAST_MS = 0, 253_402_300_799_000  # 1970 to 9999
_YEAR_S = 365 * 86_400
_TABS: tuple[tuple[str, str, Permission], ...] = (  # name, address, who sees it
    ("ask", "/", "read"),
    ("library", "/library", "read"),
    ("traces", "/traces", "read"),
    ("prompts", "/prompts", "admin"),
    ("health", "/health", "admin"),
    ("settings", "/settings", "admin"),
)

_SOURCES = {path.name: path.read_text("utf-8") for path in Path(__file__).with_name("templates").iterdir()}
_templates = jinja2.Environment(
    loader=jinja2.DictLoader(_SOURCES),  # read once: nothing may block where pages are rendered
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def render(
    request: AnyRequest,
    template: str,
    *,
    caller: Caller | None,
    tab: str = "",
    status: int = 200,
    headers: dict[str, str] | None = None,
    **context: Any,
) -> Response[str]:
    """A page in the reader's language. `caller` None: nobody is signed in."""
    lang = language(request)
    page = _templates.get_template(template).render(
        lang=lang,
        html_lang="zh-Hans" if lang == "zh" else "en",
        theme=_theme(request),
        words=WORDS[lang],
        tabs=[(name, address) for name, address, needs in _TABS if caller and caller.may(needs)],
        tab=tab,
        caller=caller,
        may_write=caller is not None and caller.may("write"),
        switch=_switch(request, "en" if lang == "zh" else "zh"),
        other="en" if lang == "zh" else "zh-Hans",
        version=APP_VERSION,
        **context,
    )
    asked = request.query_params.get("lang")
    cookies = [_preference(_LANG_COOKIE, lang)] if asked else []
    return Response(
        page,
        status_code=status,
        media_type="text/html",
        headers={
            "Content-Security-Policy": CONTENT_SECURITY_POLICY,
            "Cache-Control": "no-store",
            "Referrer-Policy": "same-origin",  # with none at all browsers send our own forms as from the origin "null"
            "Vary": "Accept-Language, Cookie",
            **(headers or {}),
        },
        cookies=cookies,
    )


def language(request: AnyRequest) -> Lang:
    """What the address asks for, else what was chosen before, else the browser's."""
    chosen = request.query_params.get("lang") or cookie(request.headers, _LANG_COOKIE)
    return language_of(chosen or None, request.headers.get("accept-language", ""))


def said_problem(problem: Problem, lang: Lang) -> tuple[str, str]:
    """A problem in the reader's language: what, and what to do. The server's own words where there are no better ones."""
    known = WORDS[lang]["problems"].get(problem.code)
    return (known, problem.detail) if known else (problem.title, problem.detail)


def _theme(request: AnyRequest) -> Theme:
    chosen = cookie(request.headers, _THEME_COOKIE)
    return cast(Theme, chosen) if chosen in ("light", "dark") else "auto"


def _preference(name: str, value: str) -> Cookie:
    return Cookie(name, value=value, max_age=_YEAR_S, samesite="strict")


def _switch(request: AnyRequest, other: str) -> str:
    """This very page in the other language."""
    kept = [(name, value) for name, value in request.query_params.multi_items() if name != "lang"]
    return f"?{urlencode([*kept, ('lang', other)])}"


def _when(at_ms: int) -> str:
    """For machines; scripts show it in the reader's own time zone."""
    return _moment(at_ms).strftime("%Y-%m-%dT%H:%M:%SZ")


def _day(at_ms: int) -> str:
    return _moment(at_ms).strftime("%Y-%m-%d %H:%M")


def _moment(at_ms: int) -> datetime:
    """A file that a person opened may name any time: what no calendar has is its nearest end."""
    return datetime.fromtimestamp(min(max(at_ms, _FIRST_MS), _LAST_MS) / 1000, UTC)


def _number(value: int) -> str:
    return f"{value:,}"


def _block_path(block_id: str, snapshot_id: str) -> str:
    return f"/api/blocks/{quote(block_id, safe='.')}?{urlencode({'snapshot': snapshot_id})}"


_FILTERS: dict[str, Any] = {"when": _when, "day": _day, "number": _number, "block_path": _block_path}
_templates.filters.update(_FILTERS)
