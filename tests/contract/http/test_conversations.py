"""Conversations over HTTP: follow-ups lean on what came before, each belongs to its asker, and removing one removes its texts."""

import asyncio
import json
import re
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from msgspec import structs

from api.agent.run import RunRequest
from api.desk import Memory, Recalled
from api.retrieval.library import Pinned
from shared.access import OWNER, Access
from shared.llm.openai import OpenAIChat
from shared.llm.port import Chat
from shared.settings import ChatSettings
from shared.telemetry import names
from shared.telemetry.artifacts import trace_level
from shared.types.conversations import Conversation, ConversationInfo
from shared.types.events import RunCompleted, RunEvent, RunStarted
from shared.types.runs import Answer, Limits, RunRecord
from tests.contract.http.site import Site, answer_at_once
from tests.doubles.provider import Fault, Provider, Request, provider_double
from tests.patience import PATIENCE_S
from tests.promises import promise


@pytest.fixture
def provider() -> Generator[Provider]:
    with provider_double() as provider:
        yield provider


def asked(client: Any, **body: object) -> Answer:
    reply = client.post("/api/runs", json={"question": "年假有几天？", **body})
    assert reply.status_code == 200, reply.text
    return msgspec.json.decode(reply.content, type=Answer)


def test_a_follow_up_gets_what_came_before_and_the_conversation_keeps_both(site: Site) -> None:
    site.publish()
    with site.client() as client:
        first = asked(client, conversation_id="new")
        asked(client, question="那病假呢？", conversation_id=first.conversation_id)
        shown = msgspec.json.decode(
            client.get(f"/api/conversations/{first.conversation_id}").content, type=Conversation
        )
        listed = msgspec.json.decode(client.get("/api/conversations").content, type=list[ConversationInfo])
    earlier, later = site.requests
    assert (earlier.history, earlier.entities) == ((), ())
    assert [exchange.question for exchange in later.history] == ["年假有几天？"]
    assert later.history[0].answer == first.text
    assert "年假" in later.entities
    assert [turn.question for turn in shown.turns] == ["年假有几天？", "那病假呢？"]
    assert listed == [shown.info]
    assert (shown.info.title, shown.info.turns) == ("年假有几天？", 2)


def test_every_span_of_a_run_names_its_conversation_and_no_other_runs_do(site: Site) -> None:
    site.publish()
    site.with_the_real_agent()
    with site.client() as client:
        talked = asked(client, conversation_id="new")
        alone = asked(client)
        named = [
            conversations_in(client.get(f"/api/runs/{one.run_id}/trace").json()["spans"]) for one in (talked, alone)
        ]
    assert len(named[0]) > 3
    assert set(named[0]) == {talked.conversation_id}
    assert set(named[1]) == {None}


def conversations_in(spans: list[dict[str, Any]]) -> list[str | None]:
    """The conversation that each names."""
    return [
        one
        for span in spans
        for one in (span["attributes"].get(names.CONVERSATION), *conversations_in(span.get("children", [])))
    ]


def test_without_a_model_the_built_in_answerer_understands_the_follow_up(site: Site) -> None:
    site.publish()
    site.with_the_real_agent()
    with site.client() as client:
        first = asked(client, question="员工的病假有几天？", conversation_id="new")
        second = asked(client, question="那年假呢？", conversation_id=first.conversation_id)
    assert "五天年假" in second.text
    assert second.question == "那年假呢？"


def test_an_empty_conversation_can_be_begun_and_spoken_in(site: Site) -> None:
    site.publish()
    with site.client() as client:
        made = client.post("/api/conversations").json()
        assert asked(client, conversation_id=made["conversation_id"]).conversation_id == made["conversation_id"]
        assert client.get("/api/conversations").json()[0]["turns"] == 1


def test_a_failed_run_is_no_turn(site: Site) -> None:
    async def fail(
        request: RunRequest, pinned: Pinned, chat: Chat | None, emit: Callable[[RunEvent], None]
    ) -> RunRecord:
        record = await answer_at_once(request, pinned, chat, emit)
        return structs.replace(record, answer=structs.replace(record.answer, status="failed"))

    site.publish()
    site.work = fail
    with site.client() as client:
        assert asked(client, conversation_id="new").conversation_id is None
        assert client.get("/api/conversations").json() == []
        stored = client.post("/api/conversations").json()["conversation_id"]
        assert asked(client, conversation_id=stored).conversation_id == stored


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_a_first_question_that_fails_hands_out_no_conversation(site: Site, provider: Provider, accept: str) -> None:
    site.publish()
    site.with_the_real_agent()
    site.chat = OpenAIChat(ChatSettings(base_url=provider.base_url, model="m", api_key="k"))
    provider.script(*[Fault(status=401, body='{"error": {"message": "no"}}')] * 3)
    with site.client() as client:
        body = {"question": "年假有几天？", "conversation_id": "new"}
        reply = client.post("/api/runs", json=body, headers={"Accept": accept})
        (kept,) = client.get("/api/runs").json()
        answer = client.get(f"/api/runs/{kept['run_id']}").json()
    assert kept["status"] == "failed"
    assert answer.get("conversation_id") is None
    assert "conv_" not in reply.text


