"""Carry one import as far as it goes: claim it, run the stages that are left, and leave it in a state of the table.

Whoever calls this may be one of many, may be late, and may be killed at any line; what is done is in the catalog and the caches.
"""

import logging
import threading
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from msgspec import Struct
from opentelemetry.trace import Span

from shared.blobs import Blobs
from shared.catalog import leases
from shared.catalog.building import fail_snapshot
from shared.catalog.db import open_database
from shared.catalog.documents import get_version
from shared.catalog.imports import get_import, get_request
from shared.catalog.items import list_items
from shared.clock import NowMs
from shared.embeddings.cache import EmbeddingCache
from shared.embeddings.port import Embedder
from shared.errors import StorageError, UpstreamError
from shared.ids import ImportId, SnapshotId
from shared.layout import Layout
from shared.telemetry import names
from shared.telemetry.tracing import Current, tracer
from shared.text.terms import KEYWORD_VERSION
from shared.types.snapshots import Stage
from shared.vectors.port import Vectors
from worker.faults import fault_point
from worker.lease import checker, heartbeat, waiter
from worker.reserve import Reserve
from worker.stages.discover import discover
from worker.stages.embed import Target, embed
from worker.stages.index import (
    Abandoned,
    Build,
    BuildCrashed,
    BuildJob,
    BuildResult,
    Built,
    Missing,
    Unsound,
    target_of,
)
from worker.stages.lineage import Chunking
from worker.stages.parse import Parser, chunk, parse
from worker.stages.publish import Plan, Space, drop_own, open_snapshot, plan_snapshot, publish, state_facts
from worker.stages.work import ImportFailed, Stopped, Work

MAX_CLAIMS = 5  # in a row without progress: the import ends its workers
MAX_ROUNDS = 10  # of building on a base that moves away
SHORT_DOCUMENTS = 20  # an import with more of them is given its builder when it needs it: 80 MB wouldn't wait for hours
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 15.0, 900.0
_log = logging.getLogger(__name__)


class Parts(Struct, frozen=True, kw_only=True):
    """What a worker process has: opened once, shared by its threads."""

    layout: Layout
    blobs: Blobs
    parser: Parser
    chunking: Chunking
    embedder: Embedder
    cache: EmbeddingCache
    vectors: Vectors
    build: Build
    standby: Callable[[], AbstractContextManager[None]] = nullcontext  # inside it, `build` begins sooner
    max_document_bytes: int
    lease_ms: int
    now_ms: NowMs


def advance(import_id: ImportId, parts: Parts, *, worker: str, stopping: threading.Event) -> None:
    """Nothing happens when the import is somebody else's, or has ended.

    worker: a name no other thread of any worker has. stopping: set when the process is to end.
    Raises: StorageError when even the import's state can't be written (the lease runs out, the reconciler tries again); bugs,
    after the lease is dropped.
    """
    db = open_database(parts.layout.catalog)
    try:
        claims = leases.claim(db, import_id, worker, now_ms=parts.now_ms(), lease_ms=parts.lease_ms)
        if claims is None:
            return
        beating = heartbeat(parts.layout.catalog, import_id, worker, lease_ms=parts.lease_ms, now_ms=parts.now_ms)
        with beating, _span(names.IMPORT, import_id) as span:
            check = checker(db, import_id, worker, stopping)
            work = Work(import_id=import_id, worker=worker, db=db, blobs=parts.blobs, check=check, now_ms=parts.now_ms)
            reserve = Reserve(parts.layout.reserve)
            _to_an_end(_Course(work, parts, waiter(check, stopping)), work, span, claims=claims, reserve=reserve)
    finally:
        db.conn.close()


def pause_s(faults: int, retry_after_s: float | None) -> float:
    """How long an import rests before it tries again by itself. faults: pauses in a row so far, 0.."""
    return max(retry_after_s or 0.0, min(_FIRST_PAUSE_S * 2.0 ** min(faults, 20), _LONGEST_PAUSE_S))


