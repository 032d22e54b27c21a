"""Remove runs with all that was kept of them: record, spans, and contents that no other span refers to."""

from collections.abc import Sequence
from pathlib import Path

from shared.blobs import Blobs
from shared.catalog.db import writing
from shared.telemetry.schema import opened_traces

BUSY_MS = 2_000


def forget_runs(database: Path, blobs: Blobs, run_ids: Sequence[str]) -> None:
    """Blocking. What is not there is forgotten already. Raises: StorageError when the store can't be written."""
    with opened_traces(database) as db:
        for run_id in run_ids:
            with writing(db) as connection:
                found = connection.execute(
                    "select distinct a.sha256 from artifacts a join spans s using (trace_id, span_id) where s.run_id = ?",
                    [run_id],
                )
                contents = [str(sha256) for (sha256,) in found]
                connection.execute(
                    "delete from artifacts where (trace_id, span_id) in (select trace_id, span_id from spans where run_id = ?)",
                    [run_id],
                )
                for table in ("spans", "runs", "citations", "feedback", "cases"):
                    connection.execute(f"delete from {table} where run_id = ?", [run_id])
                left = [
                    sha256
                    for sha256 in contents
                    if connection.execute("select 1 from artifacts where sha256 = ? limit 1", [sha256]).fetchone()
                    is None
                ]
            for sha256 in left:
                blobs.remove(sha256, unused_for_s=0)
