"""Items belong to whoever holds the import's lease."""

from collections.abc import Callable

import pytest
from sqlite_utils import Database

from shared.catalog import items, leases
from shared.ids import DocId, ImportId, SourceId
from tests.unit.catalog.factories import LATER, LEASE_MS, ME, an_import

SOURCE = SourceId("资料")
DOC = DocId("aaaaaaaa")

Late = Callable[[Database, ImportId], object]
LATE_WORDS: dict[str, Late] = {
    "adds": lambda db, one: items.add_item(db, one, ME, SOURCE, "迟到.md", original_sha256="ff", size_bytes=1),
    "refuses": lambda db, one: items.add_failed_item(
        db, one, ME, SOURCE, "迟到.md", code="empty", reason="空的", retryable=False, size_bytes=0
    ),
    "tries": lambda db, one: items.begin_item(db, one, ME, 0),
    "puts back": lambda db, one: items.put_back_item(db, one, ME, 0),
    "unchanged": lambda db, one: items.mark_unchanged(db, one, ME, 0, doc=DOC, version=1),
    "parsed": lambda db, one: items.mark_parsed(db, one, ME, 0),
    "chunked": lambda db, one: items.mark_chunked(db, one, ME, 0, doc=DOC, version=1, blocks=1, tokens=1),
    "embedded": lambda db, one: items.mark_embedded(db, one, ME, 0),
    "failed": lambda db, one: items.mark_failed(
        db, one, ME, 0, stage="parse", code="corrupt", reason="坏的", retryable=False
    ),
}


def an_item(db: Database) -> ImportId:
    """Chunked by the first worker, once tried by the second, which holds the lease now."""
    import_id = an_import(db, "running")
    items.add_item(db, import_id, ME, SOURCE, "手册.md", original_sha256="aa", size_bytes=9)
    items.mark_chunked(db, import_id, ME, 0, doc=DOC, version=2, blocks=3, tokens=30)
    leases.claim(db, import_id, "worker-2", now_ms=LATER, lease_ms=LEASE_MS)
    items.begin_item(db, import_id, "worker-2", 0)
    return import_id


@pytest.mark.parametrize("word", LATE_WORDS)
def test_a_late_word_of_a_worker_that_lost_its_lease_changes_nothing(db: Database, word: str) -> None:
    import_id = an_item(db)
    before = items.list_items(db, import_id)
    assert [(item.state, item.attempts) for item in before] == [("chunked", 1)]
    LATE_WORDS[word](db, import_id)
    assert items.list_items(db, import_id) == before
    assert leases.claim(db, import_id, ME, now_ms=3 * LATER, lease_ms=LEASE_MS) == 2  # nor did it pass for progress


@pytest.mark.parametrize("word", LATE_WORDS)
def test_the_same_words_count_while_the_lease_is_held(db: Database, word: str) -> None:
    import_id = an_import(db, "running")
    items.add_item(db, import_id, ME, SOURCE, "手册.md", original_sha256="aa", size_bytes=9)
    items.begin_item(db, import_id, ME, 0)
    before = items.list_items(db, import_id)
    LATE_WORDS[word](db, import_id)
    assert items.list_items(db, import_id) != before
