"""Which run is meant when none is named."""

from scripts.citebound.api import Api
from scripts.citebound.failure import CommandFailed
from shared.types.traces import RunSummary


def last_run(api: Api) -> str:
    """Raises: CommandFailed when there is none."""
    newest = api.get("/api/runs", list[RunSummary], limit="1")
    if not newest:
        raise CommandFailed("nothing has been asked yet", remedy='./scripts/run ask "…"', error="not_found")
    return newest[0].run_id