def _to_an_end(course: "_Course", work: Work, span: Span, *, claims: int, reserve: Reserve) -> None:
    """Run, and turn each way of ending into a state."""
    try:
        if claims > MAX_CLAIMS:
            raise ImportFailed("worker_crashed", f"{MAX_CLAIMS} tries in a row broke off. The worker's log says where.")
        reserve.lay_up()
        course.run()
    except Stopped:
        _log.info("import_id=%s stopped", work.import_id)
        if not leases.settle(work.db, work.import_id, work.worker, now_ms=work.now_ms()):
            leases.release(work.db, work.import_id, work.worker, now_ms=work.now_ms())
    except BuildCrashed as error:
        reserve.give_up()  # it may have met a full disk under a mapped file
        _rest_or_fail(work, error)
    except ImportFailed as error:
        _log.warning("import_id=%s failed code=%s: %s", work.import_id, error.code, error.reason)
        span.set_attribute(names.ERROR_TYPE, error.code)
        leases.fail(work.db, work.import_id, work.worker, code=error.code, reason=error.reason, now_ms=work.now_ms())
    except StorageError as error:
        reserve.give_up()
        span.set_attribute(names.ERROR_TYPE, error.code)
        _rest_or_fail(work, error)
    except UpstreamError as error:
        span.set_attribute(names.ERROR_TYPE, error.code)
        _rest_or_fail(work, error)
    except Exception:
        leases.drop_lease(work.db, work.import_id, work.worker, now_ms=work.now_ms())
        raise


def _rest_or_fail(work: Work, error: StorageError | UpstreamError | BuildCrashed) -> None:
    """Pause for a fault outside the documents; one that time may mend ends by itself.

    A builder that was killed may have lacked memory for a moment; one that is killed again and again ends its import.
    """
    faults = leases.faults(work.db, work.import_id)
    now_ms = work.now_ms()
    match error:
        case BuildCrashed():
            reason, wait_s = str(error), pause_s(faults, None)
            if faults >= MAX_CLAIMS:
                leases.fail(work.db, work.import_id, work.worker, code="build_crashed", reason=reason, now_ms=now_ms)
                return
        case UpstreamError():
            reason, wait_s = error.message, pause_s(faults, error.retry_after_s) if error.retryable else None
        case StorageError():
            reason, wait_s = error.message, pause_s(faults, None)
    paused = leases.pause_for(
        work.db,
        work.import_id,
        work.worker,
        reason=reason,
        wake_at_ms=None if wait_s is None else now_ms + round(wait_s * 1000),
        now_ms=now_ms,
    )
    if paused:
        _log.warning("import_id=%s paused wait_s=%s: %s", work.import_id, wait_s, reason)
    else:  # it was asked to be cancelled meanwhile
        leases.settle(work.db, work.import_id, work.worker, now_ms=now_ms)


