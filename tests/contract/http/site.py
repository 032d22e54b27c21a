"""A whole query process inside the test: real routes, catalog, library and telemetry; the agent, the bell and the clock are stand-ins."""

import asyncio
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeAlias

import uvicorn
from litestar import Litestar
from litestar.testing import TestClient
from msgspec import structs

from api.agent.run import RunRequest, RunSoFar, run_agent
from api.agent.samples import check_bundle
from api.app import Life, build_app
from api.conversations import Conversations
from api.desk import Memory, RunAgent, RunDesk
from api.links import BlockLinks
from api.parts import CatalogDoor, Parts
from api.patience import KEEP_ALIVE_S, PatientProtocol
from api.retrieval.library import Library, Pinned
from api.sessions import Sessions
from shared.blobs import Blobs
from shared.bundles import RELEASED, Shelf
from shared.clock import NowMs, now_ms
from shared.embeddings.fake import FakeEmbedder
from shared.errors import UpstreamError
from shared.ids import ImportId
from shared.keys import demands_key
from shared.layout import Layout
from shared.llm.port import Chat
from shared.prompts import Bundle
from shared.providers.connections import Connections
from shared.providers.opening import check_opens
from shared.settings import Settings
from shared.telemetry.setup import Telemetry
from shared.types.events import AnswerDelta, CitationMade, RunCompleted, RunEvent, RunStarted
from shared.types.runs import RunRecord
from shared.vectors.memory import MemoryVectors
from tests.blocking import nothing_blocks
from tests.contract.http.apps import living
from tests.doubles.credential_store import MemoryStore
from tests.factories import ADocument, Published, a_document, an_empty_catalog, publish
from tests.patience import PATIENCE_S
from tests.unit.telemetry.factories import a_record

ORIGIN = "http://127.0.0.1:8765"

Work: TypeAlias = Callable[[RunRequest, Pinned, Chat | None, Callable[[RunEvent], None]], Awaitable[RunRecord]]

LEAVE = a_document(
    "制度/请假.md",
    title="请假管理制度",
    page=3,
    sections={"年假": ["员工工作满一年享有五天年假。\n", "年假不得跨年累计。\n"]},
)


class Bell:
    def __init__(self) -> None:
        self.rung: list[ImportId] = []
        self.broken = False
        self.seen_ms: int | None = None

    def ring(self, import_id: ImportId) -> None:
        self.check()
        self.rung.append(import_id)

    def check(self) -> None:
        if self.broken:
            raise UpstreamError("upstream_unavailable", "The broker can't be reached.")

    def worker_seen_ms(self) -> int | None:
        self.check()
        return self.seen_ms


class Warmth:
    state: Literal["loading", "ready", "failed"] = "ready"
    failure: str | None = None


