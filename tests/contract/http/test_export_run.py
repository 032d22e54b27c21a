"""GET /api/runs/{id}/export: the file that `trace --open` shows again."""

import json

import msgspec
import pytest
from msgspec import structs

from shared.access import OWNER
from shared.ids import RunId
from shared.telemetry.redact import REMOVED
from shared.types.runfiles import RunFile
from tests.contract.http.site import Site

KEY_SHAPED = "sk-" + "a1" * 20


@pytest.mark.parametrize("level", ["metadata", "full"])
def test_a_file_holds_record_and_trace_and_the_contents_that_were_kept(site: Site, level: str) -> None:
    site.publish()
    site.with_the_real_agent()
    body = {"question": f"员工有几天年假？我的钥匙是 {KEY_SHAPED}", "trace_level": level}
    with site.client() as client:
        answer = client.post("/api/runs", json=body).json()
        reply = client.get(f"/api/runs/{answer['run_id']}/export")
        trace = client.get(f"/api/runs/{answer['run_id']}/trace").json()
        record = site.telemetry.run_record(RunId(answer["run_id"]), OWNER)
    found = msgspec.json.decode(reply.content, type=RunFile)
    assert reply.headers["content-disposition"] == f'attachment; filename="{answer["run_id"]}.json"'
    assert KEY_SHAPED not in reply.text
    assert found.record.answer.question == f"员工有几天年假？我的钥匙是 {REMOVED}"
    assert found.record.answer.citations == record.answer.citations
    assert (
        structs.replace(found.record, answer=record.answer, retrieval=record.retrieval, ledger=record.ledger) == record
    )
    assert json.loads(reply.content)["trace"] == trace
    assert bool(found.contents) is (level == "full")


def test_what_is_not_the_callers_has_no_file(site: Site) -> None:
    with site.client() as client:
        assert client.get("/api/runs/run_of_nobody/export").status_code == 404