def test_removing_a_conversation_removes_its_texts_everywhere(site: Site) -> None:
    secret = "暗号是蓝鲸七号吗？"
    site.publish()
    site.with_the_real_agent()
    with site.client() as client, trace_level("full"):
        first = asked(client, question=secret, conversation_id="new", trace_level="full")
        kept = asked(client, question="年假有几天？")
        gone = client.delete(f"/api/conversations/{first.conversation_id}")
        assert (gone.status_code, gone.json()["runs"]) == (200, 1)
        assert client.get(f"/api/conversations/{first.conversation_id}").status_code == 404
        assert client.get(f"/api/runs/{first.run_id}").status_code == 404
        assert client.get(f"/api/runs/{kept.run_id}").status_code == 200
        again = client.post("/api/runs", json={"question": "那呢？", "conversation_id": first.conversation_id})
        assert (again.status_code, again.json()["code"]) == (404, "not_found")
    assert found_in(site.layout.artifacts, secret) == []


def found_in(folder: Path, text: str) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def test_somebody_elses_conversation_is_not_there(site: Site) -> None:
    site.publish()
    site.with_api(api_key="owner-key")
    owner = {"Authorization": "Bearer owner-key"}
    with site.client() as client:
        keys = [
            client.post("/api/keys", json={"name": name, "permission": "read"}, headers=owner).json()["secret"]
            for name in ("甲", "乙")
        ]
        first, second = ({"Authorization": f"Bearer {secret}"} for secret in keys)
        body = {"question": "年假有几天？", "conversation_id": "new"}
        conversation = client.post("/api/runs", json=body, headers=first).json()["conversation_id"]
        path = f"/api/conversations/{conversation}"
        assert client.get(path, headers=first).status_code == 200
        for other in (second, owner):
            assert client.get("/api/conversations", headers=other).json() == []
            assert client.get(path, headers=other).status_code == 404
            assert client.delete(path, headers=other).status_code == 404
            asked_there = client.post("/api/runs", json={**body, "conversation_id": conversation}, headers=other)
            assert asked_there.status_code == 404
        assert client.get(path, headers=first).json()["info"]["turns"] == 1


@pytest.mark.parametrize("fails", [False, True])
def test_a_conversation_removed_while_it_is_answered_stays_removed_with_that_run(site: Site, fails: bool) -> None:
    async def remove(
        request: RunRequest, pinned: Pinned, chat: Chat | None, emit: Callable[[RunEvent], None]
    ) -> RunRecord:
        if request.history:
            assert request.conversation_id is not None
            gone = await asyncio.to_thread(site.conversations().delete, request.conversation_id, pinned.access)
            await asyncio.to_thread(site.telemetry.forget_conversation, request.conversation_id, turns=gone)
        record = await answer_at_once(request, pinned, chat, emit)
        failed = structs.replace(record, answer=structs.replace(record.answer, status="failed"))
        return failed if request.history and fails else record

    site.publish()
    site.work = remove
    with site.client() as client:
        first = asked(client, conversation_id="new")
        second = asked(client, question="那呢？", conversation_id=first.conversation_id)
        assert (second.status, second.conversation_id) == ("failed" if fails else "complete", None)
        assert client.get("/api/conversations").json() == []
        assert client.get("/api/runs").json() == []
        site.reopen_telemetry()
        assert site.telemetry.list_runs(OWNER, limit=9) == []


def test_removing_a_conversation_removes_its_failed_runs_too(site: Site) -> None:
    async def fail(
        request: RunRequest, pinned: Pinned, chat: Chat | None, emit: Callable[[RunEvent], None]
    ) -> RunRecord:
        record = await answer_at_once(request, pinned, chat, emit)
        return structs.replace(record, answer=structs.replace(record.answer, status="failed"))

    site.publish()
    with site.client() as client:
        first = asked(client, conversation_id="new")
        site.work = fail
        asked(client, question="暗号是蓝鲸七号吗？", conversation_id=first.conversation_id)
        site.reopen_telemetry()
    with site.client() as client:
        gone = client.delete(f"/api/conversations/{first.conversation_id}")
        assert (gone.status_code, gone.json()["runs"]) == (200, 2)
        assert client.get("/api/runs").json() == []


_event: msgspec.json.Decoder[RunEvent] = msgspec.json.Decoder(RunEvent)


