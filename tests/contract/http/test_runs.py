"""Ask, watch, leave, look back: over a real server wherever a connection matters."""

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable

import httpx
import msgspec
import pytest

from api.agent.run import RunRequest, RunSoFar
from api.desk import Ask
from api.retrieval.library import Pinned
from api.routes.runs import Evidence
from shared.access import OWNER
from shared.aside import in_turn
from shared.errors import Conflict, ServerStopping, StorageError
from shared.ids import RunId
from shared.llm.port import Chat, ChatReply, ChatRequest
from shared.llm.scripted import Hang, ScriptedChat
from shared.telemetry import names
from shared.telemetry.artifacts import ARTIFACT_PREFIX
from shared.types.events import AnswerDelta, RunCompleted, RunEvent, RunFailed, RunStarted
from shared.types.runs import Answer, Limits, RecordedCall, RunManifest, RunRecord, Scope
from shared.types.traces import RunSummary, Trace
from tests.contract.agent.asking import SEARCH
from tests.contract.http.site import LEAVE, Held, Site, until
from tests.patience import PATIENCE_S
from tests.promises import promise
from tests.unit.telemetry.factories import a_record

STREAM = {"Accept": "text/event-stream"}
STOPPED = "Stopped before there was an answer."
Emit = Callable[[RunEvent], None]

_event = msgspec.json.Decoder(RunEvent)


def events_of(lines: Iterable[str]) -> list[RunEvent]:
    return [_event.decode(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


def test_a_question_is_answered_as_json(site: Site) -> None:
    site.publish()
    with site.client() as client:
        reply = client.post("/api/runs", json={"question": "住宿费标准是多少？"})
        answer = msgspec.json.decode(reply.content, type=Answer)
    assert reply.status_code == 200
    assert answer == a_record(run_id=answer.run_id, question="住宿费标准是多少？").answer


def test_what_was_asked_for_reaches_the_agent_within_the_settings_limits(site: Site) -> None:
    published = site.publish()
    doc_id = published.documents[0].doc_id
    with site.client() as client:
        body = {"question": "?", "scope": {"doc_ids": [doc_id]}, "budgets": {"max_tool_calls": 2}}
        client.post("/api/runs", json=body)
    (request,) = site.requests
    assert request.scope == Scope(doc_ids=(doc_id,))
    assert request.limits == Limits(max_tool_calls=2)


def test_the_same_run_is_watched_as_events_each_under_its_own_name(site: Site) -> None:
    site.publish()
    with (
        site.live() as address,
        httpx.stream(
            "POST", f"{address}/api/runs", json={"question": "?"}, headers=STREAM, timeout=PATIENCE_S
        ) as reply,
    ):
        assert reply.headers["content-type"].startswith("text/event-stream")
        assert reply.headers["cache-control"] == "no-store"
        lines = list(reply.iter_lines())
    assert [line.removeprefix("event: ") for line in lines if line.startswith("event: ")] == [
        "run.started",
        "answer.delta",
        "answer.delta",
        "citation",
        "run.completed",
    ]
    first, *deltas, _, last = events_of(lines)
    assert isinstance(first, RunStarted)
    assert isinstance(last, RunCompleted)
    assert "".join(one.text for one in deltas if isinstance(one, AnswerDelta)) == last.answer.text


def test_a_silent_run_sends_comments_that_keep_proxies_awake(site: Site) -> None:
    site.publish()
    site.heartbeat_s = 0.01
    site.work = held = Held()
    with (
        site.live() as address,
        httpx.stream(
            "POST", f"{address}/api/runs", json={"question": "?"}, headers=STREAM, timeout=PATIENCE_S
        ) as reply,
    ):
        assert next(line for line in reply.iter_lines() if line.startswith(":")) == ": heartbeat"
    assert held.cancelled.wait(PATIENCE_S)


def test_an_error_before_the_first_event_is_a_problem_and_not_a_stream(site: Site) -> None:
    with site.client() as client:
        reply = client.post("/api/runs", json={"question": "?"}, headers=STREAM)
    assert (reply.status_code, reply.json()["code"]) == (409, "no_snapshot")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("年假几天？", "未能给出答案。程序内部出错；日志中有详情，编号 {}。"),
        (
            "How much leave is there?",
            "No answer could be given. Something broke inside; the log has the details under {}.",
        ),
    ],
)
def test_a_crash_in_mid_stream_ends_it_with_a_failed_run_that_tells_nothing_of_the_inside(
    site: Site, caplog: pytest.LogCaptureFixture, question: str, said: str
) -> None:
    async def crash(request: RunRequest, pinned: Pinned, chat: Chat | None, emit: Emit) -> RunRecord:
        raise RuntimeError("a detail of the inside")

    site.publish()
    site.work = crash
    with site.client() as client, caplog.at_level(logging.ERROR, logger="api.running"):
        reply = client.post("/api/runs", json={"question": question}, headers=STREAM)
        started, failed = events_of(reply.text.splitlines())
        assert isinstance(started, RunStarted)
        assert isinstance(failed, RunFailed)
        assert (failed.code, "a detail" in reply.text) == ("internal_error", False)
        kept = client.get(f"/api/runs/{started.run_id}").json()
        assert (kept["status"], kept["termination_reason"]) == ("failed", "internal_error")
    (logged,) = [one for one in caplog.records if one.name == "api.running"]
    error_id = str(logged.getMessage().rpartition(" ")[2])
    assert kept["text"] == failed.message == said.format(error_id)


