"""POST /api/runs/{id}/feedback and /api/cases: from a thumb down to a line of an evaluation set."""

from typing import Any

import msgspec
import pytest
from litestar import Litestar
from litestar.testing import TestClient

from shared.access import Access
from shared.telemetry.cases import Cases
from shared.types.cases import Case, EvaluationItem, Feedback
from tests.contract.http.leaking import a_key
from tests.contract.http.site import Site
from tests.patience import PATIENCE_S

QUESTION = {"question": "员工有几天年假？"}


@pytest.fixture
def asked(site: Site) -> Site:
    site.publish()
    site.with_the_real_agent()
    return site


def a_run(client: TestClient[Litestar], headers: dict[str, str] | None = None) -> dict[str, Any]:
    return client.post("/api/runs", json=QUESTION, headers=headers or {}).json()


def said(client: TestClient[Litestar], run_id: str, **body: Any) -> Feedback:
    headers = body.pop("headers", {})
    reply = client.post(f"/api/runs/{run_id}/feedback", json=body, headers=headers)
    assert reply.status_code == 200, reply.text
    return msgspec.json.decode(reply.content, type=Feedback)


def test_a_thumb_down_makes_a_case_with_the_versions_of_its_run(asked: Site) -> None:
    with asked.client() as client:
        answer = a_run(client)
        given = said(client, answer["run_id"], thumb="down", comment="少了一天", layer="ignored")
        listed = msgspec.json.decode(client.get("/api/cases").content, type=list[Case])
    assert given.case is not None
    assert listed == [given.case]
    assert (given.case.question, given.case.layer, given.case.status) == (QUESTION["question"], "ignored", "open")
    assert [(one.by, one.thumb, one.comment) for one in given.case.said] == [("asker", "down", "少了一天")]
    assert given.case.versions is not None
    assert given.case.versions.snapshot_id == given.case.snapshot_id == answer["snapshot_id"]


def test_a_thumb_up_makes_none_and_closes_one_that_nobody_holds_down(asked: Site) -> None:
    key = {"Authorization": f"Bearer {a_key(asked, 'reader', ())}"}
    with asked.client() as client:
        run_id = a_run(client, key)["run_id"]
        up = said(client, run_id, thumb="up", headers=key)
        said(client, run_id, thumb="down", headers=key)
        said(client, run_id, thumb="down", comment="运营也这么看")
        still = said(client, run_id, thumb="up", headers=key)
        closed = said(client, run_id, thumb="up")
        statuses = [client.get("/api/cases", params={"status": one}).json() for one in ("open", "closed")]
    assert up.case is None
    assert still.case is not None
    assert closed.case is not None
    assert (still.case.status, closed.case.status) == ("open", "closed")
    assert {one.by for one in closed.case.said} == {"asker", "operator"}
    assert [len(found) for found in statuses] == [0, 1]


def test_each_caller_finds_again_what_he_said_himself(asked: Site) -> None:
    key = {"Authorization": f"Bearer {a_key(asked, 'reader', ())}"}
    with asked.client() as client:
        run_id = a_run(client, key)["run_id"]
        path = f"/api/runs/{run_id}/feedback"
        nothing = client.get(path, headers=key).json()
        said(client, run_id, thumb="up", comment="正是这样", headers=key)
        said(client, run_id, thumb="down", comment="漏了一条", layer="ignored")
        found = [client.get(path, headers=headers).json() for headers in (key, {})]
    assert nothing == {"run_id": run_id, "thumb": None, "comment": "", "layer": None}
    assert [(one["thumb"], one["comment"]) for one in found] == [("up", "正是这样"), ("down", "漏了一条")]
    assert {one["layer"] for one in found} == {"ignored"}


def test_a_case_becomes_an_evaluation_item_with_the_marked_quotes_also_after_a_restart(asked: Site) -> None:
    with asked.client() as client:
        answer = a_run(client)
        case = said(client, answer["run_id"], thumb="down").case
        assert case is not None
        path = f"/api/cases/{case.case_id}"
        changed = client.post(
            path, json={"gold": [1], "layer": "cited_wrongly", "note": "应为五天", "status": "closed"}
        )
        wrong = client.post(path, json={"gold": [1, 99]})
    asked.reopen_telemetry()
    with asked.client() as client:
        item = msgspec.json.decode(client.get(f"{path}/item").content, type=EvaluationItem)
        kept = client.get(path).json()
    assert changed.status_code == 200
    assert kept == changed.json()
    assert (wrong.status_code, wrong.json()["code"]) == (400, "invalid_argument")
    (cited,) = [one for one in answer["citations"] if one["marker"] == 1]
    assert [(one.quote, one.block_id) for one in item.gold] == [(cited["quote"], cited["block_id"])]
    assert (item.question, item.snapshot_id, item.layer) == (
        QUESTION["question"],
        answer["snapshot_id"],
        "cited_wrongly",
    )


def test_feedback_is_for_the_asker_and_admins_and_bounded(asked: Site) -> None:
    mine, others = ({"Authorization": f"Bearer {a_key(asked, name, ())}"} for name in ("mine", "others"))
    with asked.client() as client:
        run_id = a_run(client, mine)["run_id"]
        path = f"/api/runs/{run_id}/feedback"
        foreign = client.post(path, json={"thumb": "down"}, headers=others)
        said(client, run_id, thumb="down", headers=mine)
        seen = [client.get("/api/cases", headers=headers).json() for headers in (mine, others, {})]
        bad = [
            client.post(path, json=body).status_code
            for body in (
                {"thumb": "sideways"},
                {"thumb": "down", "comment": "长" * 2_001},
                {},
                {"thumb": "down", "x": 1},
            )
        ]
    assert foreign.status_code == 404
    assert [len(found) for found in seen] == [1, 0, 1]
    assert bad == [400, 400, 400, 400]


def test_of_others_cases_not_even_the_runs_are_read_to_list_ones_own(asked: Site) -> None:
    keys = {name: {"Authorization": f"Bearer {a_key(asked, name, ())}"} for name in ("one", "other")}
    with asked.client() as client:
        runs = {name: a_run(client, key)["run_id"] for name, key in keys.items()}
        for name, run_id in runs.items():
            said(client, run_id, thumb="down", headers=keys[name])
        assert asked.telemetry.flush(timeout_s=PATIENCE_S)
        listed = {name: client.get("/api/cases", headers=key).json() for name, key in keys.items()}
        owners = client.get("/api/cases").json()
        [one] = [key for key in client.get("/api/keys").json() if key["name"] == "one"]
    reader = Access(labels=frozenset(), key_id=one["key_id"])
    assert {name: [case["run_id"] for case in cases] for name, cases in listed.items()} == {
        name: [run_id] for name, run_id in runs.items()
    }
    assert {case["run_id"] for case in owners} == set(runs.values())
    assert [case.run_id for case in Cases(asked.telemetry.database).newest(reader, status="open")] == [runs["one"]]


def test_when_a_conversation_is_removed_its_cases_are_forgotten(asked: Site) -> None:
    with asked.client() as client:
        answer = client.post("/api/runs", json={**QUESTION, "conversation_id": "new"}).json()
        case = said(client, answer["run_id"], thumb="down", comment="不对").case
        client.delete(f"/api/conversations/{answer['conversation_id']}")
        gone = client.get("/api/cases").json()
    assert case is not None
    assert gone == []
    assert asked.telemetry.cases.get(case.run_id) is None
