"""What the routes work with; `api.app` makes it, tests make their own."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, Protocol

from msgspec import Struct, field

from api.conversations import Conversations
from api.desk import RunDesk
from api.links import BlockLinks
from api.retrieval.library import Library
from api.sessions import Sessions
from shared.blobs import Blobs
from shared.bundles import Shelf
from shared.catalog.db import Database, open_database
from shared.clock import NowMs, now_ms
from shared.ids import ImportId
from shared.providers.connections import Connections
from shared.settings import Settings
from shared.telemetry.setup import Telemetry


class CatalogDoor:
    """The catalog for one request in its own thread. Opening costs a third of a millisecond."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @contextmanager
    def open(self) -> Generator[Database]:
        """Blocking. Raises: StorageError."""
        db = open_database(self._path)
        try:
            yield db
        finally:
            db.conn.close()


class WorkerBell(Protocol):
    """How the worker is told that there is something to do. Blocking."""

    def ring(self, import_id: ImportId) -> None:
        """Raises: UpstreamError; the import is found later all the same."""
        ...

    def check(self) -> None:
        """Raises: UpstreamError when the broker doesn't answer."""
        ...

    def worker_seen_ms(self) -> int | None:
        """When a worker last asked for work; None = none was there lately. Raises: UpstreamError."""
        ...


class Warmth(Protocol):
    """How far the embedder is."""

    @property
    def state(self) -> Literal["loading", "ready", "failed"]: ...
    @property
    def failure(self) -> str | None: ...


class Parts(Struct, frozen=True, kw_only=True):
    settings: Settings
    catalog: CatalogDoor
    originals: Blobs
    library: Library
    desk: RunDesk
    prompts: Shelf
    conversations: Conversations
    telemetry: Telemetry
    links: BlockLinks
    sessions: Sessions
    bell: WorkerBell
    warmth: Warmth
    connections: Connections
    chat_model: str | None  # None = the extractive answerer
    start_again: Callable[[], None] | None = None  # None = this process was started by itself
    checks: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(2))  # of providers, at a time
    files: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))  # saved runs that are made pages of
    now_ms: NowMs = now_ms
    started_at_ms: int = 0
    heartbeat_s: float = 15.0  # silence on a stream after which a comment keeps proxies awake
    poll_s: float = 0.5  # how often a watched import is looked at
