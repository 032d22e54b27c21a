"""The background thread that puts spans, run records and contents on disk. Nobody waits for it."""

import logging
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct, field

from shared.blobs import Blobs
from shared.catalog.db import writing
from shared.clock import now_ms
from shared.errors import StorageError
from shared.telemetry.at_once import of_rows, write_rows
from shared.telemetry.buffer import Batch, Buffer, Content
from shared.telemetry.daily import Additions
from shared.telemetry.held import Held
from shared.telemetry.processor import Reader
from shared.telemetry.redact import Redactor
from shared.telemetry.rows import citation_rows, run_row, span_row, trace_hex

_log = logging.getLogger(__name__)
_json = msgspec.json.encode

LINGER_S = 0.05  # one transaction for what ends together
BUSY_MS = 1_000
RETRY_S = 0.25


class Writer(threading.Thread):
    """Takes batches until the buffer is closed and empty.

    While the store can't be written (locked, disk full) the batch in hand is tried again and the buffer fills up behind it;
    what then finds no room is lost with a count. `give_up` ends the trying.
    """

    def __init__(
        self, buffer: Buffer, *, database: Path, blobs: Blobs, redactor: Redactor, readers: Sequence[Reader] = ()
    ) -> None:
        """`readers`: have their turn with every batch."""
        super().__init__(name="trace-writer", daemon=True)
        self._buffer = buffer
        self._database = database
        self._blobs = blobs
        self._redactor = redactor
        self._readers = readers
        self._give_up = threading.Event()
        self._held: Held | None = None
        self._replaced = False

    def give_up(self) -> None:
        self._give_up.set()

    @property
    def replaced(self) -> bool:
        """Whether the store was removed or exchanged while it was in use."""
        return self._replaced

    def run(self) -> None:
        while (batch := self._buffer.take(linger_s=LINGER_S)) is not None:
            self._settle()
            kept = self._keep(batch)
            self._buffer.done(batch)
            if not kept and self._buffer.is_closed():
                break
        self._close()

    def _keep(self, batch: Batch) -> bool:
        for content in batch.contents:
            self._keep_content(content)
        rows = self._rows(batch)
        while True:
            try:
                self._write(rows, batch)
                return True
            except (StorageError, sqlite3.OperationalError, OSError) as error:
                self._close()
                if self._give_up.wait(RETRY_S):
                    self._lose(batch, error)
                    return False
            except Exception as error:  # noqa: BLE001  the trace writer's border: it must go on with the next batch
                self._close()
                self._lose(batch, error)
                return False

    def _rows(self, batch: Batch) -> "_Rows":
        rows = _Rows()
        for ended in batch.spans:
            try:
                span, artifacts = span_row(ended, self._redactor)
            except Exception:  # noqa: BLE001  the trace writer's border: one odd span must not stop the others
                _log.exception("a span can't be written")
                self._buffer.lose(ended.trace_id, spans=1)
                continue
            rows.spans.append(span)
            rows.artifacts += artifacts
        for record in batch.runs:
            try:
                rows.runs.append(run_row(record, self._redactor))
            except Exception:  # noqa: BLE001  see above
                _log.exception("the record of run %s can't be written", record.answer.run_id)
                self._buffer.lose_runs(1)
                continue
            rows.citations += citation_rows(record)
        return rows

    def _write(self, rows: "_Rows", batch: Batch) -> None:
        if self._held is not None and not self._held.in_place:
            self._tell_replaced(self._held)
            self._close()
        if self._held is None:
            self._held = Held(self._database, busy_ms=BUSY_MS)
        losses = [_json((trace_hex(trace_id), lost.spans, lost.artifacts)) for trace_id, lost in batch.losses.items()]
        additions = Additions(batch, now_ms=now_ms())
        with writing(self._held.db) as connection:
            write_rows(connection, _INSERT_SPANS, rows.spans)
            write_rows(connection, _INSERT_ARTIFACTS, rows.artifacts)
            write_rows(connection, _INSERT_RUNS, rows.runs)
            write_rows(connection, _INSERT_CITATIONS, rows.citations)
            write_rows(connection, _ADD_LOSSES, losses)
            write_rows(connection, _ADD_COUNTERS, [_json(counter) for counter in batch.counters.items()])
            additions.write(connection)
        self._held.spans += len(rows.spans)
        self._held.runs += len(rows.runs)

    def _tell_replaced(self, held: Held) -> None:
        """What this process wrote into it is lost with a count; what others did is only told."""
        self._replaced = True
        runs = held.all_runs()
        _log.error(
            "%s was removed or exchanged while it was in use; %s runs that were in it are not found any more,"
            " %d of them and %d spans from this process. What comes now is written into the file that is there, or a new one.",
            self._database.name,
            "all" if runs is None else runs,
            held.runs,
            held.spans,
        )
        self._buffer.lose_written(spans=held.spans, runs=held.runs)

    def _settle(self) -> None:
        for reader in self._readers:
            try:
                reader.settle()
            except Exception:  # noqa: BLE001  see _rows
                _log.exception("a span can't be counted")

    def _keep_content(self, content: Content) -> None:
        try:
            self._blobs.put(content.data)
        except Exception as error:  # noqa: BLE001  see _rows; a folder that is not there any more raises OSError
            _log.warning("the content of an artifact is lost: %s", error)
            self._buffer.lose(content.trace_id, artifacts=1)

    def _lose(self, batch: Batch, error: Exception) -> None:
        _log.error("traces lost: %d spans, %d runs: %s", len(batch.spans), len(batch.runs), error)
        self._buffer.lose_batch(batch)

    def _close(self) -> None:
        if self._held is not None:
            self._held.close()
            self._held = None


class _Rows(Struct, kw_only=True):
    """Of one batch; made once, however often it has to be tried."""

    spans: list[bytes] = field(default_factory=list[bytes])
    artifacts: list[bytes] = field(default_factory=list[bytes])
    runs: list[bytes] = field(default_factory=list[bytes])
    citations: list[bytes] = field(default_factory=list[bytes])


_INSERT_SPANS = of_rows(
    "insert or replace into spans (trace_id, span_id, parent_id, run_id, import_id, name, start_ns, end_ns, status,"
    " status_message, attributes, events)",
    columns=12,
)
_INSERT_ARTIFACTS = of_rows("insert or replace into artifacts (trace_id, span_id, name, sha256, size_bytes)", columns=5)
_INSERT_RUNS = of_rows(
    "insert or replace into runs (run_id, status, summary, record, access, asker, conversation_id)", columns=7
)
_INSERT_CITATIONS = of_rows("insert or ignore into citations (block_id, run_id)", columns=2)
_ADD_LOSSES = of_rows(
    "insert into losses (trace_id, spans, artifacts)",
    columns=3,
    then="on conflict (trace_id) do update set spans = spans + excluded.spans, artifacts = artifacts + excluded.artifacts",
)
_ADD_COUNTERS = of_rows(
    "insert into counters (name, value)",
    columns=2,
    then="on conflict (name) do update set value = value + excluded.value",
)
