"""Which kinds of "again" a run allows, and the one that asks it anew. For whoever may read the run."""

import asyncio

from litestar import get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from api import rerun as again
from api.desk import Ask, record_unless_gone
from api.parts import Parts
from api.routes.access import AnyRequest, access_of, caller_of
from shared.access import Access
from shared.ids import RunId
from shared.types.again import Audit, Rerun, RerunWanted
from shared.types.runs import RunRecord


@get("/{run_id:str}/audit")
async def audit_run(request: AnyRequest, parts: NamedDependency[Parts], run_id: FromPath[str]) -> Audit:
    """Which versions took part; which of audit, evidence, replay and rerun are possible now, and why the others are not."""
    access = access_of(request)
    record = await asyncio.to_thread(parts.telemetry.run_record, RunId(run_id), access)
    trace = await asyncio.to_thread(parts.telemetry.run_trace, RunId(run_id), access)
    return await again.audit(parts, record, trace, access)


@post("/{run_id:str}/rerun", status_code=200)
async def rerun_run(
    request: AnyRequest, parts: NamedDependency[Parts], run_id: FromPath[str], data: JSONBody[RerunWanted]
) -> Rerun:
    """Ask the question again, some times: same snapshot, scope, wording, path and limits; how many pass, how they fail, how often it flips.

    Costs what asking costs. Closing the connection ends the run that is under way; those before it stay.
    """
    access = access_of(request)
    record = await asyncio.to_thread(parts.telemetry.run_record, RunId(run_id), access)

    async def asking(ask: Ask, mine: Access) -> RunRecord:
        return await record_unless_gone(await parts.desk.begin(ask, mine), request.receive)

    return await again.rerun(parts, record, data, access=access, limits=caller_of(request).limits, asking=asking)
