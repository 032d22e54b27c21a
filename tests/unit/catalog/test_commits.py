"""What is said of commits: the same as long as there was none, another number after each, whoever made it."""

import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from shared.catalog.commits import Commits
from shared.catalog.db import open_database, writing
from tests.factories import an_empty_catalog

BY_ANOTHER_PROCESS = (
    "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('create table 页 (a)'); db.close()"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "目录.db"
    an_empty_catalog(path)
    return path


@pytest.fixture
def commits(path: Path) -> Generator[Commits]:
    one = Commits(path)
    one.open()
    yield one
    one.close()


def test_while_nothing_is_committed_the_mark_stays_whoever_reads(path: Path, commits: Commits) -> None:
    before = commits.mark()
    reader = open_database(path)
    reader.table_names()
    reader.conn.close()
    commits.open()
    assert before is not None
    assert commits.mark() == before


def test_every_commit_changes_the_mark_and_what_is_taken_back_does_not(path: Path, commits: Commits) -> None:
    db, seen = open_database(path), [commits.mark()]
    for number in range(3):
        with writing(db) as connection:
            connection.execute(f"create table 表{number} (a)")
        seen.append(commits.mark())
    for statement in ("begin immediate", "create table 没有 (a)", "rollback"):
        db.conn.execute(statement)
    assert len(set(seen)) == len(seen)
    assert commits.mark() == seen[-1]
    db.conn.close()


def test_another_process_s_commit_changes_it_too(path: Path, commits: Commits) -> None:
    before = commits.mark()
    subprocess.run([sys.executable, "-c", BY_ANOTHER_PROCESS, str(path)], check=True)
    assert commits.mark() != before


def test_a_writer_who_takes_long_is_not_waited_for(path: Path, commits: Commits) -> None:
    db, before = open_database(path), commits.mark()
    with writing(db) as connection:
        connection.execute("create table 慢 (a)")
        assert commits.mark() == before
    assert commits.mark() != before
    db.conn.close()


def test_what_looking_costs_at_first_is_paid_when_it_is_opened(path: Path) -> None:
    one = Commits(path)
    one.open()
    path.rename(path.with_name("elsewhere.db"))  # SQLite has the file open by now
    assert one.mark() is not None
    one.close()


def test_nothing_is_said_before_it_is_open_after_it_is_closed_and_of_no_catalog(path: Path) -> None:
    one, none = Commits(path), Commits(path.with_name("nothing.db"))
    assert one.mark() is None
    one.open()
    one.close()
    none.open()
    assert (one.mark(), none.mark()) == (None, None)
