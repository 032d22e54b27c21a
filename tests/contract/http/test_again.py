"""GET /api/runs/{id}/audit and POST …/rerun: what a run still allows, and what comes of asking it anew."""

import re
from typing import Any

import msgspec
import pytest
from litestar import Litestar
from litestar.testing import TestClient
from msgspec import structs

from api.agent.run import RunRequest, run_agent
from api.retrieval.library import Pinned
from shared.access import OWNER
from shared.ids import DocId, RunId
from shared.llm.port import Chat
from shared.types.again import Audit, Kind, Once, Possible, Rerun
from shared.types.events import RunCompleted
from shared.types.runs import Limits, RunRecord
from tests.contract.http.leaking import OWNER_KEY, a_key
from tests.contract.http.site import Site, answer_at_once
from tests.contract.http.test_snapshot_care import carried_out
from tests.factories import a_document

QUESTION = {"question": "员工有几天年假？"}


@pytest.fixture
def asked(site: Site) -> Site:
    site.publish()
    site.with_the_real_agent()
    return site


def a_run(client: TestClient[Litestar], headers: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    return client.post("/api/runs", json={**QUESTION, **more}, headers=headers or {}).json()


def audit(client: TestClient[Litestar], run_id: str) -> dict[Kind, Possible]:
    reply = client.get(f"/api/runs/{run_id}/audit")
    assert reply.status_code == 200, reply.text
    return {one.kind: one for one in msgspec.json.decode(reply.content, type=Audit).again}


def rerun(client: TestClient[Litestar], run_id: str, headers: dict[str, str] | None = None, **body: Any) -> Rerun:
    reply = client.post(f"/api/runs/{run_id}/rerun", json=body, headers=headers or {})
    assert reply.status_code == 200, reply.text
    return msgspec.json.decode(reply.content, type=Rerun)


def reasons(found: dict[Kind, Possible]) -> dict[Kind, str | None]:
    return {kind: None if one.possible else one.reason for kind, one in found.items()}


def test_at_level_full_all_four_are_possible_and_at_metadata_the_evidence_is_not(asked: Site) -> None:
    with asked.client() as client:
        metadata = reasons(audit(client, a_run(client, trace_level="metadata")["run_id"]))
        full = a_run(client, trace_level="full")["run_id"]  # from here on the same contents are there for both
        told = [reasons(audit(client, full)), metadata]
        versions = msgspec.json.decode(client.get(f"/api/runs/{full}/audit").content, type=Audit).versions
    assert told[0] == {"audit": None, "evidence": None, "replay": None, "rerun": None}
    assert told[1] == {"audit": None, "evidence": "contents_not_kept", "replay": None, "rerun": None}
    assert versions is not None
    assert versions.prompt_bundle == "default/1"


def test_when_the_snapshot_is_gone_replay_and_rerun_say_so_and_audit_stays(asked: Site) -> None:
    with asked.client() as client:
        answer = a_run(client)
        asked.publish(a_document("新.md", "员工有三十天年假。"))
        assert client.delete(f"/api/snapshots/{answer['snapshot_id']}").status_code < 300
    asked.reopen_telemetry()
    carried_out(asked)
    with asked.client() as client:
        told = reasons(audit(client, answer["run_id"]))
        again = rerun(client, answer["run_id"])
    assert (told["audit"], told["replay"], told["rerun"]) == (None, "snapshot_gone", "snapshot_gone")
    assert (again.possible, again.reason, again.runs) == (False, "snapshot_gone", ())


def test_what_leaned_on_a_conversation_can_be_replayed_but_not_asked_again_alone(asked: Site) -> None:
    with asked.client() as client:
        first = a_run(client, conversation_id="new")
        second = a_run(client, question="那累计呢？", conversation_id=first["conversation_id"])
        told = [reasons(audit(client, one["run_id"])) for one in (first, second)]
    assert (told[0]["replay"], told[0]["rerun"]) == (None, None)
    assert (told[1]["replay"], told[1]["rerun"]) == (None, "conversation")


def test_a_rerun_asks_again_on_the_same_snapshot_and_its_runs_name_the_one_they_repeat(asked: Site) -> None:
    with asked.client() as client:
        answer = a_run(client, budgets={"max_tool_calls": 3})
        asked.publish(a_document("新.md", "员工有三十天年假。"))
        again = rerun(client, answer["run_id"], times=2)
        listed = {one["run_id"]: one["rerun_of"] for one in client.get("/api/runs").json()}
        repeated = [client.get(f"/api/runs/{one.run_id}").json() for one in again.runs]
    assert (again.passed, again.pass_rate, again.flips, again.failures) == (2, 1.0, 0, {})
    assert listed == {answer["run_id"]: None, **{one.run_id: answer["run_id"] for one in again.runs}}
    assert [one["manifest"] for one in repeated] == [answer["manifest"]] * 2
    assert [one["text"] for one in repeated] == [answer["text"]] * 2


def test_pass_rate_failures_and_flips_are_counted(asked: Site) -> None:
    """What a model might do: the same, another document, no answer, the same."""
    turns = iter((None, "document", "refused", None))

    class Wavering:
        async def __call__(self, request: RunRequest, **parts: Any) -> RunRecord:
            record = await run_agent(request, **parts)
            if not asking:
                return record
            change = next(turns)
            answer = record.answer
            if change == "document":
                cited = tuple(structs.replace(one, doc_id=DocId("zzzzzzzz")) for one in answer.citations)
                answer = structs.replace(answer, citations=cited)
            elif change == "refused":
                answer = structs.replace(answer, status="refused")
            return structs.replace(record, answer=answer)

    asking = False
    asked.agent = Wavering()
    with asked.client() as client:
        run_id = a_run(client)["run_id"]
        asking = True
        again = rerun(client, run_id, times=4)
    assert [one.passed for one in again.runs] == [True, False, False, True]
    assert (again.passed, again.pass_rate, again.flips) == (2, 0.5, 2)
    assert again.failures == {"other_documents": 1, "other_status": 1}


def test_a_rerun_as_events_tells_of_each_run_as_it_ends_and_then_of_all(asked: Site) -> None:
    with asked.client() as client:
        run_id = a_run(client)["run_id"]
        reply = client.post(f"/api/runs/{run_id}/rerun", json={"times": 2}, headers={"Accept": "text/event-stream"})
        listed = {one["run_id"] for one in client.get("/api/runs").json()}
    events = re.findall(r"event: (\w+)\ndata: (.*)\n\n", reply.text)
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert [name for name, _ in events] == ["once", "once", "rerun"]
    whole = msgspec.json.decode(events[-1][1], type=Rerun)
    assert [msgspec.json.decode(data, type=Once) for _, data in events[:2]] == list(whole.runs)
    assert {one.run_id for one in whole.runs} < listed


def test_an_expected_quote_is_looked_for_whatever_the_lines(asked: Site) -> None:
    with asked.client() as client:
        run_id = a_run(client)["run_id"]
        there = rerun(client, run_id, times=1, expected_quote="五天\n 年假")
        nowhere = rerun(client, run_id, times=1, expected_quote="三十天年假")
    assert (there.criterion, there.pass_rate) == ("expected_quote", 1.0)
    assert (nowhere.pass_rate, nowhere.failures) == (0.0, {"quote_missing": 1})


def test_a_rerun_is_bounded_by_the_callers_limits_and_for_who_may_read_the_run(asked: Site) -> None:
    mine, others = ({"Authorization": f"Bearer {a_key(asked, name, ())}"} for name in ("mine", "others"))
    with asked.client() as client:
        run_id = a_run(client, mine)["run_id"]
        path = f"/api/runs/{run_id}/rerun"
        foreign = client.post(path, json={}, headers=others)
        bad = [client.post(path, json={"times": times}, headers=mine).status_code for times in (0, 11)]
        asked.settings = structs.replace(asked.settings, limits=Limits(max_tool_calls=1))
    asked.reopen_telemetry()
    with asked.client() as client:
        again = rerun(client, run_id, mine, times=1)
        limits = client.get(f"/api/runs/{again.runs[0].run_id}", headers=mine).json()["manifest"]["limits"]
    assert foreign.status_code == 404
    assert bad == [400, 400]
    assert limits["max_tool_calls"] == 1


def test_a_wording_that_is_gone_is_told_without_the_names_of_those_that_are_there(asked: Site) -> None:
    asked.with_api(api_key=OWNER_KEY)
    reader = {"Authorization": f"Bearer {a_key(asked, 'reader', ())}"}
    owner = {"Authorization": f"Bearer {OWNER_KEY}"}
    with asked.client() as client:
        run_id = RunId(a_run(client, reader)["run_id"])
        run = asked.telemetry.run_record(run_id, OWNER)
        asked.prompts.create("geheim", parent=None)
        assert run.answer.manifest is not None
        gone = structs.replace(run.answer.manifest, prompt_bundle="gone/1")
        asked.telemetry.keep(structs.replace(run, answer=structs.replace(run.answer, manifest=gone)))
        told = [client.get(f"/api/runs/{run_id}/audit", headers=key).text for key in (reader, owner)]
    assert [("bundle_differs" in one, "geheim" in one) for one in told] == [(True, False), (True, True)]


def test_a_run_that_never_began_allows_nothing(site: Site) -> None:
    async def fails(request: RunRequest, pinned: Pinned, chat: Chat | None, emit: Any) -> RunRecord:
        record = await answer_at_once(request, pinned, chat, lambda _: None)
        emit(RunCompleted(answer=record.answer))
        return record  # the stand-in's record has no manifest

    site.publish()
    site.work = fails
    with site.client() as client:
        told = reasons(audit(client, a_run(client)["run_id"]))
    assert told == {"audit": "never_began", "evidence": "trace_gone", "replay": "never_began", "rerun": "never_began"}
