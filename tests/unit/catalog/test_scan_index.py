"""An index that lost something is found out, and made anew from the blocks: nothing is dropped in silence."""

from collections.abc import Generator, Iterable
from contextlib import closing
from pathlib import Path

import pytest

from shared.catalog.db import Database, open_database
from shared.catalog.migrations import migrate
from shared.catalog.reading import CatalogReader
from shared.catalog.scan_index import index_fault, rebuild_index
from shared.catalog.scanning import candidates
from shared.text.fold import fold

TEXTS = [f"第{number}条 年假须当年用完，clause {number * 7919} of the agreement" for number in range(400)]

DAMAGE = {
    "every place of a gram": "delete from scan_index_idx",
    "some places of grams": "delete from scan_index_idx where pgno % 4 < 2",
    "pages": "delete from scan_index_data where id in (select id from scan_index_data where id > 100 limit 2)",
    "pages, zeroed": (
        "update scan_index_data set block = zeroblob(length(block))"
        " where id in (select id from scan_index_data where id > 100 limit 2)"
    ),
    "all but its name": "update scan_index_data set block = x'00000000000000' where id = 10",
    "its structure": "delete from scan_index_data where id = 10",
    "all of it": "delete from scan_index_data",
    "its format": "delete from scan_index_config",
    "an entry": "insert into scan_index (scan_index, rowid, text) select 'delete', id, text from scan_texts where id = 7",
    "a gram of one block for that of another": (
        "insert into scan_index (scan_index, rowid, text) values ('delete', 7, marked('年假'));"
        "insert into scan_index (rowid, text) values (1007, marked('年假'))"
    ),
    "the trigger, and blocks since": (
        "drop trigger scan_index_block_comes;"
        "insert into blocks select 1000, 'new', doc_id, version, 1000, section_ordinal, text, folded, table_header, null, null,"
        " 0, 0, 0, '', '[]' from blocks where id = 7"
    ),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with closing(open_database(tmp_path / "catalog.db")) as db:
        migrate(db)
        db.conn.execute("pragma foreign_keys = off")
        db.conn.execute("begin")
        store(db, TEXTS)
        db.conn.execute("commit")
    return tmp_path / "catalog.db"


@pytest.fixture
def db(path: Path) -> Generator[Database]:
    with closing(open_database(path)) as opened:
        yield opened


def store(db: Database, texts: Iterable[str]) -> None:
    db.conn.executemany(
        "insert into blocks (id, block_id, doc_id, version, block_index, section_ordinal, text, folded, table_header,"
        " span_start, span_end, tokens, sha256, flags) values (:row, :row, 'd', 1, :row, 0, :text, :folded, '', 0, 0, 0, '', '[]')",
        [{"row": row, "text": text, "folded": fold(text)} for row, text in enumerate(texts, 1)],
    )


def damage(path: Path, sql: str) -> None:
    with closing(open_database(path)) as db:
        db.conn.execute("pragma foreign_keys = off")
        db.conn.executescript(sql)


def test_an_index_that_has_every_block_has_no_fault(path: Path) -> None:
    assert index_fault(path) is None


def test_it_has_none_while_blocks_come_and_go_beside_it(path: Path, db: Database) -> None:
    db.conn.execute("delete from blocks where id % 3 = 0")
    db.conn.execute("begin immediate")  # looking at it waits for nobody
    db.conn.execute("delete from blocks where id % 3 = 1")
    assert index_fault(path) is None
    db.conn.execute("commit")
    assert index_fault(path) is None


@pytest.mark.parametrize("sql", DAMAGE.values(), ids=DAMAGE)
def test_whatever_is_lost_of_it_is_found_out_and_mended(path: Path, sql: str) -> None:
    damage(path, sql)
    assert index_fault(path) is not None

    with closing(open_database(path)) as db:
        blocks = rebuild_index(db)
        found = candidates(db.conn, fold("年假"))

    assert index_fault(path) is None
    assert found is not None
    assert len(found) == blocks >= len(TEXTS)


def test_an_index_with_fewer_blocks_than_there_are_says_nothing(path: Path, db: Database) -> None:
    db.conn.execute("pragma foreign_keys = off")
    db.conn.execute(
        "insert into document_versions (doc_id, version, title, lang, media_type, size_bytes, original_sha256, lineage,"
        " artifact_sha256, sections, blocks, tokens, created_at_ms) values ('d', 1, '', 'zh', '', 0, '', '', '', 0, ?, 0, 0)",
        [len(TEXTS)],
    )
    with closing(CatalogReader(path)) as catalog:
        found = catalog.candidates("年假")
        assert found is not None
        assert len(found) == len(TEXTS)

        db.conn.execute("update scan_index_data set block = x'00' where id = 1")
        assert catalog.candidates("年假") is None  # so that all texts are read
