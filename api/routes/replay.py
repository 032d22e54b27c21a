"""The same queries on the same snapshot: does a run still see what it saw?"""

import asyncio

from litestar import post
from litestar.di import NamedDependency
from litestar.params import FromPath

from api.parts import Parts
from api.routes.access import AnyRequest, access_of
from api.tools.replay import replay
from shared.errors import NotFound
from shared.ids import RunId
from shared.telemetry.setup import Telemetry
from shared.types.replays import Replay


@post("/{run_id:str}/replay", status_code=200)
async def replay_run(request: AnyRequest, parts: NamedDependency[Parts], run_id: FromPath[str]) -> Replay:
    """Carry out every tool call of a run again and compare the results byte for byte; what differs is shown, what can't be tried says why.

    For whoever may read the run. Buys the embeddings of its queries once more.
    """
    access = access_of(request)
    record = await asyncio.to_thread(parts.telemetry.run_record, RunId(run_id), access)
    return await replay(
        record, library=parts.library, access=access, kept=lambda sha256: _kept(parts.telemetry, sha256)
    )


def _kept(telemetry: Telemetry, sha256: str) -> bytes | None:
    """A payload as the run's trace kept it: at level full, and only if no secret had to be taken out of it."""
    try:
        return telemetry.artifacts.read(sha256)
    except NotFound:
        return None
