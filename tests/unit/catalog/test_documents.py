import sqlite3
import threading
from pathlib import Path

import pytest
from msgspec.structs import replace
from sqlite_utils import Database

from shared.catalog.db import open_database, writing
from shared.catalog.documents import (
    add_version,
    content_sha256,
    ensure_document,
    find_parsed,
    find_version,
    get_version,
    next_version,
    remember_parsed,
    version_blocks,
)
from shared.errors import Conflict
from shared.ids import doc_id
from tests.patience import PATIENCE_S
from tests.unit.catalog.factories import NOW, a_document, a_source, a_version, content_of


def count(db: Database, table: str) -> int:
    return db.conn.execute(f"select count(*) from {table}").fetchone()[0]


def test_a_document_keeps_its_id_and_two_documents_never_share_one(db: Database) -> None:
    source = a_source(db)
    first = ensure_document(db, source.source_id, "规程/第一章.md", now_ms=NOW)
    assert ensure_document(db, source.source_id, "规程/第一章.md", now_ms=NOW + 1) == first
    assert ensure_document(db, source.source_id, "chapter-1.md", now_ms=NOW) != first


def test_where_two_ids_meet_the_later_document_takes_the_next_salt(db: Database) -> None:
    source = a_source(db)
    squatted = doc_id(source.source_id, "b.md")
    with writing(db) as connection:
        connection.execute(
            "insert into documents (doc_id, source_id, key, created_at_ms) values (?, ?, 'other', 0)",
            [squatted, source.source_id],
        )
    assert ensure_document(db, source.source_id, "b.md", now_ms=NOW) == doc_id(source.source_id, "b.md", salt=1)


def test_a_version_comes_back_as_it_was_stored(db: Database) -> None:
    doc = a_document(db)
    texts = ("第一段。\n", "| 列 | 值 |\n", "The end.")
    version = a_version(db, doc, texts)
    assert get_version(db, doc, 1) == version
    assert tuple(version_blocks(db, doc, 1)) == content_of(doc, 1, texts).blocks
    assert find_version(db, doc, original_sha256=version.original_sha256, lineage="p1/c1") == version
    assert find_version(db, doc, original_sha256=version.original_sha256, lineage="p2/c1") is None


def test_blocks_are_folded_for_the_scan(db: Database) -> None:
    doc = a_document(db)
    a_version(db, doc, ("ÄPFEL und Straße",))
    assert db.conn.execute("select folded from blocks").fetchone()[0] == "äpfel und strasse"


def test_a_version_is_stored_whole_or_not_at_all(db: Database) -> None:
    doc = a_document(db)
    broken = content_of(doc, 1, ("第一段。", "Second."))
    twice = broken.blocks[0]  # the same block id again
    version = a_version(db, a_document(db, "other.md"))
    with pytest.raises(sqlite3.IntegrityError):
        add_version(db, replace(version, doc_id=doc), replace(broken, blocks=(twice, twice)))
    assert (count(db, "document_versions"), count(db, "sections"), count(db, "blocks")) == (1, 1, 2)
    assert next_version(db, doc) == 1


def test_a_number_is_given_once_even_after_its_version_is_gone(db: Database) -> None:
    doc = a_document(db)
    a_version(db, doc)
    with pytest.raises(Conflict):
        a_version(db, doc, number=1)
    with writing(db) as connection:
        connection.execute("delete from document_versions")
    assert (count(db, "blocks"), next_version(db, doc)) == (0, 2)


def test_two_writers_never_get_the_same_number(catalog: Path, db: Database) -> None:
    doc = a_document(db)
    ready = threading.Barrier(4)
    taken: list[int] = []

    def write() -> None:
        own = open_database(catalog)
        ready.wait(PATIENCE_S)
        while True:
            try:
                taken.append(a_version(own, doc).version)
                break
            except Conflict:
                continue
        own.conn.close()

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert sorted(taken) == [1, 2, 3, 4]


def test_the_content_hash_covers_text_sections_and_blocks(db: Database) -> None:
    doc = a_document(db)
    plain = content_of(doc, 1, ("甲", "乙"))
    assert content_sha256(plain) == content_sha256(content_of(doc, 1, ("甲", "乙")))
    assert (
        len(
            {
                content_sha256(content_of(doc, n, texts))
                for n, texts in ((1, ("甲", "乙")), (1, ("甲乙",)), (2, ("甲", "乙")))
            }
        )
        == 3
    )


def test_a_parse_checkpoint_is_found_by_content_name_and_parser(db: Database) -> None:
    remember_parsed(db, "aa", name="a.md", lineage="p1", artifact_sha256="ff")
    assert find_parsed(db, "aa", name="a.md", lineage="p1") == "ff"
    assert find_parsed(db, "aa", name="a.txt", lineage="p1") is None
    assert find_parsed(db, "aa", name="a.md", lineage="p2") is None
