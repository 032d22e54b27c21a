"""GET /api/figures: the stored series with the snapshot's age."""

import msgspec
from msgspec import structs

from shared.settings import AlertSettings
from shared.types.figures import Figures
from tests import factories
from tests.contract.http.site import LEAVE, Site
from tests.patience import PATIENCE_S

DAY_MS = 86_400_000


def test_today_is_told_with_the_age_of_its_snapshot_and_what_is_past_its_threshold(site: Site) -> None:
    published_at_ms = site.now_ms() - 40 * DAY_MS
    factories.publish(site.layout, (LEAVE,), vectors=site.vectors, embedder=site.embedder, now_ms=published_at_ms)
    site.with_the_real_agent()
    site.settings = structs.replace(site.settings, alerts=AlertSettings(snapshot_age_days=30.0))
    with site.client() as client:
        answer = client.post("/api/runs", json={"question": "员工有几天年假？"}).json()
        site.telemetry.flush(timeout_s=PATIENCE_S)
        found = msgspec.json.decode(client.get("/api/figures", params={"days": 3}).content, type=Figures)
        refused = [client.get("/api/figures", params={"days": days}).status_code for days in (0, 367)]
    today = found.days[-1]
    assert (today.runs, today.retrievals_per_run) == (1, answer["usage"]["tool_calls"])
    assert today.citations["supported"] >= 1
    assert today.snapshot_age_days is not None
    assert 39.9 < today.snapshot_age_days < 40.1
    assert {"run", "search_embed", "tool_search_blocks"} <= {step.step for step in today.steps}
    assert [(alert.day, alert.figure) for alert in found.alerts] == [(today.day, "snapshot_age_days")]
    assert refused == [400, 400]
