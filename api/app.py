"""Settings -> parts -> Litestar. The only module of the query process that names adapters."""

import asyncio
import gc
import logging
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

from litestar import Litestar, Response
from litestar.di import Provide
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin

from api.agent.run import run_agent
from api.agent.run import warm_up as warm_up_agent
from api.agent.samples import check_bundle
from api.callers import Callers
from api.conversations import Conversations
from api.desk import RunDesk
from api.links import BlockLinks, read_secret
from api.openai_compat.errors import respond as respond_like_openai
from api.openai_compat.routes import openai
from api.openai_compat.shapes import ErrorBody
from api.parts import CatalogDoor, Parts, WorkerBell
from api.problem import Problem
from api.retrieval.library import Library
from api.routes.access import AnyRequest
from api.routes.blocks import blocks
from api.routes.conversations import conversations as conversation_routes
from api.routes.cut_off import CutOff
from api.routes.documents import documents
from api.routes.edge import Edge, add_caution, check_binding, name_methods
from api.routes.feedback import cases
from api.routes.figures import figures
from api.routes.health import health, healthz, readyz
from api.routes.imports import imports
from api.routes.keys import keys
from api.routes.metrics import metrics
from api.routes.problems import headers_of, respond, to_problem
from api.routes.prompts import prompts
from api.routes.query_names import QueryNames
from api.routes.runs import runs
from api.routes.settings import settings as settings_routes
from api.routes.snapshots import snapshots
from api.routes.tools import tools
from api.sessions import Sessions
from api.web.errors import is_of_web
from api.web.errors import respond as respond_as_page
from api.web.routes import web
from shared.blobs import Blobs
from shared.bundles import RELEASED, Shelf
from shared.catalog.db import open_database
from shared.catalog.migrations import migrate
from shared.clock import now_ms
from shared.embeddings.open import open_embedder, warm_up
from shared.embeddings.port import Embedder
from shared.errors import CiteboundError, StorageError, UpstreamError
from shared.ids import ImportId
from shared.keys import demands_key
from shared.layout import Layout
from shared.llm.open import open_chat
from shared.llm.port import Chat
from shared.providers.connections import Connections
from shared.providers.opening import check_opens
from shared.rerank.open import open_reranker
from shared.rerank.port import Reranker
from shared.settings import Settings
from shared.telemetry.open import open_telemetry
from shared.vectors.open import open_vectors
from shared.wake import check_broker, open_broker, wake_import, worker_seen_ms

_log = logging.getLogger(__name__)

EMBEDDER_THREADS = 1  # a query is short; more threads only take the cores from others


def create_app(
    settings: Settings, *, env: Mapping[str, str] | None = None, start_again: Callable[[], None] | None = None
) -> Litestar:
    """The query process, ready to be served. Opens the data folder; loads no model yet. `state.stop_runs` begins its end.

    env: what `settings` were read from, None = nothing. start_again: ends this process so that another one takes its place.
    Raises: SettingsError, StorageError.
    """
    check_binding(settings.api)
    layout = Layout(root=Path(settings.data_dir))
    try:
        layout.create()
    except OSError as error:
        raise StorageError(f"The data folder {layout.root} can't be written: {error.strerror}.") from error
    db = open_database(layout.catalog)
    migrate(db)
    db.conn.close()
    bundles = Shelf(release=RELEASED, local=layout.prompts, default=settings.prompts.bundle, check=check_bundle)
    catalog = CatalogDoor(layout.catalog)
    conversations = Conversations(catalog.open, now_ms=now_ms)
    bundles.usable(None)  # a damaged release is refused at start
    secret = read_secret(layout.links_key) if demands_key(settings.api) else None
    bell = _bell(settings)
    telemetry = open_telemetry(settings, layout)
    embedder = open_embedder(settings.embedding, threads=EMBEDDER_THREADS)
    chat = open_chat(settings.chat)
    reranker = open_reranker(settings.rerank)
    library = Library(
        layout=layout,
        vectors=open_vectors(settings.qdrant, layout.collections),
        embedder=embedder,
        reranker=reranker,
        most_result_bytes=settings.api.max_result_bytes,
    )
    warming = Warming(embedder)
    parts = Parts(
        settings=settings,
        catalog=catalog,
        originals=Blobs(layout.originals),
        library=library,
        desk=RunDesk(
            library=library,
            chat=chat,
            bundles=bundles,
            memory=conversations,
            telemetry=telemetry,
            run_agent=run_agent,
        ),
        conversations=conversations,
        prompts=bundles,
        telemetry=telemetry,
        links=BlockLinks(secret, owner_key=settings.api.api_key),
        sessions=Sessions(secret, owner_key=settings.api.api_key),
        bell=bell,
        warmth=warming,
        connections=Connections({} if env is None else env, in_force=settings, check_opens=check_opens),
        start_again=start_again,
        chat_model=None if chat is None else chat.model,
        started_at_ms=now_ms(),
    )
    life = Life(parts, starting=[warming.start], closing=[warming.finish, _closing_of(embedder, reranker, chat)])
    app = build_app(lambda: life, max_body_bytes=settings.api.max_body_bytes)
    app.state.stop_runs = parts.desk.stop
    return app