@pytest.mark.parametrize("headers", [STREAM, {"Accept": "application/json"}], ids=["stream", "json"])
def test_a_client_that_goes_away_cancels_its_run_and_what_it_cost_is_kept(site: Site, headers: dict[str, str]) -> None:
    site.publish()
    site.with_the_real_agent()
    site.chat = chat = Reached(ScriptedChat([SEARCH, Hang()]), call=2)
    with site.live() as address:
        leave_when(chat.reached, "POST", f"{address}/api/runs", headers=headers)
        record = until_kept(site)
    answer, usage = record.answer, record.answer.usage
    assert (answer.status, answer.termination_reason, answer.text) == ("failed", "cancelled", STOPPED)
    assert chat.inner.cancelled == 1
    assert (usage.model_calls, usage.tool_calls, usage.estimated) == (2, 1, True)
    assert usage.chat_output_tokens == len(SEARCH)
    assert usage.chat_input_tokens > usage.embedding_tokens > 0
    assert [entry.tool for entry in record.ledger] == ["search_blocks"] * len(LEAVE.sections["年假"])
    assert answer.manifest is not None


def test_a_run_that_an_error_of_ours_ends_after_its_first_event_is_kept_as_failed(site: Site) -> None:
    async def lose_the_disk(request: RunRequest, pinned: Pinned, chat: Chat | None, emit: Emit) -> RunRecord:
        raise StorageError("The catalog can't be read.")

    site.publish()
    site.work = lose_the_disk
    with site.client() as client:
        reply = client.post("/api/runs", json={"question": "年假几天？"})
        (kept,) = client.get("/api/runs").json()
    assert (reply.status_code, reply.json()["code"], reply.json()["run_id"]) == (500, "internal_error", kept["run_id"])
    assert (kept["question"], kept["status"], kept["termination_reason"]) == ("年假几天？", "failed", "internal_error")


def test_a_run_that_is_cancelled_before_its_first_step_keeps_nobody_waiting(site: Site) -> None:
    async def scenario() -> None:
        library = site.library()
        desk = site.desk(library)
        asking = asyncio.create_task(desk.begin(Ask(question="?", limits=Limits()), OWNER))
        while not desk.count():  # noqa: ASYNC110  the run is there before anything could tell that it is
            await asyncio.sleep(0)
        await desk.close()
        with pytest.raises(Conflict):
            await asking
        await library.close()

    site.publish()
    asyncio.run(asyncio.wait_for(scenario(), PATIENCE_S))
    assert site.telemetry.list_runs(OWNER, limit=9) == []


