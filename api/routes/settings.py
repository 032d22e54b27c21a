"""Settings: what is set and from where, connecting providers, trying them, starting again with what was set. For admins.

No reply holds a character of any secret. Source: spec/07 "Native API"; decisions 0129, 0130.
"""

import asyncio
from typing import Annotated

from litestar import Router, get, post, put
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody
from msgspec import Meta, Struct, structs

from api.callers import NEEDS_ADMIN
from api.parts import Parts
from shared.errors import Conflict
from shared.providers.check import check_part
from shared.providers.connections import Overview, Wanted
from shared.providers.verdict import PARTS, Part, Verdict
from shared.providers.words import Told, told
from shared.settings_shown import without_userinfo


class SettingsView(Struct, frozen=True, kw_only=True):
    """`started_at_ms`: of this process; another one after starting again. `can_restart`: whether POST …/restart does anything here."""

    overview: Overview
    started_at_ms: int
    can_restart: bool


class CheckBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`wanted` for `part`: tried without being kept. Else what is set by now."""

    parts: Annotated[tuple[Part, ...], Meta(min_length=1, max_length=3)] = PARTS
    wanted: Wanted | None = None


class Checked(Struct, frozen=True, kw_only=True):
    verdict: Verdict
    said: Told


class Restarting(Struct, frozen=True, kw_only=True):
    """The process that goes; GET /api/settings tells another `started_at_ms` once the next one answers."""

    started_at_ms: int


@get("/")
async def get_settings(parts: NamedDependency[Parts]) -> SettingsView:
    return await view(parts)


@put("/{part:str}")
async def connect(parts: NamedDependency[Parts], part: FromPath[Part], data: JSONBody[Wanted]) -> SettingsView:
    """Keep how a part shall be connected. It counts from the next start on; 409 where the environment decides or no key can be kept."""
    await asyncio.to_thread(parts.connections.save, part, data)
    return await view(parts)


@post("/check", status_code=200)
async def check(parts: NamedDependency[Parts], data: JSONBody[CheckBody]) -> list[Checked]:
    """Call the providers once, for real, and say what became of it. A provider's failure is an answer, not an error."""
    if data.wanted is None:
        settings = await asyncio.to_thread(parts.connections.now)
    else:
        settings = await asyncio.to_thread(parts.connections.with_wanted, data.parts[0], data.wanted)
    found: list[Checked] = []
    for part in data.parts:
        async with parts.checks:
            verdict = await check_part(settings, part)
        found.append(Checked(verdict=shown(verdict), said=told(verdict)))
    return found


@post("/restart", status_code=202)
async def restart(parts: NamedDependency[Parts]) -> Restarting:
    """Start the service again with what is set by now. Answers that are being written break off. Refused for what it couldn't start with."""
    if parts.start_again is None:
        raise Conflict("This process was started by itself. Stop it and start it again where it was started.")
    wanted = await asyncio.to_thread(parts.connections.check_start)
    await asyncio.to_thread(parts.prompts.usable, wanted.prompts.bundle)
    parts.start_again()
    return Restarting(started_at_ms=parts.started_at_ms)


async def view(parts: Parts) -> SettingsView:
    overview = await asyncio.to_thread(parts.connections.overview)
    return SettingsView(overview=overview, started_at_ms=parts.started_at_ms, can_restart=parts.start_again is not None)


def shown(verdict: Verdict) -> Verdict:
    """Without a user and a password in the address."""
    return (
        verdict if verdict.base_url is None else structs.replace(verdict, base_url=without_userinfo(verdict.base_url))
    )


settings = Router(
    "/api/settings", route_handlers=[get_settings, connect, check, restart], tags=["settings"], opt=NEEDS_ADMIN
)