class HeldMemory:
    """Keeps an answer only when it is let go."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.keeping = threading.Event()
        self.go_on = threading.Event()

    def recall(self, conversation_id: str, access: Access) -> Recalled:
        return self._memory.recall(conversation_id, access)

    def keep(self, recalled: Recalled, answer: Answer, access: Access) -> bool:
        self.keeping.set()
        assert self.go_on.wait(PATIENCE_S)
        return self._memory.keep(recalled, answer, access)


def test_a_run_whose_answer_is_being_kept_is_cancelled_no_more(site: Site) -> None:
    site.publish()
    held = HeldMemory(site.conversations())
    site.memory = lambda: held
    body, headers = {"question": "年假有几天？", "conversation_id": "new"}, {"Accept": "text/event-stream"}
    with (
        site.live(stop_s=PATIENCE_S) as address,
        httpx.stream("POST", f"{address}/api/runs", json=body, headers=headers, timeout=PATIENCE_S) as reply,
    ):
        lines = (line.removeprefix("data: ") for line in reply.iter_lines() if line.startswith("data: "))
        started = msgspec.json.decode(next(lines), type=RunStarted)
        assert held.keeping.wait(PATIENCE_S)
        late = httpx.post(f"{address}/api/runs/{started.run_id}/cancel", timeout=PATIENCE_S)
        held.go_on.set()
        *_, end = [_event.decode(line) for line in lines]
        assert httpx.get(f"{address}/api/runs/{started.run_id}", timeout=PATIENCE_S).json()["status"] == "complete"
    assert (late.status_code, late.json()["code"]) == (409, "conflict")
    assert isinstance(end, RunCompleted)


SECRET = re.compile(r"暗号\d{3}甲")
AT_ONCE = 10
HOUR_S = 3600  # a hundred runs at once take as long as they take: no limit of time may end one of them


class Echo:
    """Says back every secret that it is sent; the first requests wait for one another, so that runs overlap."""

    def __init__(self) -> None:
        self._together = threading.Barrier(AT_ONCE)
        self._lock = threading.Lock()
        self._seen = 0
        self.overlapped = False

    def __call__(self, request: Request) -> str:
        with self._lock:
            self._seen += 1
            early = self._seen <= AT_ONCE
        if early:
            self._together.wait(timeout=5 * PATIENCE_S)
            self.overlapped = True
        sent = json.dumps(request.body, ensure_ascii=False)
        heard = "、".join(dict.fromkeys(SECRET.findall(sent)))
        wants_question = "只回复一个 JSON 对象" in sent
        return (
            json.dumps({"question": f"{heard}的记号是什么"}, ensure_ascii=False)
            if wants_question
            else f"Action: Finish[听到：{heard}]"
        )


@promise("P11")
def test_a_hundred_conversations_at_once_hear_nothing_of_one_another(site: Site, provider: Provider) -> None:
    """Each tells its own secret first and asks for it in a follow-up; the provider says back whatever it was sent."""
    site.publish()
    site.with_the_real_agent()
    site.settings = structs.replace(site.settings, limits=Limits(max_wall_seconds=HOUR_S))
    site.chat = OpenAIChat(
        ChatSettings(
            base_url=provider.base_url,
            model="echo",
            api_key="k",
            first_token_timeout_s=HOUR_S,
            idle_timeout_s=HOUR_S,
        )
    )
    provider.answer = echo = Echo()
    secrets = [f"暗号{number:03d}甲" for number in range(100)]

    async def converse(client: httpx.AsyncClient, secret: str) -> list[Answer]:
        answers: list[Answer] = []
        conversation = "new"
        for question in (f"我的记号是“{secret}”，年假有几天？", "那它的记号呢？"):
            reply = await client.post("/api/runs", json={"question": question, "conversation_id": conversation})
            answers.append(msgspec.json.decode(reply.content, type=Answer))
            conversation = str(answers[-1].conversation_id)
        return answers

    async def all_at_once(address: str) -> list[list[Answer]]:
        limits = httpx.Limits(max_connections=200)
        async with httpx.AsyncClient(base_url=address, timeout=None, limits=limits) as client:
            return await asyncio.gather(*(converse(client, secret) for secret in secrets))

    with site.live(stop_s=PATIENCE_S) as address:
        spoken = asyncio.run(all_at_once(address))
        with httpx.Client(base_url=address, timeout=PATIENCE_S) as client:
            listed = client.get("/api/conversations", params={"limit": 1000}).json()
            kept = [client.get(f"/api/conversations/{one['conversation_id']}").json() for one in listed]
    assert echo.overlapped
    for secret, answers in zip(secrets, spoken, strict=True):
        for answer in answers:
            assert set(SECRET.findall(answer.text)) == {secret}
    assert len(kept) == len(secrets)
    for one in kept:
        assert len(set(SECRET.findall(json.dumps(one, ensure_ascii=False)))) == 1
