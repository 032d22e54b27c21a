"""GET /metrics, read as Prometheus reads it."""

from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from shared.catalog.db import open_database
from shared.catalog.imports import create_import
from shared.clock import now_ms
from shared.types.imports import ImportRequest
from tests.contract.http.leaking import a_key, an_import
from tests.contract.http.site import LEAVE, Site

Labels = tuple[tuple[str, str], ...]


def scraped(client: Any) -> dict[tuple[str, Labels], float]:
    """Value by sample name and labels."""
    reply = client.get("/metrics")
    assert reply.status_code == 200, reply.text
    assert reply.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(reply.text)
        for sample in family.samples
    }


def of(found: dict[tuple[str, Labels], float], name: str, **labels: str) -> float:
    return found[name, tuple(sorted(labels.items()))]


def test_a_run_is_counted_with_its_calls_tokens_citations_and_times(site: Site) -> None:
    site.publish()
    site.with_the_real_agent()
    with site.client() as client:
        answer = client.post("/api/runs", json={"question": "员工有几天年假？"}).json()
        found = scraped(client)
    assert of(found, "citebound_runs_total", status="complete", reason=answer["termination_reason"]) == 1
    assert of(found, "citebound_retrievals_total") == answer["usage"]["tool_calls"] > 0
    assert of(found, "citebound_tokens_total", kind="embedding") == answer["usage"]["embedding_tokens"] > 0
    assert of(found, "citebound_tokens_total", kind="chat_input") == answer["usage"]["chat_input_tokens"]
    assert of(found, "citebound_citations_total", verdict="supported") >= 1
    assert of(found, "citebound_step_seconds_count", step="run") == 1
    for step in ("search_embed", "search_dense", "search_keyword", "search_fusion", "tool_search_blocks"):
        assert of(found, "citebound_step_seconds_count", step=step) >= 1
        assert of(found, "citebound_step_seconds_bucket", step=step, le="+Inf") >= 1
    assert of(found, "citebound_runs_under_way") == 0


def test_the_library_and_the_losses_are_in_it(site: Site) -> None:
    with site.client() as client:
        empty = scraped(client)
    site.reopen_telemetry()
    site.publish()
    an_import(site)
    with site.client() as client:
        found = scraped(client)
    assert of(empty, "citebound_snapshot_info", state="none") == 1
    assert ("citebound_snapshot_age_seconds", ()) not in empty
    assert of(found, "citebound_snapshot_info", state="ready") == 1
    assert of(found, "citebound_snapshot_age_seconds") >= 0
    assert of(found, "citebound_imports", state="queued") == of(found, "citebound_import_queue_depth") == 1
    assert of(found, "citebound_traces_dropped_total", kind="spans") == 0
    assert any(name == "citebound_build_info" for name, _ in found)


def test_no_label_says_anything_of_documents_or_questions(site: Site) -> None:
    site.publish()
    site.with_the_real_agent()
    db = open_database(site.layout.catalog)
    create_import(db, ImportRequest(paths=("/秘密/合同.md",)), now_ms=now_ms())
    db.conn.close()
    with site.client() as client:
        client.post("/api/runs", json={"question": "员工有几天年假？"})
        client.post("/api/tools/search_blocks", json={"query": "年假"})
        client.post("/api/tools/search_年假", json={"query": "年假"})
        text = client.get("/metrics").text
    assert text.isascii()
    assert LEAVE.key not in text
    assert "snap_" not in text


@pytest.mark.parametrize(("permission", "status"), [("read", 403), ("write", 403), ("admin", 200)])
def test_where_keys_are_demanded_it_takes_an_admins(site: Site, permission: Any, status: int) -> None:
    site.with_api(require_key=True)
    key = a_key(site, "k", (), permission=permission)
    with site.client() as client:
        assert client.get("/metrics", headers={"Authorization": f"Bearer {key}"}).status_code == status
        assert client.get("/metrics").status_code == 401
