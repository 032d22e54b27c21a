"""POST /api/runs/{id}/replay, for whoever asked."""

import json

import msgspec
import pytest

from shared.access import OWNER
from shared.catalog.db import open_database
from shared.catalog.keys import add_key
from shared.clock import now_ms
from shared.errors import NotFound
from shared.types.keys import NewKey
from shared.types.replays import Replay
from shared.types.runs import Answer, RunRecord
from tests.contract.http.site import Site
from tests.factories import a_document
from tests.patience import PATIENCE_S

QUESTION = {"question": "员工有几天年假？"}


def a_key(site: Site, name: str) -> dict[str, str]:
    db = open_database(site.layout.catalog)
    made = add_key(db, NewKey(name=name), now_ms=now_ms())
    db.close()
    return {"Authorization": f"Bearer {made.secret}"}


def test_a_run_is_replayed_also_by_a_process_that_did_not_answer_it(site: Site) -> None:
    site.publish()
    site.with_the_real_agent()
    with site.client() as client:
        answer = msgspec.json.decode(client.post("/api/runs", json=QUESTION).content, type=Answer)
    site.publish(a_document("新.md", "员工有三十天年假。"))
    site.reopen_telemetry()
    with site.client() as client:
        reply = client.post(f"/api/runs/{answer.run_id}/replay")
        traced = client.get(f"/api/runs/{answer.run_id}/trace").json()

    found = msgspec.json.decode(reply.content, type=Replay)
    assert (reply.status_code, found.outcome, found.snapshot_id) == (200, "same", answer.snapshot_id)
    assert len(found.calls) == answer.usage.tool_calls > 0
    assert "replay" not in json.dumps(traced)


@pytest.mark.parametrize("level", ["metadata", "full"])
def test_a_payload_is_found_by_its_hash_where_the_level_keeps_contents(site: Site, level: str) -> None:
    site.publish()
    site.with_the_real_agent()
    with site.client() as client:
        run_id = client.post("/api/runs", json={**QUESTION, "trace_level": level}).json()["run_id"]
        (call, *_) = msgspec.json.decode(client.post(f"/api/runs/{run_id}/replay").content, type=Replay).calls
        site.telemetry.flush(timeout_s=PATIENCE_S)
    assert call.then is not None
    if level == "full":
        assert len(site.telemetry.artifacts.read(call.then.payload_sha256)) == call.then.payload_bytes
    else:
        with pytest.raises(NotFound):
            site.telemetry.artifacts.read(call.then.payload_sha256)


def test_a_run_is_replayed_by_its_asker_and_the_owner_only(site: Site) -> None:
    site.publish()
    site.with_the_real_agent()
    mine, others = a_key(site, "mine"), a_key(site, "others")
    with site.client() as client:
        run_id = client.post("/api/runs", json=QUESTION, headers=mine).json()["run_id"]
        paths = [f"/api/runs/{run_id}/replay", "/api/runs/run_of_nobody/replay"]
        own, owners = (client.post(paths[0], headers=headers) for headers in (mine, {}))
        foreign, unknown = (client.post(path, headers=others) for path in paths)
    assert [reply.json().get("outcome") for reply in (own, owners)] == ["same", "same"]
    assert (foreign.status_code, foreign.json()["code"]) == (404, "not_found")
    assert foreign.json()["detail"] == unknown.json()["detail"]


def test_a_run_kept_by_an_older_version_says_that_it_cannot_be_replayed(site: Site) -> None:
    site.publish()
    site.with_the_real_agent()
    with site.client() as client:
        run_id = client.post("/api/runs", json=QUESTION).json()["run_id"]
        kept = json.loads(msgspec.json.encode(site.telemetry.run_record(run_id, OWNER)))
        del kept["retrieval"]
        older = msgspec.json.decode(json.dumps(kept), type=RunRecord)
        assert older.retrieval is None
        site.telemetry.keep(older)
        reply = client.post(f"/api/runs/{run_id}/replay").json()
    assert (reply["outcome"], reply["reason"]) == ("impossible", "not_recorded")
