"""The read side: a run's spans as a tree, runs at a glance, run records. One connection a read."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, cast

import msgspec
from msgspec import structs

from shared.access import Access
from shared.errors import NotFound
from shared.ids import ImportId, RunId
from shared.telemetry.schema import opened_traces
from shared.telemetry.wanted import EVERY, where
from shared.text.fold import fold
from shared.types.runs import RunRecord
from shared.types.traces import Attributes, RunFilter, RunSummary, SpanEvent, SpanNode, Trace

_COLUMNS = (
    "trace_id",
    "span_id",
    "parent_id",
    "name",
    "start_ns",
    "end_ns",
    "status",
    "status_message",
    "attributes",
    "events",
)

_record = msgspec.json.Decoder(RunRecord)
_summary = msgspec.json.Decoder(RunSummary)
_labels = msgspec.json.Decoder(tuple[str, ...] | None)
_attributes = msgspec.json.Decoder(Attributes)
_events = msgspec.json.Decoder(tuple[SpanEvent, ...])


def may_read(run_access: tuple[str, ...] | None, asker: str | None, caller: Access) -> bool:
    """Whether a caller may read a run: an admin any, everybody else what he asked himself, for as long as he holds its labels.

    A question tells as much as an answer, so equal labels are not enough. `asker`: key_id; None = the owner.
    """
    return caller.is_admin or (asker == caller.key_id and could_make(run_access, caller))


def could_make(run_access: tuple[str, ...] | None, caller: Access) -> bool:
    """Whether a caller sees every document that a run with these labels could see."""
    return caller.labels is None or (run_access is not None and caller.labels.issuperset(run_access))


class TraceStore:
    """Reads what any process has written. Safe to use from several threads.

    Raises: StorageError when the file can't be read.
    """

    def __init__(self, database: Path) -> None:
        self._database = database

    def run_record(self, run_id: RunId, access: Access) -> RunRecord:
        """Raises: NotFound, also for a run the caller may not read."""
        with opened_traces(self._database) as db:
            found = db.conn.execute("select record, access, asker from runs where run_id = ?", [run_id]).fetchone()
        if found is None or not may_read(_labels.decode(found[1] or "null"), found[2], access):
            raise unknown_run(run_id)
        return _record.decode(found[0])

    def list_runs(self, access: Access, *, limit: int, wanted: RunFilter = EVERY) -> list[RunSummary]:
        """The newest first."""
        listed: list[RunSummary] = []
        condition, values = where(wanted, access)
        with opened_traces(self._database) as db:
            db.conn.create_function("folded", 1, fold, deterministic=True)
            for summary, labels, asker in db.conn.execute(
                f"select summary, access, asker from runs where {condition} order by run_id desc", values
            ):
                if len(listed) >= limit:
                    break
                if may_read(_labels.decode(labels or "null"), asker, access):
                    listed.append(_summary.decode(summary))
        return listed

    def citing(self, block_id: str, access: Access, *, limit: int) -> list[RunRecord]:
        """Runs that cite a block and that the caller could have made, whoever asked; the newest first. What they quote he could read."""
        found: list[RunRecord] = []
        with opened_traces(self._database) as db:
            for record, labels in db.conn.execute(
                "select runs.record, runs.access from citations join runs using (run_id)"
                " where citations.block_id = ? order by citations.run_id desc",
                [block_id],
            ):
                if len(found) >= limit:
                    break
                if could_make(_labels.decode(labels or "null"), access):
                    found.append(_record.decode(record))
        return found

    def runs_of(self, conversation_id: str) -> list[str]:
        """The ids of a conversation's runs, whoever asks."""
        with opened_traces(self._database) as db:
            found = db.conn.execute("select run_id from runs where conversation_id = ?", [conversation_id]).fetchall()
        return [str(run_id) for (run_id,) in found]

    def run_trace(self, run_id: RunId) -> Trace:
        """Whatever is there of a run's spans; nothing there is an empty, partial trace."""
        return self._trace("run_id", run_id)

    def import_trace(self, import_id: ImportId) -> Trace:
        return self._trace("import_id", import_id)

    def counters(self) -> dict[str, int]:
        """What was dropped since the store was made, by kind."""
        with opened_traces(self._database) as db:
            return dict(db.conn.execute("select name, value from counters order by name").fetchall())

    def _trace(self, column: Literal["run_id", "import_id"], value: str) -> Trace:
        with opened_traces(self._database) as db:
            found = db.conn.execute(
                f"select {', '.join(_COLUMNS)} from spans where {column} = ? order by start_ns, span_id", [value]
            )
            rows: list[dict[str, Any]] = [dict(zip(_COLUMNS, row, strict=True)) for row in found]
            traces = sorted({row["trace_id"] for row in rows})
            marks = ",".join("?" * len(traces))
            lost = db.conn.execute(
                f"select coalesce(sum(spans), 0), coalesce(sum(artifacts), 0) from losses where trace_id in ({marks})",
                traces,
            ).fetchone()
        roots = _tree(rows)
        return Trace(
            partial=bool(lost[0] or lost[1]) or len(roots) != len(traces) or not roots,
            lost_spans=lost[0],
            lost_artifacts=lost[1],
            spans=roots,
        )


def unknown_run(run_id: str) -> NotFound:
    return NotFound("There is no such run, or you may not read it.", field="run_id", ids=[run_id])


def _tree(rows: Sequence[dict[str, Any]]) -> tuple[SpanNode, ...]:
    """Nest spans by parent; one whose parent is missing is a root. `rows` by start."""
    nodes = {row["span_id"]: _node(row) for row in rows}
    children: dict[str | None, list[str]] = defaultdict(list)
    for span_id, node in nodes.items():
        children[node.parent_id if node.parent_id in nodes else None].append(span_id)

    def with_children(span_id: str) -> SpanNode:
        return structs.replace(nodes[span_id], children=tuple(map(with_children, children[span_id])))

    return tuple(map(with_children, children[None]))


def _node(row: dict[str, Any]) -> SpanNode:
    return SpanNode(
        trace_id=row["trace_id"],
        span_id=row["span_id"],
        parent_id=row["parent_id"],
        name=row["name"],
        start_ns=row["start_ns"],
        end_ns=row["end_ns"],
        status=cast(Literal["unset", "ok", "error"], row["status"]),
        status_message=row["status_message"],
        attributes=_attributes.decode(row["attributes"]),
        events=_events.decode(row["events"]),
    )
