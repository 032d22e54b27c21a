"""Figures of this process and of the library, for Prometheus."""

from litestar import Response, get
from litestar.di import NamedDependency

from api.callers import NEEDS_ADMIN
from api.condition import moment
from api.parts import Parts
from shared.telemetry.metrics import MEDIA_TYPE


@get("/metrics", opt=NEEDS_ADMIN, sync_to_thread=True)
def metrics(parts: NamedDependency[Parts]) -> Response[bytes]:
    """In Prometheus' text format. For admins: how many ask, and how it ends, is nobody else's business."""
    return Response(parts.telemetry.metrics.text(moment(parts)), headers={"content-type": MEDIA_TYPE})