class Site:
    """One data folder and an app around it. `work` is what the agent does with a question."""

    def __init__(self, folder: Path) -> None:
        self.layout = Layout(root=folder)
        self.layout.create()
        an_empty_catalog(self.layout.catalog)
        self.vectors = MemoryVectors()
        self.embedder = FakeEmbedder()
        self.settings = Settings(data_dir=str(folder))
        self.telemetry = self._telemetry()
        self.bell = Bell()
        self.warmth = Warmth()
        self.env: dict[str, str] = {}
        self.store = MemoryStore()
        self.restarts = 0
        self.start_again: Callable[[], None] | None = self._restarted
        self.chat: Chat | None = None
        self.agent: RunAgent = self._answer
        self.memory: Callable[[], Memory] = self.conversations
        self.prompts = Shelf(
            release=RELEASED, local=self.layout.prompts, default=self.settings.prompts.bundle, check=check_bundle
        )
        self.work: Work = answer_at_once
        self.requests: list[RunRequest] = []
        self.so_far: list[RunSoFar] = []  # of these
        self.heartbeat_s = 15.0
        self.now_ms: NowMs = now_ms

    def _restarted(self) -> None:
        self.restarts += 1

    def publish(self, *documents: ADocument) -> Published:
        return publish(self.layout, documents or (LEAVE,), vectors=self.vectors, embedder=self.embedder)

    def reopen_telemetry(self) -> None:
        """As another process finds it: with what is on the disk, nothing in memory."""
        self.telemetry.close()
        self.telemetry = self._telemetry()

    def with_the_real_agent(self) -> None:
        self.agent = run_agent

    def with_api(self, **settings: Any) -> None:
        self.settings = structs.replace(self.settings, api=structs.replace(self.settings.api, **settings))

    def library(self) -> Library:
        return Library(layout=self.layout, vectors=self.vectors, embedder=self.embedder)

    def _telemetry(self) -> Telemetry:
        return Telemetry(database=self.layout.traces, artifacts=self.layout.artifacts, settings=self.settings.trace)

    def conversations(self) -> Conversations:
        return Conversations(CatalogDoor(self.layout.catalog).open, now_ms=self.now_ms)

    def desk(self, library: Library) -> RunDesk:
        return RunDesk(
            library=library,
            chat=self.chat,
            bundles=self.prompts,
            memory=self.memory(),
            telemetry=self.telemetry,
            run_agent=self.agent,
            now_ms=self.now_ms,
        )

    def app(self) -> Litestar:
        """One that is nobody else's."""
        life = self._life()
        return build_app(lambda: life, max_body_bytes=self.settings.api.max_body_bytes)

    def _life(self) -> Life:
        library = self.library()
        secret = b"s" * 32 if demands_key(self.settings.api) else None
        return Life(
            Parts(
                settings=self.settings,
                catalog=CatalogDoor(self.layout.catalog),
                originals=Blobs(self.layout.originals),
                library=library,
                desk=self.desk(library),
                prompts=self.prompts,
                conversations=self.conversations(),
                telemetry=self.telemetry,
                links=BlockLinks(secret, owner_key=self.settings.api.api_key, now_ms=self.now_ms),
                sessions=Sessions(secret, owner_key=self.settings.api.api_key, now_ms=self.now_ms),
                bell=self.bell,
                warmth=self.warmth,
                connections=Connections(self.env, in_force=self.settings, store=self.store, check_opens=check_opens),
                start_again=self.start_again,
                chat_model=None if self.chat is None else self.chat.model,
                now_ms=self.now_ms,
                heartbeat_s=self.heartbeat_s,
                poll_s=0.01,
            ),
            closing=() if self.chat is None else (self.chat.close,),
        )

    @contextmanager
    def client(self) -> Generator[TestClient[Litestar]]:
        """In-process, in an event loop that nothing may block. Unexpected errors come as replies, as they would on the wire."""
        with (
            living(self._life()) as app,
            nothing_blocks(),
            TestClient(app, base_url=ORIGIN, raise_server_exceptions=False) as client,
        ):
            yield client

    @contextmanager
    def live(self, *, http: type[PatientProtocol] = PatientProtocol, stop_s: int = 1) -> Generator[str]:
        """A real server on loopback in a thread of its own, whose event loop nothing may block; its address.

        stop_s: after which requests under way are cancelled at the end. Where there are none, long: the machine may be busy.
        """
        listening = socket.socket()
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        with living(self._life()) as app, nothing_blocks():
            server = uvicorn.Server(
                uvicorn.Config(
                    app,
                    http=http,
                    ws="none",
                    lifespan="on",
                    log_config=None,
                    timeout_keep_alive=KEEP_ALIVE_S,
                    timeout_graceful_shutdown=stop_s,
                )
            )
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
            thread.start()
            try:
                yield f"http://127.0.0.1:{listening.getsockname()[1]}"
            finally:
                server.should_exit = True
                thread.join(stop_s + PATIENCE_S)
                assert not thread.is_alive()

    async def _answer(
        self,
        request: RunRequest,
        *,
        pinned: Pinned,
        chat: Chat | None,
        bundle: Bundle,
        emit: Callable[[RunEvent], None],
        now_ms: NowMs = now_ms,
        so_far: RunSoFar | None = None,
    ) -> RunRecord:
        self.requests.append(request)
        self.so_far.append(so_far or RunSoFar())
        await pinned.resolve_scope(request.scope)
        emit(RunStarted(run_id=request.run_id, snapshot_id=pinned.snapshot.snapshot_id))
        return await self.work(request, pinned, chat, emit)


async def answer_at_once(
    request: RunRequest, pinned: Pinned, chat: Chat | None, emit: Callable[[RunEvent], None]
) -> RunRecord:
    """The record of tests/unit/telemetry/factories.py, as an agent would tell it."""
    record = a_record(run_id=request.run_id, question=request.question)
    record = structs.replace(record, answer=structs.replace(record.answer, conversation_id=request.conversation_id))
    for piece in ("每人每天 ", "300 元。[1]"):
        emit(AnswerDelta(text=piece))
        await asyncio.sleep(0)
    for citation in record.answer.citations:
        emit(CitationMade(citation=citation))
    emit(RunCompleted(answer=record.answer))
    return record


class Held:
    """Work that goes on until it is cancelled or let go; tells across threads when it is under way and when it was cancelled."""

    def __init__(self) -> None:
        self.under_way = threading.Event()
        self.cancelled = threading.Event()

    async def __call__(
        self, request: RunRequest, pinned: Pinned, chat: Chat | None, emit: Callable[[RunEvent], None]
    ) -> RunRecord:
        self.under_way.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        raise AssertionError("never reached")


def until(condition: Callable[[], object]) -> None:
    """Look again until it holds, for a bounded time: for what another thread does to the disk, where nothing can be waited on."""
    pause = threading.Event()
    end_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < end_s:
        if condition():
            return
        pause.wait(0.005)
    raise AssertionError(f"it did not come about within {PATIENCE_S} s")