def test_what_is_kept_of_a_cancelled_run_holds_what_a_thread_of_it_was_still_at(site: Site) -> None:
    call = RecordedCall(turn=1, tool="search_blocks", arguments='{"query":"年假"}', arguments_sha256="0" * 64)
    under_way = threading.Event()

    def check(so_far: RunSoFar) -> None:
        under_way.set()
        threading.Event().wait(0.05)  # time for a record to be made too early
        so_far.calls.append(call)

    async def checking(request: RunRequest, pinned: Pinned, chat: Chat | None, emit: Emit) -> RunRecord:
        await in_turn(lambda: check(site.so_far[-1]))
        raise AssertionError("never reached")

    async def scenario() -> RunRecord:
        library = site.library()
        desk = site.desk(library)
        run = await desk.begin(Ask(question="年假几天？", limits=Limits()), OWNER)
        assert await asyncio.to_thread(under_way.wait, PATIENCE_S)
        desk.cancel(run.run_id, OWNER)
        record = await run.record()
        await library.close()
        return record

    site.publish()
    site.work = checking
    record = asyncio.run(asyncio.wait_for(scenario(), PATIENCE_S))
    assert record.answer.termination_reason == "cancelled"
    assert record.retrieval is not None
    assert record.retrieval.calls == (call,)


def test_a_run_is_cancelled_by_another_request_and_its_asker_is_told(site: Site) -> None:
    site.publish()
    site.work = held = Held()
    with (
        site.live() as address,
        httpx.stream(
            "POST", f"{address}/api/runs", json={"question": "年假几天？"}, headers=STREAM, timeout=PATIENCE_S
        ) as reply,
    ):
        lines = reply.iter_lines()
        (started,) = events_of([next(line for line in lines if line.startswith("data: "))])
        assert isinstance(started, RunStarted)
        stopped = httpx.post(f"{address}/api/runs/{started.run_id}/cancel", timeout=PATIENCE_S)
        (failed,) = events_of(lines)
        again = httpx.post(f"{address}/api/runs/{started.run_id}/cancel", timeout=PATIENCE_S)
    assert (stopped.status_code, stopped.json()["state"]) == (202, "cancelling")
    assert held.cancelled.is_set()
    assert isinstance(failed, RunFailed)
    assert failed.code == "cancelled"
    assert failed.answer is not None
    assert failed.message == failed.answer.text == "在得出答案之前已停止。"
    assert again.json()["code"] == "conflict"


def test_runs_of_a_server_that_stops_are_cancelled_and_kept(site: Site) -> None:
    site.publish()
    site.work = held = Held()
    with site.live() as address:
        asking = threading.Thread(target=ask_and_forget, args=(address,))
        asking.start()
        assert held.under_way.wait(PATIENCE_S)
    asking.join(PATIENCE_S)
    assert held.cancelled.is_set()
    assert [one.termination_reason for one in site.telemetry.list_runs(OWNER, limit=9)] == ["cancelled"]


@pytest.mark.parametrize("path", ["/api/runs", "/v1/chat/completions"])
def test_a_request_that_outlasts_the_server_is_told_so_in_its_own_protocol(site: Site, path: str) -> None:
    """Of runs and of all else: what is cut off here is whatever a request waits for."""
    site.publish()
    site.work = held = Held()
    replies: list[httpx.Response] = []

    def ask(address: str) -> None:
        body = {"question": "年假？", "model": "citebound", "messages": [{"role": "user", "content": "年假？"}]}
        wanted = ("question",) if path == "/api/runs" else ("model", "messages")
        replies.append(httpx.post(f"{address}{path}", json={name: body[name] for name in wanted}, timeout=PATIENCE_S))

    with site.live() as address:
        asking = threading.Thread(target=ask, args=(address,))
        asking.start()
        assert held.under_way.wait(PATIENCE_S)
    asking.join(PATIENCE_S)
    (reply,) = replies
    told = reply.json()
    assert reply.status_code == 503
    if path == "/api/runs":
        assert (told["code"], told["retryable"], bool(told["remedy"])) == ("server_stopping", True, True)
    else:
        assert (told["error"]["code"], told["error"]["type"]) == ("server_stopping", "server_error")


def test_a_desk_that_stops_takes_no_more_questions(site: Site) -> None:
    site.publish()

    async def ask_too_late() -> None:
        library = site.library()
        desk = site.desk(library)
        desk.stop()
        with pytest.raises(ServerStopping):
            await desk.begin(Ask(question="年假？", limits=Limits()), OWNER)
        assert desk.count() == 0
        await library.close()

    asyncio.run(ask_too_late())


