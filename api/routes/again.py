"""Which kinds of "again" a run allows, and the one that asks it anew. For whoever may read the run."""

import asyncio
from collections.abc import Callable
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.openapi import ResponseSpec
from litestar.params import FromPath, JSONBody

from api import rerun as again
from api.desk import Ask
from api.live import Live
from api.parts import Parts
from api.routes.accepting import FORMS, preferred
from api.routes.access import AnyRequest, access_of, caller_of
from api.routes.streams import rerun_events
from api.running import record_unless_gone
from shared.access import Access
from shared.ids import RunId
from shared.types.again import Audit, Once, Rerun, RerunWanted
from shared.types.runs import RunRecord


@get("/{run_id:str}/audit")
async def audit_run(request: AnyRequest, parts: NamedDependency[Parts], run_id: FromPath[str]) -> Audit:
    """Which versions took part; which of audit, evidence, replay and rerun are possible now, and why the others are not."""
    access = access_of(request)
    record = await asyncio.to_thread(parts.telemetry.run_record, RunId(run_id), access)
    trace = await asyncio.to_thread(parts.telemetry.run_trace, RunId(run_id), access)
    return await again.audit(parts, record, trace, access)


@post(
    "/{run_id:str}/rerun",
    status_code=200,
    responses={200: ResponseSpec(data_container=Rerun, description="how it came out, or events")},
)
async def rerun_run(
    request: AnyRequest, parts: NamedDependency[Parts], run_id: FromPath[str], data: JSONBody[RerunWanted]
) -> Response[Any]:
    """Ask the question again, some times: same snapshot, scope, wording, path and limits; how many pass, how they fail, how often it flips.

    Costs what asking costs. With `Accept: text/event-stream` each time as it ends (`once`), then all of it (`rerun`).
    Closing the connection ends the run that is under way; those before it stay.
    """
    access, limits = access_of(request), caller_of(request).limits
    record = await asyncio.to_thread(parts.telemetry.run_record, RunId(run_id), access)

    async def carried_out(asking: again.Asking, told: Callable[[Once], None]) -> Rerun:
        return await again.rerun(parts, record, data, access=access, limits=limits, asking=asking, told=told)

    async def streamed(ask: Ask, mine: Access) -> RunRecord:
        run = await parts.desk.begin(ask, mine)
        try:
            return await run.record()
        finally:
            run.cancel()  # no more than a word to a run that is over

    async def awaited(ask: Ask, mine: Access) -> RunRecord:
        return await record_unless_gone(await parts.desk.begin(ask, mine), request.receive)

    if preferred(request.headers.get("accept", ""), FORMS) == "text/event-stream":
        return Live(
            lambda tell: rerun_events(lambda told: carried_out(streamed, told), tell, heartbeat_s=parts.heartbeat_s)
        )
    return Response(await carried_out(awaited, lambda _: None))
