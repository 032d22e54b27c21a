"""The ingest process: settings become parts, messages become calls of `advance`, and a reconciler finds what no message speaks of."""

import logging
import os
import signal
import socket
import sys
import threading
import uuid
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import dramatiq

from shared.blobs import Blobs
from shared.catalog.db import Database, open_database
from shared.catalog.leases import not_woken, reconcile
from shared.catalog.migrations import migrate
from shared.clock import now_ms
from shared.embeddings.cache import EmbeddingCache
from shared.embeddings.open import open_embedder
from shared.errors import SettingsError, StorageError, UpstreamError
from shared.ids import ImportId
from shared.layout import Layout
from shared.lifeline import follow_parent
from shared.settings import Settings
from shared.settings_load import load_settings
from shared.telemetry.open import open_telemetry
from shared.vectors.open import open_vectors
from shared.wake import ACTOR, QUEUE, open_broker, wake_import
from worker.advance import Parts, advance
from worker.parsers import ParserPool
from worker.retention import Retention, Store
from worker.stages.build import ChildBuilder
from worker.stages.lineage import chunking
from worker.stages.work import Stopped

THREADS = 2  # imports at once: a small one needn't wait for a night-long one
TICK_S = 2.0  # of the reconciler
_POLL_MS = 200  # an idle worker looks for messages; by default it lets a second pass
FAULT_S = 30.0  # retention rests after a fault
QUIET_MS = 30_000  # an import is not woken again before
STOP_S = 15.0  # less than the supervisor's patience
# Python's handlers run in the main thread. Of a process that was stopped (SIGSTOP, a frozen container) any thread may get the
# signal afterwards, and the main thread would sleep on.
_LISTEN_S = 1.0
_SWEEP_EVERY = 300  # ticks
_UPLOAD_S = 24 * 3600  # no upload takes longer
_log = logging.getLogger(__name__)


def main() -> None:
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s level=%(levelname)s logger=%(name)s %(message)s"
    )
    logging.getLogger("dramatiq").setLevel(logging.WARNING)
    try:
        run(load_settings(os.environ))
    except (SettingsError, StorageError) as error:
        _log.error("worker can't start code=%s: %s", error.code, error.message)
        sys.exit(2)


def run(settings: Settings) -> None:
    """Work until SIGTERM, SIGINT or the parent's end. Raises: SettingsError, StorageError."""
    if settings.broker.url is None:
        raise SettingsError("The worker needs a broker: set CITEBOUND_BROKER_URL, or start everything with `up`.")
    stopping = threading.Event()
    _stop_on_signals(stopping)
    follow_parent()
    layout = Layout(root=Path(settings.data_dir))
    layout.create()
    catalog = open_database(layout.catalog)
    migrate(catalog)
    telemetry = open_telemetry(settings, layout)
    broker = open_broker(settings.broker.url)
    parts, close = open_parts(settings, layout)
    declare(broker, parts, stopping)
    worker = dramatiq.Worker(broker, queues={QUEUE}, worker_threads=THREADS, worker_timeout=_POLL_MS)
    # Messages under way count until their import ends: fewer would leave threads idle, more would wait behind a long import
    worker.queue_prefetch = THREADS
    worker.start()
    _log.info("worker ready data_dir=%s threads=%d", layout.root, THREADS)
    reconciler = threading.Thread(
        target=_reconcile_until, args=(stopping, broker, layout, parts), name="reconciler", daemon=True
    )
    reconciler.start()
    retainer = threading.Thread(
        target=_retain_until, args=(stopping, settings, layout, parts), name="retention", daemon=True
    )
    retainer.start()
    while not stopping.wait(_LISTEN_S):
        continue
    _log.info("worker stopping")
    worker.stop(
        timeout=round(STOP_S * 1000)
    )  # what is still running then loses its lease in time and is taken up again
    reconciler.join(TICK_S)
    retainer.join(TICK_S)  # it has stopped at its next step, long ago
    close()
    telemetry.close()
    catalog.conn.close()


