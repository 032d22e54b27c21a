"""The labels that are known last for a document: written as snapshots are published, and told to data folders of before."""

from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import pytest
from sqlite_utils import Database

from shared.catalog import migrations
from shared.catalog.db import open_database, writing
from shared.catalog.labels import remember_labels
from shared.catalog.migrations import migrate
from shared.catalog.reading import CatalogReader
from shared.catalog.upgrade import upgrade
from shared.catalog.within import Within
from shared.ids import SnapshotId

SCRIPTS: tuple[str, ...] = vars(migrations)["_MIGRATIONS"]
KNOWN_SINCE = next(
    number for number, script in enumerate(SCRIPTS) if "alter table documents add column access" in script
)
OPEN, CLOSED = "[]", '["hr"]'


@pytest.fixture
def db(tmp_path: Path) -> Generator[Database]:
    with closing(open_database(tmp_path / "catalog.db")) as opened:
        opened.conn.execute("pragma foreign_keys = off")
        yield opened


def document(db: Database, doc_id: str, *, source: str = "人事") -> None:
    db.conn.execute(
        "insert into documents (doc_id, source_id, key, created_at_ms) values (?, ?, ?, 0)", [doc_id, source, doc_id]
    )


def source(db: Database, source_id: str, access: str) -> None:
    db.conn.execute(
        "insert or replace into sources (source_id, kind, root, label, aliases, trust, access, tags, created_at_ms)"
        " values (:id, 'folder', :id, :id, '[]', 'internal', :access, '[]', 0)",
        {"id": source_id, "access": access},
    )


def snapshot(db: Database, snapshot_id: str, published_at_ms: int | None, members: dict[str, str]) -> SnapshotId:
    """members: doc_id -> labels."""
    db.conn.execute(
        "insert into snapshots (snapshot_id, state, import_id, created_at_ms, published_at_ms, embedding_version, dimensions,"
        " keyword_version) values (?, ?, 'imp', 0, ?, 'e', 1, 'k')",
        [snapshot_id, "failed" if published_at_ms is None else "ready", published_at_ms],
    )
    for doc_id, access in members.items():
        db.conn.execute(
            "insert into snapshot_documents values (?, ?, 1, '', '人事', '人事', ?, '[]', 'zh', 'internal', ?, '[]', '', 0, 1, 1, 1, '')",
            [snapshot_id, doc_id, doc_id, access],
        )
    return SnapshotId(snapshot_id)


def known(db: Database) -> dict[str, str | None]:
    return dict(db.conn.execute("select doc_id, access from documents order by doc_id").fetchall())


def publish(db: Database, snapshot_id: str, at_ms: int, members: dict[str, str]) -> None:
    made = snapshot(db, snapshot_id, at_ms, members)
    with writing(db) as connection:
        remember_labels(connection, made)


def test_an_older_data_folder_takes_them_from_the_newest_published_snapshot_that_holds_the_document(
    db: Database,
) -> None:
    upgrade(db, SCRIPTS[:KNOWN_SINCE])
    for doc_id in ("裁员", "食堂", "新的", "走了", "从未"):
        document(db, doc_id)
    snapshot(db, "snap_1", 10, {"裁员": OPEN, "食堂": CLOSED})
    snapshot(db, "snap_2", 20, {"裁员": CLOSED, "食堂": OPEN})
    snapshot(db, "snap_3", 30, {"新的": OPEN})
    snapshot(db, "snap_4", None, {"裁员": OPEN, "从未": OPEN})
    for version, access in ((1, CLOSED), (2, OPEN)):
        db.conn.execute("insert into removed_versions values ('走了', ?, ?, 0)", [version, access])

    upgrade(db, SCRIPTS)

    assert known(db) == {"裁员": CLOSED, "食堂": OPEN, "新的": OPEN, "走了": CLOSED, "从未": None}
    assert db.conn.execute("select doc_id, version from removed_versions").fetchall() == [("走了", 1), ("走了", 2)]


def test_a_document_keeps_the_labels_it_had_when_it_was_taken_out(db: Database) -> None:
    upgrade(db, SCRIPTS)
    document(db, "裁员")
    source(db, "人事", OPEN)
    publish(db, "snap_1", 10, {"裁员": OPEN})
    publish(db, "snap_2", 20, {"裁员": CLOSED})
    publish(db, "snap_3", 30, {})

    assert known(db) == {"裁员": CLOSED}


def test_an_open_document_that_was_taken_out_is_closed_with_its_source(db: Database) -> None:
    upgrade(db, SCRIPTS)
    document(db, "裁员")
    document(db, "食堂", source="团队")
    source(db, "人事", OPEN)
    source(db, "团队", OPEN)
    publish(db, "snap_1", 10, {"裁员": OPEN, "食堂": OPEN})
    source(db, "人事", CLOSED)
    publish(db, "snap_2", 20, {})

    assert known(db) == {"裁员": CLOSED, "食堂": OPEN}


def test_what_a_search_leaves_out_follows_labels_at_once(db: Database, tmp_path: Path) -> None:
    migrate(db)
    for doc_id in ("aaaaaaaa", "bbbbbbbb"):
        document(db, doc_id)
    older = snapshot(db, "snap_1", 1, {"aaaaaaaa": OPEN, "bbbbbbbb": OPEN})
    remember_labels(db.conn, older)
    db.conn.commit()
    within = Within(snapshot_id=older, labels=frozenset({"staff"}), today=older)
    with closing(CatalogReader(tmp_path / "catalog.db")) as catalog:
        assert [catalog.hidden(within) for _ in range(2)] == [set(), set()]  # as the collection's own labels say
        with writing(db) as connection:
            remember_labels(connection, snapshot(db, "snap_2", 2, {"aaaaaaaa": CLOSED, "bbbbbbbb": OPEN}))
        assert [catalog.hidden(within) for _ in range(2)] == [{"aaaaaaaa"}] * 2
        with writing(db) as connection:
            remember_labels(connection, snapshot(db, "snap_3", 3, {"aaaaaaaa": OPEN, "bbbbbbbb": CLOSED}))
        assert catalog.hidden(within) == {"bbbbbbbb"}
