"""What is stored comes back letter by letter, however much of it there is, and whether SQLite gives rows or JSON."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest
from msgspec import structs
from sqlite_utils import Database

from shared.catalog.db import open_database
from shared.catalog.migrations import migrate
from shared.catalog.reading import CatalogReader, Within
from shared.errors import CollectionUnavailable, StorageError
from shared.ids import DocId, SnapshotId, SourceId, block_id
from shared.text.fold import fold
from shared.types.documents import Section
from shared.types.snapshots import SnapshotDocument

HANDBOOK = DocId("d1")
HERE = Within(snapshot_id=SnapshotId("snap_1"), labels=None)
CHARACTERS = "".join(map(chr, [*range(0x3000), *range(0x3000, 0xD800, 61), *range(0xE000, 0x110000, 61)]))
WORDS = ["年假\0须当年用完", 'a "quoted" \\ path\r\n\t', "\ufeff\u2028\uffff👩‍👩‍👧", CHARACTERS]


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[CatalogReader]:
    path = tmp_path / "catalog.db"
    with closing(open_database(path).conn) as connection:
        migrate(Database(connection))
    with closing(CatalogReader(path)) as reader:
        yield reader


@pytest.mark.parametrize("text", WORDS)
def test_every_text_comes_back_as_it_was_stored(catalog: CatalogReader, text: str) -> None:
    store(catalog, text, title=text, label=text)

    [block] = catalog.blocks(HERE, HANDBOOK)
    [(found, document)] = catalog.members_by_id(HERE, [block.block_id]).values()
    [scanned] = catalog.scan(HERE, fold(text[:40])).blocks
    [listed] = catalog.documents(HERE)
    [sections] = catalog.sections(HERE, [HANDBOOK]).values()

    assert block.text == scanned.utf8.decode() == found.text == text
    assert block.table_header == text
    assert document == listed
    assert (document.title, document.aliases, document.tags) == (text, (text, "别名"), (text,))
    assert scanned.title == text
    assert block.flags == found.flags == ("table", "code")
    assert (block.page_first, block.page_last, block.span_start) == (None, 2**53 + 1, 2**40)
    assert sections == [A_SECTION]


@pytest.mark.parametrize("count", [0, 1, 1_001])
def test_a_document_of_any_length_is_read_and_scanned_whole_and_in_order(catalog: CatalogReader, count: int) -> None:
    store(catalog, *(f"第{number}条 年假 leave" for number in range(count)))

    for term in ("年假", "年", "leave"):
        assert [block.block_id for block in catalog.scan(HERE, term).blocks] == ids(range(count))
        some = Within(snapshot_id=HERE.snapshot_id, labels=None, doc_ids=frozenset({HANDBOOK}))
        assert [block.block_id for block in catalog.scan(some, term).blocks] == ids(range(count))
    assert [block.block_id for block in catalog.blocks(HERE, HANDBOOK)] == ids(range(count))
    assert [block.index for block in catalog.blocks(HERE, HANDBOOK, indexes=range(3, 250))] == [
        *range(3, min(count, 250))
    ]


def test_a_changed_text_is_never_shown(catalog: CatalogReader) -> None:
    store(catalog, "年假须当年用完")
    change(catalog, "update blocks set text = '年假可以跨年', folded = '年假可以跨年'")

    with pytest.raises(CollectionUnavailable):
        catalog.blocks(HERE, HANDBOOK)
    with pytest.raises(CollectionUnavailable):
        list(catalog.scan(HERE, "年假").blocks)


def test_bytes_that_are_no_text_are_a_catalog_that_cannot_be_read(catalog: CatalogReader) -> None:
    store(catalog, "leave")
    change(catalog, "update blocks set text = cast(x'6c65ff' as text)")

    with pytest.raises(StorageError):
        catalog.blocks(HERE, HANDBOOK)


A_SECTION = Section(
    ordinal=0,
    parent=None,
    path="/",
    title="",
    depth=0,
    first_sentence="第一句。",
    own_blocks=1,
    own_tokens=2,
    subtree_blocks=3,
    subtree_tokens=4,
)


def ids(indexes: range) -> list[str]:
    return [block_id(HANDBOOK, 1, index) for index in indexes]


def store(catalog: CatalogReader, *texts: str, title: str = "手册", label: str = "人事") -> None:
    """One document with these blocks, in the snapshot HERE."""
    document = SnapshotDocument(
        doc_id=HANDBOOK,
        version=1,
        title=title,
        source_id=SourceId("s1"),
        source_label=label,
        key="k",
        aliases=(title, "别名"),
        lang="zh",
        trust="internal",
        access=(),
        tags=(title,),
        media_type="text/plain",
        updated_at_ms=1_790_000_000_000,
        sections=1,
        blocks=len(texts),
        tokens=9,
        artifact_sha256="",
    )
    row = structs.asdict(document) | {"snapshot_id": HERE.snapshot_id}
    blocks = [
        {
            "block_id": block_id(HANDBOOK, 1, index),
            "doc_id": HANDBOOK,
            "version": 1,
            "block_index": index,
            "section_ordinal": 0,
            "text": text,
            "folded": fold(text),
            "table_header": title,
            "page_last": 2**53 + 1,
            "span_start": 2**40,
            "span_end": 2**40 + len(text),
            "tokens": 1,
            "sha256": hashlib.sha256(text.encode()).hexdigest(),
            "flags": ("table", "code"),
        }
        for index, text in enumerate(texts)
    ]
    with closing(open_database(catalog.path).conn) as connection:
        connection.execute("pragma foreign_keys = off")
        db = Database(connection)
        connection.execute("begin")
        insert(db, "snapshot_documents", row)
        insert(db, "sections", structs.asdict(A_SECTION) | {"doc_id": HANDBOOK, "version": 1})
        for block in blocks:
            insert(db, "blocks", block)
        connection.execute("commit")


def insert(db: Database, table: str, row: Mapping[str, object]) -> None:
    values = [json.dumps(value, ensure_ascii=False) if isinstance(value, tuple) else value for value in row.values()]
    places = ", ".join("?" * len(row))
    db.conn.execute(f"insert into {table} ({', '.join(row)}) values ({places})", values)


def change(catalog: CatalogReader, sql: str) -> None:
    with closing(open_database(catalog.path).conn) as connection:
        connection.execute(sql)