def open_parts(settings: Settings, layout: Layout) -> tuple[Parts, Callable[[], None]]:
    """The process's parts and what closes them. Raises: SettingsError, StorageError."""
    worker = settings.worker
    parser = ParserPool(timeout_s=worker.parse_timeout_s, memory_mb=worker.parse_memory_mb)
    embedder = open_embedder(settings.embedding, threads=max(2, (os.cpu_count() or 2) // 2))
    cache = EmbeddingCache(layout.embeddings)

    builder = ChildBuilder(data_dir=str(layout.root), qdrant=settings.qdrant)
    parts = Parts(
        layout=layout,
        blobs=Blobs(layout.originals),
        parser=parser,
        chunking=chunking(worker),
        embedder=embedder,
        cache=cache,
        vectors=open_vectors(settings.qdrant, layout.collections),
        build=builder.build,
        standby=builder.standby,
        max_document_bytes=worker.max_document_bytes,
        lease_ms=worker.lease_ms,
        now_ms=now_ms,
    )

    def close() -> None:
        parser.close()
        embedder.close()
        cache.close()

    return parts, close


def declare(broker: dramatiq.Broker, parts: Parts, stopping: threading.Event) -> None:
    @dramatiq.actor(broker=broker, actor_name=ACTOR, queue_name=QUEUE)
    def advance_import(import_id: str) -> None:  # pyright: ignore[reportUnusedFunction]: the broker calls it
        name = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:12]}"
        try:
            advance(ImportId(import_id), parts, worker=name, stopping=stopping)
        except StorageError as error:  # no other try of the broker's: the reconciler's come when the lease has run out
            _log.warning("import_id=%s is left as it is: its state can't be written: %s", import_id, error.message)


def _reconcile_until(stopping: threading.Event, broker: dramatiq.Broker, layout: Layout, parts: Parts) -> None:
    """A worker without its reconciler would lose imports without a word: if this ends, the process does."""
    try:
        db = open_database(layout.catalog)
        ticks = 0
        while not stopping.is_set():
            try:
                if ticks % _SWEEP_EVERY == 0:
                    parts.blobs.sweep(older_than_s=_UPLOAD_S)
                _wake(db, broker, reconcile(db, now_ms=now_ms(), quiet_ms=QUIET_MS, lease_ms=parts.lease_ms))
            except (StorageError, UpstreamError) as error:
                _log.warning("reconciler code=%s: %s", error.code, error.message)
            ticks += 1
            stopping.wait(TICK_S)
        db.conn.close()
    finally:
        stopping.set()


def _retain_until(stopping: threading.Event, settings: Settings, layout: Layout, parts: Parts) -> None:
    """Remove what may go, soon after it may. A thread of its own: imports must not wait for a large removal."""

    def check() -> None:
        if stopping.is_set():
            raise Stopped

    db = open_database(layout.catalog)
    store = Store(
        db=db,
        blobs=parts.blobs,
        cache=parts.cache,
        vectors=parts.vectors,
        owns_collections=settings.qdrant.url is None,
        sweeps=layout.sweeps,
    )
    retention = Retention(
        store,
        keep=settings.worker.keep_snapshots,
        conversation_days=settings.conversations.keep_days,
        embedding_version=parts.embedder.version,
        parser_version=parts.chunking.parser_version,
        now_ms=parts.now_ms,
    )
    while not stopping.wait(TICK_S):
        try:
            retention.run(check)
        except Stopped:
            break
        except (StorageError, UpstreamError) as error:
            _log.warning("retention code=%s: %s", error.code, error.message)
            stopping.wait(FAULT_S)
    db.conn.close()


def _wake(db: Database, broker: dramatiq.Broker, imports: list[ImportId]) -> None:
    try:
        for import_id in imports:
            wake_import(broker, import_id)
    except UpstreamError:
        not_woken(db, imports)  # else they would wait for QUIET_MS after the broker is back
        raise


def _stop_on_signals(stopping: threading.Event) -> None:
    def stop(_number: int, _frame: FrameType | None) -> None:
        stopping.set()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
