"""A process's telemetry from its settings."""

from shared.blobs import Blobs
from shared.credentials import secret_values
from shared.layout import Layout
from shared.settings import Settings
from shared.telemetry.export import open_exporters
from shared.telemetry.setup import Telemetry


def open_telemetry(settings: Settings, layout: Layout) -> Telemetry:
    """Recording from now on; sent on as well where the settings name a receiver."""
    secrets = secret_values(settings)
    return Telemetry(
        database=layout.traces,
        artifacts=layout.artifacts,
        settings=settings.trace,
        secrets=secrets,
        exporters=open_exporters(settings.otlp, settings.langfuse, artifacts=Blobs(layout.artifacts), secrets=secrets),
    )