class _Course:
    """The stages of one import, each entered in the catalog before it begins."""

    def __init__(self, work: Work, parts: Parts, wait: Callable[[float], None]) -> None:
        self._work = work
        self._parts = parts
        self._wait = wait
        self._request = get_request(work.db, work.import_id)
        self._space = Space(
            embedding_version=parts.embedder.version,
            dimensions=parts.embedder.dimensions,
            keyword_version=KEYWORD_VERSION,
            index=parts.vectors.index,
        )

    def run(self) -> None:
        """Raises: Stopped, ImportFailed, StorageError, UpstreamError."""
        work, parts = self._work, self._parts
        if get_import(work.db, work.import_id, now_ms=work.now_ms()).stage in (None, "discover"):
            with self._stage("discover"):
                discover(work, self._request, max_bytes=parts.max_document_bytes, lineage=parts.chunking.lineage)
        with parts.standby() if self._is_short() else nullcontext():
            with self._stage("parse"):
                parse(work, parts.parser, parts.chunking)
            with self._stage("chunk"):
                chunk(work, parts.parser, parts.chunking)
            self._embed(self._chunked())
            for _ in range(MAX_ROUNDS):
                if self._round():
                    return
        raise ImportFailed("conflict", "Other imports published again and again meanwhile. Retry this one.")

    def _is_short(self) -> bool:
        """Whether the time a builder takes to start would be felt."""
        unfinished = list_items(self._work.db, self._work.import_id, "pending", "parsed", "chunked")
        return 0 < len(unfinished) <= SHORT_DOCUMENTS

    def _round(self) -> bool:
        """Plan, build and publish on the base that is active now; False when it has to be done again."""
        plan = plan_snapshot(self._work, self._request, self._space, self._parts.vectors)
        if plan.unchanged and plan.base_snapshot_id is not None:
            self._complete_unchanged(plan.base_snapshot_id)
            return True
        if plan.foreign:
            self._embed([target_of(member) for member in plan.foreign])
        with self._stage("index"):
            snapshot_id = open_snapshot(self._work, plan, self._space, self._parts.vectors)
            job = BuildJob(
                snapshot_id=snapshot_id,
                base=plan.begin_with,
                embedding_version=self._space.embedding_version,
                dimensions=self._space.dimensions,
            )
            fault_point("index:begun")
            result = self._build(job)
        match result:
            case Abandoned():
                raise Stopped
            case Missing(documents=documents):
                ordinals = {item.doc_id: item.ordinal for item in list_items(self._work.db, self._work.import_id)}
                lost = [member for member in plan.membership.members if member.doc_id in set(documents)]
                self._embed([target_of(member, ordinals.get(member.doc_id)) for member in lost])
                return False
            case Unsound(check=check, detail=detail):
                fail_snapshot(self._work.db, snapshot_id, failure=f"{check}: {detail}")
                self._parts.vectors.drop(snapshot_id)
                raise ImportFailed("seal_failed", f"The new collection did not pass the check {check}: {detail}.")
            case Built():
                return self._publish(snapshot_id, plan, result)

    def _build(self, job: BuildJob) -> BuildResult:
        """A builder that ends without a result leaves nothing behind."""
        try:
            return self._parts.build(job, self._work.check)
        except (Stopped, BuildCrashed, StorageError, UpstreamError):
            drop_own(self._work.db, job.snapshot_id, self._parts.vectors, now_ms=self._work.now_ms())
            raise

    def _publish(self, snapshot_id: SnapshotId, plan: Plan, built: Built) -> bool:
        with self._stage("seal"):
            chunker = self._parts.chunking.chunker_version
            facts = state_facts(snapshot_id, plan, built, space=self._space, chunker_version=chunker)
        with self._stage("publish"):
            verdict = publish(self._work, facts, activate=self._request.activate)
        match verdict:
            case "published":
                _log.info(
                    "import_id=%s published snapshot_id=%s documents=%d blocks=%d failed=%d",
                    self._work.import_id,
                    snapshot_id,
                    len(facts.documents),
                    facts.blocks,
                    facts.failed,
                )
                return True
            case "base_moved":
                return False
            case "lease_lost":
                raise Stopped

    def _complete_unchanged(self, snapshot_id: SnapshotId) -> None:
        work = self._work
        if not leases.complete_unchanged(
            work.db, work.import_id, work.worker, snapshot_id=snapshot_id, now_ms=work.now_ms()
        ):
            raise Stopped
        _log.info("import_id=%s unchanged snapshot_id=%s", work.import_id, snapshot_id)

    def _chunked(self) -> list[Target]:
        return [
            Target(
                doc_id=item.doc_id,
                version=item.version,
                title=get_version(self._work.db, item.doc_id, item.version).title,
                ordinal=item.ordinal,
            )
            for item in list_items(self._work.db, self._work.import_id, "chunked")
            if item.doc_id is not None and item.version is not None
        ]

    def _embed(self, targets: list[Target]) -> None:
        with self._stage("embed"):
            embed(self._work, targets, embedder=self._parts.embedder, cache=self._parts.cache, wait=self._wait)

    @contextmanager
    def _stage(self, stage: Stage) -> Generator[None]:
        work = self._work
        work.check()
        leases.enter_stage(work.db, work.import_id, work.worker, stage, now_ms=work.now_ms())
        fault_point(f"{stage}:begins")
        started = time.monotonic()
        with _span(f"{names.STAGE} {stage}", work.import_id):
            yield
        fault_point(f"{stage}:ends")
        _log.info("import_id=%s stage=%s done ms=%d", work.import_id, stage, round((time.monotonic() - started) * 1000))


def _span(name: str, import_id: ImportId) -> Current:
    """Exceptions are not noted: a stop is no error, and a message may name a person's files."""
    return tracer.start_as_current_span(name, attributes={names.IMPORT_ID: import_id}, notes=False)
