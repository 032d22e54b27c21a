"""Settings: what is set and from where, connecting the providers, trying them, starting again. For admins."""

from litestar import Response, get
from litestar.di import NamedDependency
from msgspec import to_builtins

from api.callers import NEEDS_ADMIN
from api.parts import Parts
from api.routes.access import AnyRequest, caller_of
from api.routes.settings import view
from api.web.frame import PAGE, render
from shared.credentials import variable_of
from shared.providers.known import CHAT, EMBEDDING, RERANK

_PRESETS = {"chat": CHAT, "embedding": EMBEDDING, "rerank": RERANK}


@get("/settings", opt={**NEEDS_ADMIN, **PAGE}, include_in_schema=False)
async def settings_page(request: AnyRequest, parts: NamedDependency[Parts]) -> Response[str]:
    """Raises: SettingsError when what is set by now can't be read."""
    seen = await view(parts)
    overview = seen.overview
    return render(
        request,
        "settings.html.j2",
        caller=caller_of(request),
        tab="settings",
        overview=overview,
        connections={one.part: one for one in overview.connections},
        can_restart=seen.can_restart,
        started_at_ms=seen.started_at_ms,
        presets=_PRESETS,
        presets_data=to_builtins(_PRESETS),
        variables={
            part: [variable_of(f"{part}.{field}") for field in ("base_url", "model", "api_key")] for part in _PRESETS
        },
        changed=[one for one in overview.settings if one.origin != "default"],
    )
