"""The trace store's file: its tables, opened for writing or reading."""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from sqlite_utils import Database

from shared.catalog.db import open_database
from shared.catalog.upgrade import upgrade
from shared.errors import StorageError

BUSY_MS = 2_000  # how long a person waits for another writer

_MIGRATIONS: tuple[str, ...] = (
    """
    create table spans (
        trace_id text not null,
        span_id text not null,
        parent_id text,
        run_id text,
        import_id text,
        name text not null,
        start_ns integer not null,
        end_ns integer not null,
        status text not null,
        status_message text,
        attributes text not null,   -- JSON object
        events text not null,       -- JSON array of SpanEvent
        primary key (trace_id, span_id)
    ) without rowid;
    create index spans_run on spans (run_id) where run_id is not null;
    create index spans_import on spans (import_id) where import_id is not null;
    create table runs (
        run_id text primary key,    -- sorts by time
        status text not null,
        summary text not null,      -- JSON of RunSummary
        record text not null,       -- JSON of RunRecord
        access text                 -- JSON array of labels; null = everything
    ) without rowid;
    create table artifacts (        -- which span refers to which content
        trace_id text not null,
        span_id text not null,
        name text not null,
        sha256 text not null,
        size_bytes integer not null,
        primary key (trace_id, span_id, name)
    ) without rowid;
    create index artifacts_content on artifacts (sha256);
    create table losses (
        trace_id text primary key,
        spans integer not null,
        artifacts integer not null
    ) without rowid;
    create table counters (
        name text primary key,
        value integer not null
    ) without rowid;
    """,
    """
    create table citations (        -- which runs cite a block; the quotes are in their records
        block_id text not null,
        run_id text not null,
        primary key (block_id, run_id)
    ) without rowid;
    insert or ignore into citations (block_id, run_id)
        select json_extract(cited.value, '$.block_id'), runs.run_id
        from runs, json_each(runs.record, '$.answer.citations') cited;
    """,
    """
    alter table runs add column asker text;  -- key_id; null = the owner
    """,
    """
    create table daily_counts (     -- what happened on a UTC day; the words are those of measures.py
        day text not null,          -- 2026-11-30
        name text not null,
        label text not null,
        number integer not null,
        primary key (day, name, label)
    ) without rowid;
    create table daily_times (      -- how many steps took how long
        day text not null,
        step text not null,
        bucket integer not null,    -- place in measures.BUCKETS_S
        number integer not null,
        primary key (day, step, bucket)
    ) without rowid;
    """,
    """
    create table feedback (
        run_id text not null,
        by text not null,           -- key_id; '' = the owner
        thumb text not null,        -- up or down
        comment text not null,
        at_ms integer not null,
        primary key (run_id, by)
    ) without rowid;
    create table cases (            -- question, answer and versions are those of the run's record
        run_id text primary key,
        layer text,                 -- that failed; null: nobody said yet
        status text not null,       -- open or closed
        gold text not null,         -- JSON array of markers of the answer's citations
        note text not null,
        made_at_ms integer not null,
        changed_at_ms integer not null
    ) without rowid;
    """,
    """
    alter table runs add column conversation_id text;
    update runs set conversation_id = json_extract(record, '$.answer.conversation_id');
    create index runs_conversation on runs (conversation_id) where conversation_id is not null;
    """,
    """
    create index runs_asker on runs (asker, run_id);
    update runs set summary = json_set(
        summary,
        '$.prompt_bundle', json_extract(record, '$.answer.manifest.prompt_bundle'),
        '$.stopped_by', (
            select code from (
                select json_extract(record, '$.answer.termination_reason') as code, -1 as place
                union all
                select json_extract(value, '$.code'), key from json_each(runs.record, '$.answer.limitations')
            )
            where code in ('brake_count', 'brake_gain', 'brake_time', 'context_budget_exceeded', 'request_budget_exceeded')
            order by place limit 1
        )
    );
    """,
)


@contextmanager
def opened_traces(path: Path, *, as_it_is: bool = False) -> Generator[Database]:
    """A connection for one thing that somebody asked for, closed afterwards. `as_it_is`: the schema is left as it was found.

    Raises: StorageError, for what is read and written inside too.
    """
    try:
        db = open_database(path) if as_it_is else open_traces(path, busy_ms=BUSY_MS)
        try:
            db.conn.execute(f"pragma busy_timeout = {BUSY_MS}")
            yield db
        finally:
            db.conn.close()
    except sqlite3.Error as error:
        raise StorageError(f"The trace store can't be used: {error}.") from error


def open_traces(path: Path, *, busy_ms: int) -> Database:
    """A connection of the caller's own thread, schema up to date. `busy_ms`: how long to wait for another writer.

    Raises: StorageError; sqlite3.DatabaseError when the file is no database.
    """
    db = open_database(path)
    db.conn.execute(f"pragma busy_timeout = {busy_ms}")
    upgrade(db, _MIGRATIONS)
    return db
