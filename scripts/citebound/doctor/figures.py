"""Whether yesterday's and today's figures are past their thresholds."""

from collections.abc import Iterator
from contextlib import closing

from scripts.citebound.doctor.check import Check
from shared.catalog.db import open_database
from shared.catalog.history import History
from shared.clock import now_ms
from shared.layout import Layout
from shared.settings import AlertSettings
from shared.telemetry.figures import read_figures


def figures(settings: AlertSettings, layout: Layout) -> Iterator[Check]:
    """Reads only. The catalog is there."""
    with closing(open_database(layout.catalog)) as db:
        found = read_figures(
            layout.traces,
            days=2,
            now_ms=now_ms(),
            alerts=settings,
            library=History(db),
        )
    for alert in found.alerts:
        yield Check(
            name="figures",
            state="note",
            detail=f"{alert.day}: {alert.figure} is {alert.value:.3g}, more than {alert.threshold:g}",
            remedy=f"./scripts/run figures\nor put up with more: alerts.{alert.figure} in the settings",
        )
    if not found.alerts:
        runs = sum(day.runs for day in found.days)
        yield Check(name="figures", state="ok", detail=f"{runs} runs since yesterday, nothing past its threshold")
