"""What each day's runs came to, and what is past its threshold."""

from typing import Annotated

from litestar import get
from litestar.di import NamedDependency
from litestar.params import QueryParameter

from api.callers import NEEDS_ADMIN
from api.parts import Parts
from shared.catalog.history import History
from shared.telemetry.figures import read_figures
from shared.types.figures import Figures


@get("/api/figures", opt=NEEDS_ADMIN, sync_to_thread=True, tags=["figures"])
def figures(parts: NamedDependency[Parts], days: Annotated[int, QueryParameter(ge=1, le=366)] = 30) -> Figures:
    """UTC days, oldest first, today last. Thresholds are the settings' [alerts]."""
    return figures_of(parts, days)


def figures_of(parts: Parts, days: int) -> Figures:
    """Blocking. Raises: StorageError."""
    with parts.catalog.open() as db:
        return read_figures(
            parts.telemetry.database,
            days=days,
            now_ms=parts.now_ms(),
            alerts=parts.settings.alerts,
            library=History(db),
        )
