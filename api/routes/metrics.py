"""Figures of this process and of the library, for Prometheus."""

from litestar import Response, get
from litestar.di import NamedDependency

from api.callers import NEEDS_ADMIN
from api.parts import Parts
from shared.catalog.imports import count_imports
from shared.catalog.snapshots import active_snapshot_id, get_snapshot
from shared.telemetry.metrics import MEDIA_TYPE, Live

_WAITING = ("queued", "running", "pausing", "cancelling")  # the worker has still something to do


@get("/metrics", opt=NEEDS_ADMIN, sync_to_thread=True)
def metrics(parts: NamedDependency[Parts]) -> Response[bytes]:
    """In Prometheus' text format. For admins: how many ask, and how it ends, is nobody else's business."""
    with parts.catalog.open() as db:
        imports = count_imports(db)
        active = active_snapshot_id(db)
        snapshot = None if active is None else get_snapshot(db, active)
    published_at_ms = None if snapshot is None else snapshot.published_at_ms
    live = Live(
        running=parts.desk.count(),
        snapshot_state=None if snapshot is None else snapshot.state,
        snapshot_age_s=None if published_at_ms is None else max(parts.now_ms() - published_at_ms, 0) / 1000,
        imports=imports,
        waiting_imports=sum(imports.get(state, 0) for state in _WAITING),
        dropped=parts.telemetry.dropped(),
        exported=parts.telemetry.exported(),
    )
    return Response(parts.telemetry.metrics.text(live), headers={"content-type": MEDIA_TYPE})