@promise("P10")
def test_a_run_is_explained_afterwards_by_its_record_its_evidence_and_its_spans(site: Site) -> None:
    site.publish()
    site.with_the_real_agent()
    with site.client() as client:
        asked = {"question": "员工工作满一年享有几天年假？", "trace_level": "full"}
        told = msgspec.json.decode(client.post("/api/runs", json=asked).content, type=Answer)
        listed = msgspec.json.decode(client.get("/api/runs").content, type=list[RunSummary])
        answer = msgspec.json.decode(client.get(f"/api/runs/{told.run_id}").content, type=Answer)
        evidence = msgspec.json.decode(client.get(f"/api/runs/{told.run_id}/evidence").content, type=Evidence)
        kept = msgspec.json.decode(client.get(f"/api/runs/{told.run_id}/trace").content, type=Trace)
    assert [(one.run_id, one.question, one.citations) for one in listed] == [(told.run_id, told.question, 1)]
    assert answer == told
    read = {entry.block_id: entry for entry in evidence.ledger}
    assert all(citation.quote == read[citation.block_id].seen for citation in answer.citations)
    assert not kept.partial
    (run,) = kept.spans
    assert msgspec.json.decode(str(run.attributes[names.MANIFEST]), type=RunManifest) == answer.manifest
    called = [span for turn in run.children for span in turn.children]
    assert [span.name for span in called][:1] == [f"{names.TOOL} search_blocks"]
    assert site.telemetry.artifacts.read(str(run.attributes[f"{ARTIFACT_PREFIX}answer.sha256"])).decode() == answer.text


def test_runs_under_way_at_once_keep_their_own_events(site: Site) -> None:
    async def echo(request: RunRequest, pinned: Pinned, chat: Chat | None, emit: Emit) -> RunRecord:
        together.append(request.run_id)
        if len(together) == len(questions):
            all_here.set()
        await all_here.wait()
        for letter in request.question:
            emit(AnswerDelta(text=letter))
            await asyncio.sleep(0)
        return a_record(run_id=request.run_id, question=request.question)

    async def ask(client: httpx.AsyncClient, question: str) -> str:
        reply = await client.post("/api/runs", json={"question": question}, headers=STREAM)
        return "".join(one.text for one in events_of(reply.text.splitlines()) if isinstance(one, AnswerDelta))

    async def ask_all(address: str) -> list[str]:
        async with httpx.AsyncClient(base_url=address, timeout=PATIENCE_S) as client:
            return await asyncio.gather(*(ask(client, question) for question in questions))

    together: list[RunId] = []
    all_here = asyncio.Event()
    questions = [f"第 {number} 个问题 {'甲乙丙丁' * number}" for number in range(20)]
    site.publish()
    site.work = echo
    with site.live(stop_s=PATIENCE_S) as address:
        assert asyncio.run(ask_all(address)) == questions


class Reached:
    """A chat model that tells across threads when it is called for the `call`-th time."""

    def __init__(self, inner: ScriptedChat, *, call: int) -> None:
        self.inner = inner
        self.model, self.profile, self.window_tokens = inner.model, inner.profile, inner.window_tokens
        self.reached = threading.Event()
        self._call = call

    async def reply(self, request: ChatRequest, *, on_piece: Callable[[str], None] | None = None) -> ChatReply:
        if len(self.inner.requests) + 1 == self._call:
            self.reached.set()
        return await self.inner.reply(request, on_piece=on_piece)

    async def close(self) -> None:
        await self.inner.close()


def leave_when(moment: threading.Event, method: str, url: str, *, headers: dict[str, str]) -> None:
    """Send a question and close the connection as soon as `moment` comes."""

    async def go() -> None:
        async with httpx.AsyncClient(timeout=PATIENCE_S) as client:
            asking = asyncio.create_task(client.request(method, url, json={"question": "?"}, headers=headers))
            assert await asyncio.to_thread(moment.wait, PATIENCE_S)
            asking.cancel()
            await asyncio.wait({asking})

    asyncio.run(go())


def until_kept(site: Site) -> RunRecord:
    """The record of the only run, once it is over."""
    until(lambda: site.telemetry.list_runs(OWNER, limit=1))
    (only,) = site.telemetry.list_runs(OWNER, limit=9)
    return site.telemetry.run_record(only.run_id, OWNER)


def ask_and_forget(address: str) -> None:
    with pytest.raises(httpx.HTTPError):  # noqa: PT012  the server cuts the connection, whenever that is
        reply = httpx.post(f"{address}/api/runs", json={"question": "?"}, timeout=PATIENCE_S)
        reply.raise_for_status()
