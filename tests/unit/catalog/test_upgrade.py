import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlite_utils import Database

from shared.catalog.db import open_database
from shared.catalog.migrations import migrate
from shared.catalog.upgrade import upgrade
from shared.errors import StorageError

FIRST = "create table notes (text text not null);\n"
SECOND = "alter table notes add column lang text not null default 'zh';\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "notes.db"


def texts(path: Path, columns: str) -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(f"select {columns} from notes").fetchall()


def test_what_was_there_before_an_upgrade_stays_beside_it_as_one_whole_file(path: Path, tmp_path: Path) -> None:
    with closing(open_database(path).conn) as connection:
        upgrade(Database(connection), [FIRST])
        connection.execute("insert into notes values ('旧的记录')")  # still in the -wal file

        assert upgrade(Database(connection), [FIRST, SECOND]) == 2

    backup = tmp_path / "notes.db.schema-1"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["notes.db", "notes.db.schema-1"]
    assert texts(path, "text, lang") == [("旧的记录", "zh")]
    assert texts(backup, "*") == [("旧的记录",)]


def test_a_backup_in_the_place_of_the_database_is_upgraded_again(path: Path, tmp_path: Path) -> None:
    with closing(open_database(path).conn) as connection:
        upgrade(Database(connection), [FIRST])
        connection.execute("insert into notes values ('一')")
        upgrade(Database(connection), [FIRST, SECOND])
    (tmp_path / "notes.db.schema-1").replace(path)

    with closing(open_database(path).conn) as connection:
        assert upgrade(Database(connection), [FIRST, SECOND]) == 2

    assert texts(path, "text, lang") == [("一", "zh")]


def test_a_migration_that_fails_changes_nothing(path: Path) -> None:
    with closing(open_database(path).conn) as connection:
        upgrade(Database(connection), [FIRST])

        with pytest.raises(StorageError):
            upgrade(Database(connection), [FIRST, SECOND + "insert into nowhere values (1);\n"])

        assert upgrade(Database(connection), [FIRST]) == 1


def test_a_new_or_finished_database_needs_no_backup(path: Path, tmp_path: Path) -> None:
    with closing(open_database(path).conn) as connection:
        for _ in range(2):
            assert upgrade(Database(connection), [FIRST, SECOND]) == 2

    assert [one.name for one in tmp_path.iterdir()] == ["notes.db"]


def test_a_catalog_of_a_newer_program_is_left_alone(db: Database) -> None:
    db.conn.execute("pragma user_version = 999")

    with pytest.raises(StorageError):
        migrate(db)

    assert db.conn.execute("pragma user_version").fetchone() == (999,)


def test_what_was_committed_is_on_the_disk_before_anybody_is_told(db: Database) -> None:
    assert db.conn.execute("pragma synchronous").fetchone() == (2,)  # full


def test_triggers_may_write_the_scan_index_whatever_sqlite_s_build_trusts(db: Database) -> None:
    assert db.conn.execute("pragma trusted_schema").fetchone() == (1,)


def test_a_sqlite_without_full_text_search_is_named_as_what_is_missing(path: Path) -> None:
    with closing(open_database(path)) as db, pytest.raises(StorageError, match="FTS5"):
        upgrade(db, ["create virtual table grams using fts9 (text);\n"])
