"""A series of days in traces.db: added to with every batch that is written, never computed from all there is."""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

import msgspec
from msgspec import Struct, field

from shared.telemetry.at_once import of_rows, write_rows
from shared.telemetry.buffer import Batch
from shared.telemetry.measures import (
    Count,
    Took,
    bucket_of,
    counts_of_run,
    counts_of_span,
    time_of_run,
    time_of_span,
)
from shared.telemetry.schema import opened_traces

DROPPED = "dropped"
_DAY_MS = 86_400_000
_ADD_COUNTS = of_rows(
    "insert into daily_counts (day, name, label, number)",
    columns=4,
    then="on conflict (day, name, label) do update set number = number + excluded.number",
)
_ADD_TIMES = of_rows(
    "insert into daily_times (day, step, bucket, number)",
    columns=4,
    then="on conflict (day, step, bucket) do update set number = number + excluded.number",
)


class DayCounts(Struct, kw_only=True):
    """What is stored of a UTC day. `times`: how many steps took how long, by bucket of measures.py."""

    counts: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    times: dict[str, dict[int, int]] = field(default_factory=dict[str, dict[int, int]])


class Additions:
    """What one batch adds to which days. Pure but for what it is told of the time."""

    def __init__(self, batch: Batch, *, now_ms: int) -> None:
        """`now_ms`: when what was dropped is noticed."""
        self._counts: Counter[tuple[str, str, str]] = Counter()
        self._times: Counter[tuple[str, str, int]] = Counter()
        for record in batch.runs:
            ended_ms = record.answer.started_at_ms + record.answer.duration_ms
            self._add(day_of(ended_ms), counts_of_run(record), time_of_run(record))
        for ended in batch.spans:
            self._add(
                day_of((ended.span.end_time or 0) // 1_000_000), counts_of_span(ended.span), time_of_span(ended.span)
            )
        for kind, number in batch.counters.items():
            self._counts[day_of(now_ms), DROPPED, kind] += number

    def write(self, connection: sqlite3.Connection) -> None:
        """Inside the caller's transaction."""
        counts = [msgspec.json.encode((*key, number)) for key, number in self._counts.items() if number]
        write_rows(connection, _ADD_COUNTS, counts)
        write_rows(connection, _ADD_TIMES, [msgspec.json.encode((*key, number)) for key, number in self._times.items()])

    def _add(self, day: str, counts: Iterable[Count], took: Took | None) -> None:
        for count in counts:
            self._counts[day, count.name, count.label] += count.amount
        if took is not None:
            self._times[day, took.step, bucket_of(took.seconds)] += 1


def day_of(at_ms: int) -> str:
    """The UTC day."""
    return _day(at_ms // _DAY_MS)


@lru_cache(maxsize=64)
def _day(number: int) -> str:
    return datetime.fromtimestamp(number * _DAY_MS / 1000, UTC).strftime("%Y-%m-%d")


def stored_days(database: Path, *, since: str) -> Mapping[str, DayCounts]:
    """By day, from `since` on; {} where nothing was written yet, by this version or at all. Changes nothing. Blocking. Raises: StorageError."""
    if not database.exists():
        return {}
    found: dict[str, DayCounts] = defaultdict(DayCounts)
    with opened_traces(database, as_it_is=True) as db:
        if not db["daily_times"].exists():
            return {}
        for day, name, label, number in db.conn.execute(
            "select day, name, label, number from daily_counts where day >= ?", [since]
        ):
            found[day].counts[name, label] = number
        for day, step, bucket, number in db.conn.execute(
            "select day, step, bucket, number from daily_times where day >= ?", [since]
        ):
            found[day].times.setdefault(step, {})[bucket] = number
    return dict(found)
