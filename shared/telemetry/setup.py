"""Start and stop telemetry in a process. Nothing here happens on import, and nothing is sent anywhere but by the exporters it is given."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_ON

from shared.access import Access
from shared.blobs import Blobs
from shared.ids import RunId
from shared.settings import TraceSettings
from shared.telemetry.artifacts import Keeping, stop_using, use
from shared.telemetry.buffer import Buffer, Content
from shared.telemetry.cases import Cases
from shared.telemetry.export import Exported, Exporter
from shared.telemetry.forget import forget_runs
from shared.telemetry.metrics import Metrics
from shared.telemetry.processor import BufferProcessor, Relay
from shared.telemetry.redact import Redactor
from shared.telemetry.rows import summary
from shared.telemetry.runfile import run_file
from shared.telemetry.seen import Seen
from shared.telemetry.store import TraceStore, could_make, may_read
from shared.telemetry.wanted import EVERY, fits
from shared.telemetry.writer import Writer
from shared.types.runfiles import RunFile
from shared.types.runs import RunRecord
from shared.types.traces import RunFilter, RunSummary, Trace
from shared.version import APP_VERSION

CLOSE_S = 3.0  # a process that stops waits no longer than this for its traces
FLUSH_S = 1.0  # a reader waits no longer than this for spans that are on their way
RECENT_RUNS = 200  # finished runs kept in memory, so that the store may be locked or gone and they are still read

_relays: list[Relay] = []  # at most one: a process has one tracer provider


class Telemetry:
    """Spans and runs of one process: recorded from now on, readable at any time. `close` when the process stops."""

    def __init__(
        self,
        *,
        database: Path,
        artifacts: Path,
        settings: TraceSettings,
        secrets: Sequence[str] = (),
        exporters: Sequence[Exporter] = (),
    ) -> None:
        """`database`: traces.db. `artifacts`: folder of contents. `secrets`: values that must never be kept."""
        redactor = self._redactor = Redactor(secrets)
        self.database = database
        self.store = TraceStore(database)
        self.cases = Cases(database)
        self.artifacts = Blobs(artifacts)
        self._buffer = Buffer(max_spans=settings.queue)
        self._keeping = Keeping(level=settings.level, redactor=redactor, keep=self._keep_content)
        self.metrics = Metrics()
        self.seen = Seen()
        self._exporters = tuple(exporters)
        self._receivers = (BufferProcessor(self._buffer), self.metrics, self.seen, *exporters)
        self._recent: dict[RunId, RunRecord] = {}
        self._writer = Writer(
            self._buffer,
            database=database,
            blobs=self.artifacts,
            redactor=redactor,
            readers=(self.metrics, self.seen),
        )
        self._relay = _relay()
        use(self._keeping)
        for receiver in self._receivers:
            self._relay.add(receiver)
        self._writer.start()

    def keep(self, record: RunRecord) -> None:
        """Keep a finished run: readable at once, on disk soon. Never blocks."""
        while len(self._recent) >= RECENT_RUNS:
            del self._recent[next(iter(self._recent))]
        self._recent[record.answer.run_id] = record
        self.metrics.keep(record)
        self._buffer.put_run(record)

    def run_record(self, run_id: RunId, access: Access) -> RunRecord:
        """Blocking. Raises: NotFound, StorageError."""
        recent = self._recent.get(run_id)
        if recent is not None and may_read(recent.access, recent.asker, access):
            return recent
        return self.store.run_record(run_id, access)

    def list_runs(self, access: Access, *, limit: int, wanted: RunFilter = EVERY) -> list[RunSummary]:
        """The newest first, those included that are not on disk yet. Blocking. Raises: StorageError."""
        found = {one.run_id: one for one in self.store.list_runs(access, limit=limit, wanted=wanted)}
        for record in tuple(self._recent.values()):
            if may_read(record.access, record.asker, access) and fits(record, wanted):
                found.setdefault(record.answer.run_id, summary(record))
        return sorted(found.values(), key=lambda one: one.run_id, reverse=True)[:limit]

    def citing(self, block_id: str, access: Access, *, limit: int) -> list[RunRecord]:
        """Runs that cite a block and that the caller could have made, those included that are not on disk yet. Blocking. Raises: StorageError."""
        found = {record.answer.run_id: record for record in self.store.citing(block_id, access, limit=limit)}
        for record in tuple(self._recent.values()):
            cited = any(citation.block_id == block_id for citation in record.answer.citations)
            if cited and could_make(record.access, access):
                found.setdefault(record.answer.run_id, record)
        return sorted(found.values(), key=lambda record: record.answer.run_id, reverse=True)[:limit]

    def run_trace(self, run_id: RunId, access: Access) -> Trace:
        """The spans of a run, those included that ended just now. Blocking, `FLUSH_S` at most. Raises: NotFound, StorageError."""
        self.run_record(run_id, access)
        self.flush(timeout_s=FLUSH_S)
        return self.store.run_trace(run_id)

    def run_file(self, run_id: RunId, access: Access) -> RunFile:
        """Everything that is kept of a run, without secrets, to be saved and looked at elsewhere. Blocking. Raises: NotFound, StorageError."""
        record = self.run_record(run_id, access)
        trace = self.run_trace(run_id, access)
        return run_file(record, trace, kept=self.artifacts.read, redactor=self._redactor)

    def forget(self, run_ids: Sequence[str]) -> None:
        """Remove runs with their spans and contents, those included that are on their way. Blocking. Raises: StorageError."""
        for run_id in run_ids:
            self._recent.pop(RunId(run_id), None)
        self.flush(timeout_s=FLUSH_S)
        forget_runs(self.database, self.artifacts, run_ids)

    def forget_conversation(self, conversation_id: str, *, turns: Sequence[str]) -> int:
        """Remove its runs, those included that are no turns; how many. `turns`: ids of those that are. Blocking. Raises: StorageError."""
        self.flush(timeout_s=FLUSH_S)
        recent = [
            run_id for run_id, record in tuple(self._recent.items()) if record.answer.conversation_id == conversation_id
        ]
        run_ids = sorted({*turns, *recent, *self.store.runs_of(conversation_id)})
        self.forget(run_ids)
        return len(run_ids)

    def flush(self, *, timeout_s: float) -> bool:
        """Wait until what was recorded so far is on disk; False when that takes longer. Blocking."""
        return self._buffer.wait_done(timeout_s=timeout_s)

    def dropped(self) -> Mapping[str, int]:
        """Spans, artifacts and runs lost by this process since it began."""
        return self._buffer.dropped()

    def waiting(self) -> int:
        """Spans on their way to the disk."""
        return self._buffer.waiting()

    def exported(self) -> Mapping[str, Exported]:
        """What became of spans that are sent on, by exporter."""
        return {exporter.name: exporter.exported() for exporter in self._exporters}

    def is_writing(self) -> bool:
        """Whether anything recorded from now on can still reach the disk."""
        return self._writer.is_alive()

    def was_replaced(self) -> bool:
        """Whether the store was removed or exchanged while this process used it."""
        return self._writer.replaced

    def close(self, *, timeout_s: float = CLOSE_S) -> None:
        """Write what waits, give up on the rest after `timeout_s`. Blocking."""
        for receiver in self._receivers:
            self._relay.remove(receiver)
            receiver.shutdown()
        stop_using(self._keeping)
        self._buffer.close()
        self._writer.join(timeout_s)
        self._writer.give_up()

    def _keep_content(self, trace_id: int, sha256: str, data: bytes) -> None:
        self._buffer.put_content(Content(trace_id, sha256, data))


def _relay() -> Relay:
    """The process's relay, hung into whatever tracer provider the process has; made at first use."""
    if not _relays:
        relay = Relay()
        provider = trace.get_tracer_provider()
        if not isinstance(provider, TracerProvider):
            provider = TracerProvider(
                sampler=ALWAYS_ON,
                resource=Resource({"service.name": "citebound", "service.version": APP_VERSION}),
                shutdown_on_exit=False,
            )
            trace.set_tracer_provider(provider)
        provider.add_span_processor(relay)
        _relays.append(relay)
    return _relays[0]
