"""Health: how every part is, what helps, and what the days came to. For admins."""

import asyncio
from functools import partial
from typing import Annotated, Any, Final

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import QueryParameter
from msgspec import Struct

from api.callers import NEEDS_ADMIN
from api.parts import Parts
from api.routes.access import AnyRequest, caller_of
from api.routes.figures import figures_of
from api.routes.health import health_of
from api.web.figures import alert_said, step_table, steps, table, views
from api.web.frame import PAGE, language, render
from api.web.quantities import day_said, size
from api.web.words import WORDS
from shared.telemetry.daily import day_of
from shared.telemetry.figures import DAY_MS
from shared.types.health import Condition

RANGES: Final = (7, 30, 90)
_LATELY: Final = 2  # days: an alert of today or yesterday is something to do
_GRAVEST: Final = ("failed", "note", "loading", "ok", "none")


class PartView(Struct, frozen=True, kw_only=True):
    condition: Condition
    said: str
    help: str | None


@get("/health", opt={**NEEDS_ADMIN, **PAGE}, include_in_schema=False)
async def health_page(
    request: AnyRequest,
    parts: NamedDependency[Parts],
    days: Annotated[int, QueryParameter(ge=1, le=366)] = 30,
) -> Response[str]:
    """Raises: StorageError."""
    lang = language(request)
    words = WORDS[lang]["health"]
    health, found = await asyncio.gather(health_of(parts), asyncio.to_thread(figures_of, parts, days))
    alerts = parts.settings.alerts
    lately = {day.day for day in found.days[-_LATELY:]}
    by_gravity = sorted(health.parts, key=lambda one: _GRAVEST.index(one.state))
    has_runs = any(day.runs or day.steps for day in found.days)
    return render(
        request,
        "health.html.j2",
        caller=caller_of(request),
        tab="health",
        now_ms=parts.now_ms(),
        health=health,
        parts=[_part(one, words) for one in by_gravity],
        failed=sum(one.state == "failed" for one in health.parts),
        noted=sum(one.state == "note" for one in health.parts),
        loading=any(one.state == "loading" for one in health.parts),
        alerts=[alert_said(one, lang, words) for one in reversed(found.alerts) if one.day in lately],
        days=days,
        ranges=RANGES,
        first_day=found.days[0].day if len(found.days) < days else None,
        last_day=found.days[-1].day,
        first_shown=day_said(day_of(parts.now_ms() - (days - 1) * DAY_MS), lang),
        last_shown=day_said(day_of(parts.now_ms()), lang),
        least_runs=alerts.least_runs,
        has_runs=has_runs,
        of_runs=views(found, of="runs", days=days, alerts=alerts, lang=lang, words=words) if has_runs else (),
        of_library=views(found, of="library", days=days, alerts=alerts, lang=lang, words=words),
        steps=steps(found, days=days, lang=lang, words=words),
        table=table(found, lang=lang),
        step_table=step_table(found, lang=lang),
        day_said=partial(day_said, lang=lang),
    )


def _part(condition: Condition, words: dict[str, Any]) -> PartView:
    key = f"{condition.part}_{condition.code}"
    facts = {
        "named": condition.named or "",
        "free": size(condition.free_bytes or 0),
        "runs": condition.runs or 0,
        "waiting": condition.waiting or 0,
        "dropped": condition.dropped or 0,
    }
    said: str = words["said"][key]
    return PartView(condition=condition, said=said.format(**facts), help=words["help"].get(key))
