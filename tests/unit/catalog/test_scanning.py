from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import pytest
from sqlite_utils import Database

from shared.catalog import migrations
from shared.catalog.db import open_database
from shared.catalog.scanning import candidates
from shared.catalog.upgrade import upgrade
from shared.text.fold import fold

SCRIPTS: tuple[str, ...] = vars(migrations)["_MIGRATIONS"]
INDEXED_SINCE = next(number for number, script in enumerate(SCRIPTS) if "virtual table scan_index" in script)
TEXTS = ("年假须当年用完", "Annual leave", "一", "err_ip")


@pytest.fixture
def db(tmp_path: Path) -> Generator[Database]:
    with closing(open_database(tmp_path / "catalog.db")) as opened:
        opened.conn.execute("pragma foreign_keys = off")
        yield opened


def store(db: Database, row: int, text: str) -> None:
    db.conn.execute(
        "insert into blocks (id, block_id, doc_id, version, block_index, section_ordinal, text, folded, table_header,"
        " span_start, span_end, tokens, sha256, flags) values (:row, :row, 'd', 1, :row, 0, :text, :folded, '', 0, 0, 0, '', '[]')",
        {"row": row, "text": text, "folded": fold(text)},
    )


def found(db: Database, term: str) -> list[int] | None:
    rows = candidates(db.conn, fold(term))
    return None if rows is None else rows.tolist()


def test_blocks_from_before_the_index_are_in_it_after_the_upgrade(db: Database) -> None:
    upgrade(db, SCRIPTS[:INDEXED_SINCE])
    for row, text in enumerate(TEXTS, 1):
        store(db, row, text)

    upgrade(db, SCRIPTS)

    assert [found(db, term) for term in ("年假", "LEAVE", "一", "ip")] == [[1], [2], [3], [4]]


def test_the_index_follows_blocks_that_come_and_go(db: Database) -> None:
    upgrade(db, SCRIPTS)
    store(db, 1, "年假")
    store(db, 2, "年假与病假")
    db.conn.execute("delete from blocks where id = 1")

    assert (found(db, "年假"), found(db, "病假")) == ([2], [2])
    db.conn.execute(
        "insert into scan_index (scan_index, rank) values ('integrity-check', 1)"
    )  # raises when they differ


def test_of_a_single_letter_the_index_says_nothing(db: Database) -> None:
    upgrade(db, SCRIPTS)
    store(db, 1, "a")

    assert found(db, "a") is None
    assert found(db, "zz") == []


def test_a_term_of_a_whole_page_is_looked_up_by_a_few_of_its_grams(db: Database) -> None:
    upgrade(db, SCRIPTS)
    page = " ".join(f"第{number}条 clause {number}" for number in range(200))
    store(db, 1, page)
    store(db, 2, page[:500])

    assert found(db, page) == [1]