class Life:
    """What an app answers with from its start to its stop, and what happens at both ends."""

    def __init__(
        self,
        parts: Parts,
        *,
        starting: Sequence[Callable[[Litestar], None]] = (),
        closing: Sequence[Callable[[], Awaitable[None]]] = (),
    ) -> None:
        self.parts = parts
        self.settings = parts.settings.api
        self.callers = Callers(parts.settings, parts.catalog, parts.links, parts.sessions, now_ms=parts.now_ms)
        self._starting = starting
        self._closing = closing

    @asynccontextmanager
    async def span(self, app: Litestar) -> AsyncGenerator[None]:
        for start in self._starting:
            start(app)
        try:
            yield
        finally:
            await self.parts.desk.close()
            await self.callers.close()
            await self.parts.library.close()
            for close in self._closing:
                await close()
            await asyncio.to_thread(self.parts.telemetry.close)


def build_app(life: Callable[[], Life], *, max_body_bytes: int) -> Litestar:
    """Routes around whatever life the app has at the time.

    One app may have several, one after the other: its routes cost a tenth of a second to make, its parts nothing.
    """

    return Litestar(
        route_handlers=[
            healthz,
            readyz,
            health,
            metrics,
            figures,
            cases,
            runs,
            imports,
            snapshots,
            documents,
            blocks,
            tools,
            keys,
            prompts,
            settings_routes,
            conversation_routes,
            openai,
            *web,
        ],
        dependencies={
            "parts": Provide(lambda: life().parts, sync_to_thread=False),
            "callers": Provide(lambda: life().callers, sync_to_thread=False),
        },
        middleware=[CutOff(), Edge(life), QueryNames()],
        before_send=[add_caution, name_methods],
        exception_handlers={Exception: _answer_error},
        lifespan=[lambda app: life().span(app)],
        request_max_body_size=max_body_bytes,
        openapi_config=OpenAPIConfig(
            title="Citebound",
            version="1",
            path="/openapi",
            render_plugins=[JsonRenderPlugin(path="/openapi.json")],
        ),
        logging_config=None,
        debug=False,
    )


class Bell:
    """The broker, as the routes need it."""

    def __init__(self, url: str) -> None:
        self._broker = open_broker(url)

    def ring(self, import_id: ImportId) -> None:
        wake_import(self._broker, import_id)

    def check(self) -> None:
        check_broker(self._broker)

    def worker_seen_ms(self) -> int | None:
        return worker_seen_ms(self._broker)


class NoBell:
    """No broker is configured: the worker finds imports by itself, some seconds later."""

    def ring(self, import_id: ImportId) -> None:
        return

    def check(self) -> None:
        raise UpstreamError(
            "upstream_unavailable", "No broker is configured. Set CITEBOUND_BROKER_URL, or start it with ./scripts/run."
        )

    def worker_seen_ms(self) -> int | None:
        self.check()


class Warming:
    """Loads the embedder's model and the dictionaries in a thread, so that the server is up before them.

    Then the description of the API is made: it takes most of a second, which its first reader must not hold up others with. What is
    there by then stays for good: left out of garbage collection it can't hold up anybody for the 80 ms that looking through it takes.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._state: Literal["loading", "ready", "failed"] = "loading"
        self._failure: str | None = None
        self._thread: threading.Thread | None = None

    @property
    def state(self) -> Literal["loading", "ready", "failed"]:
        return self._state

    @property
    def failure(self) -> str | None:
        return self._failure

    def start(self, app: Litestar) -> None:
        self._thread = threading.Thread(target=self._warm, args=(app,), name="warm-up", daemon=True)
        self._thread.start()

    async def finish(self) -> None:
        """Wait until nothing uses the embedder any more."""
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)

    def _warm(self, app: Litestar) -> None:
        try:
            warm_up_agent()
            warm_up(self._embedder)
            self._state = "ready"
        except CiteboundError as error:
            _log.error("the embedding model can't be loaded: %s", error)
            self._failure = error.message
        finally:
            if self._state != "ready":
                self._state = "failed"
        _log.info("the API has %d addresses", len(app.openapi_schema.paths or {}))
        gc.collect()
        gc.freeze()
        gc.set_threshold(10_000, 20, 50)  # what is frozen no longer holds full collections back: decision 0125


def _bell(settings: Settings) -> WorkerBell:
    return NoBell() if settings.broker.url is None else Bell(settings.broker.url)


def _closing_of(embedder: Embedder, reranker: Reranker | None, chat: Chat | None) -> Callable[[], Awaitable[None]]:
    async def close() -> None:
        if reranker is not None:
            await reranker.close()
        if chat is not None:
            await chat.close()
        await asyncio.to_thread(embedder.close)

    return close


def _answer_error(request: AnyRequest, error: Exception) -> Response[Problem] | Response[ErrorBody] | Response[str]:
    """Each protocol's own shape for what went wrong."""
    if is_of_web(request):
        found = to_problem(request, error)
        return respond_as_page(request, found, headers_of(found, error))
    if request.scope["path"].startswith("/v1/"):  # not request.url: a Host that is none makes it raise
        found = to_problem(request, error)
        return respond_like_openai(found, headers_of(found, error))
    return respond(request, error)
