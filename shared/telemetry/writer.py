"""The background thread that puts spans, run records and contents on disk. Nobody waits for it."""

import logging
import sqlite3
import threading
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from shared.blobs import Blobs
from shared.catalog.db import writing
from shared.clock import now_ms
from shared.errors import StorageError
from shared.telemetry.buffer import Batch, Buffer, Content, Ended
from shared.telemetry.daily import Additions
from shared.telemetry.redact import Redactor
from shared.telemetry.rows import artifact_rows, citation_rows, run_row, span_row, trace_hex
from shared.telemetry.schema import open_traces
from shared.types.runs import RunRecord

_log = logging.getLogger(__name__)

LINGER_S = 0.05  # one transaction for what ends together
BUSY_MS = 1_000
RETRY_S = 0.25


class Writer(threading.Thread):
    """Takes batches until the buffer is closed and empty.

    While the store can't be written (locked, disk full) the batch in hand is tried again and the buffer fills up behind it;
    what then finds no room is lost with a count. `give_up` ends the trying.
    """

    def __init__(self, buffer: Buffer, *, database: Path, blobs: Blobs, redactor: Redactor) -> None:
        super().__init__(name="trace-writer", daemon=True)
        self._buffer = buffer
        self._database = database
        self._blobs = blobs
        self._redactor = redactor
        self._give_up = threading.Event()
        self._db: Database | None = None

    def give_up(self) -> None:
        self._give_up.set()

    def run(self) -> None:
        while (batch := self._buffer.take(linger_s=LINGER_S)) is not None:
            kept = self._keep(batch)
            self._buffer.done(batch)
            if not kept and self._buffer.is_closed():
                break
        if self._db is not None:
            self._db.conn.close()

    def _keep(self, batch: Batch) -> bool:
        for content in batch.contents:
            self._keep_content(content)
        spans = [row for ended in batch.spans if (row := self._span_row(ended)) is not None]
        runs = [row for record in batch.runs if (row := self._run_row(record)) is not None]
        citations = [row for record in batch.runs for row in citation_rows(record)]
        while True:
            try:
                self._write(spans, runs, citations, batch)
                return True
            except (StorageError, sqlite3.OperationalError) as error:
                self._close()
                if self._give_up.wait(RETRY_S):
                    self._lose(batch, error)
                    return False
            except Exception as error:  # noqa: BLE001  the trace writer's border: it must go on with the next batch
                self._close()
                self._lose(batch, error)
                return False

    def _write(
        self, spans: list[dict[str, Any]], runs: list[dict[str, Any]], citations: list[dict[str, Any]], batch: Batch
    ) -> None:
        if self._db is None:
            self._db = open_traces(self._database, busy_ms=BUSY_MS)
        artifacts = [artifact for row in spans for artifact in artifact_rows(row)]
        losses = [(trace_hex(trace_id), lost.spans, lost.artifacts) for trace_id, lost in batch.losses.items()]
        additions = Additions(batch, now_ms=now_ms())
        with writing(self._db) as connection:
            connection.executemany(_INSERT_SPAN, spans)
            connection.executemany(_INSERT_ARTIFACT, artifacts)
            connection.executemany(_INSERT_RUN, runs)
            connection.executemany(_INSERT_CITATION, citations)
            connection.executemany(_ADD_LOSSES, losses)
            connection.executemany(_ADD_COUNTER, list(batch.counters.items()))
            additions.write(connection)

    def _keep_content(self, content: Content) -> None:
        try:
            self._blobs.put(content.data)
        except Exception as error:  # noqa: BLE001  see _span_row; a folder that is not there any more raises OSError
            _log.warning("the content of an artifact is lost: %s", error)
            self._buffer.lose(content.trace_id, artifacts=1)

    def _span_row(self, ended: Ended) -> dict[str, Any] | None:
        try:
            return span_row(ended, self._redactor)
        except Exception:  # noqa: BLE001  the trace writer's border: one odd span must not stop the others
            _log.exception("a span can't be written")
            self._buffer.lose(ended.trace_id, spans=1)
            return None

    def _run_row(self, record: RunRecord) -> dict[str, Any] | None:
        try:
            return run_row(record, self._redactor)
        except Exception:  # noqa: BLE001  see _span_row
            _log.exception("the record of run %s can't be written", record.answer.run_id)
            self._buffer.lose_runs(1)
            return None

    def _lose(self, batch: Batch, error: Exception) -> None:
        _log.error("traces lost: %d spans, %d runs: %s", len(batch.spans), len(batch.runs), error)
        self._buffer.lose_batch(batch)

    def _close(self) -> None:
        if self._db is not None:
            self._db.conn.close()
            self._db = None


_INSERT_SPAN = (
    "insert or replace into spans (trace_id, span_id, parent_id, run_id, import_id, name, start_ns, end_ns, status,"
    " status_message, attributes, events) values (:trace_id, :span_id, :parent_id, :run_id, :import_id, :name, :start_ns,"
    " :end_ns, :status, :status_message, :attributes, :events)"
)
_INSERT_ARTIFACT = (
    "insert or replace into artifacts (trace_id, span_id, name, sha256, size_bytes)"
    " values (:trace_id, :span_id, :name, :sha256, :size_bytes)"
)
_INSERT_RUN = (
    "insert or replace into runs (run_id, status, summary, record, access, asker, conversation_id)"
    " values (:run_id, :status, :summary, :record, :access, :asker, :conversation_id)"
)
_INSERT_CITATION = "insert or ignore into citations (block_id, run_id) values (:block_id, :run_id)"
_ADD_LOSSES = (
    "insert into losses (trace_id, spans, artifacts) values (?, ?, ?)"
    " on conflict (trace_id) do update set spans = spans + excluded.spans, artifacts = artifacts + excluded.artifacts"
)
_ADD_COUNTER = (
    "insert into counters (name, value) values (?, ?) on conflict (name) do update set value = value + excluded.value"
)
