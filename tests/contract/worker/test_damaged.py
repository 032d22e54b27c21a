"""What was stored and is changed behind our back never gets into a new snapshot, and an import mends what can be mended."""

import hashlib

import pytest

from shared.catalog.documents import is_as_imported, mark_damaged
from shared.catalog.snapshots import intact_manifest, list_snapshots, membership_sha256, snapshot_documents
from shared.types.imports import ImportRequest
from tests.contract.worker.workshop import Workshop
from tests.promises import promise

A = "# 安全规程\n进入车间必须佩戴安全帽。"
B = "# Pumps\nThe pump E-1042 must be vented before start."
REINDEX = ImportRequest(mode="reindex")
CHANGED = "update blocks set text = replace(text, '必须', '不必') where text like '%必须%'"


@pytest.fixture
def library(shop: Workshop) -> Workshop:
    """Two documents, published."""
    shop.write(a=A, b=B)
    shop.run()
    return shop


def damage(shop: Workshop, sql: str) -> None:
    shop.db.conn.execute("pragma foreign_keys = off")
    assert shop.db.conn.execute(sql).rowcount > 0
    shop.db.conn.execute("pragma foreign_keys = on")


def is_sound(shop: Workshop) -> bool:
    """Whether the active snapshot is what its manifest says, to the last letter."""
    active = shop.active()
    manifest = intact_manifest(shop.db, active.snapshot_id)
    return (
        manifest is not None
        and manifest.membership_sha256 == membership_sha256(shop.db, active.snapshot_id)
        and shop.vectors.open(active.snapshot_id, files={}).count() == manifest.blocks == active.blocks
        and all(is_as_imported(shop.db, document.doc_id, document.version) for document in manifest.documents)
    )


@promise("P9")
def test_a_reindex_makes_a_changed_document_anew_and_leaves_the_others(library: Workshop) -> None:
    bought = list(library.bought())
    damage(library, CHANGED)
    assert not is_sound(library)
    done = library.run(REINDEX)
    assert (done.state, library.members(), is_sound(library)) == ("completed", {"a.md": 2, "b.md": 1}, True)
    assert library.bought() == bought
    assert library.run(REINDEX).snapshot_id == done.snapshot_id  # nothing is left to mend


def test_a_changed_document_whose_original_is_gone_as_well_becomes_a_gap(library: Workshop) -> None:
    damage(library, CHANGED)
    library.parts.blobs.path(hashlib.sha256(A.encode()).hexdigest()).unlink()
    library.db.conn.execute("delete from parsed")
    library.run(REINDEX)
    assert (library.members(), is_sound(library)) == ({"b.md": 1}, True)
    assert [(gap.key, gap.code) for gap in library.active().failed_documents] == [("a.md", "unreadable")]


def test_a_document_that_is_known_to_be_changed_is_carried_over_by_no_import(library: Workshop) -> None:
    damage(library, CHANGED)
    (changed,) = [one for one in snapshot_documents(library.db, library.active().snapshot_id) if one.key == "a.md"]
    mark_damaged(library.db, changed.doc_id, changed.version)
    library.write(c="# 丙\n第三份。")
    library.run(ImportRequest(paths=(str(library.files / "c.md"),)))
    assert (library.members(), is_sound(library)) == ({"b.md": 1, "c.md": 1}, True)
    assert [(gap.key, gap.code, gap.retryable) for gap in library.active().failed_documents] == [
        ("a.md", "damaged", True)
    ]
    library.run(ImportRequest(paths=(str(library.files / "a.md"),)))
    assert (library.members(), library.active().failed_documents) == ({"a.md": 2, "b.md": 1, "c.md": 1}, ())


@promise("P9")
@pytest.mark.parametrize(
    "sql",
    [
        "update snapshots set manifest = replace(manifest, '\"failed\":0', '\"failed\":1')",
        "update snapshots set manifest = '{}'",
        "update snapshots set manifest = null",
        "update snapshots set blocks = 99",
        "update snapshots set dimensions = 7",
        "update snapshot_documents set access = '[\"board\"]' where key = 'a.md'",
        "update snapshot_documents set title = '别的' where key = 'a.md'",
        "delete from snapshot_documents where key = 'a.md'",
    ],
)
def test_importing_the_same_files_again_publishes_a_sound_snapshot_in_place_of_a_broken_one(
    library: Workshop, sql: str
) -> None:
    bought, broken = list(library.bought()), library.active().snapshot_id
    damage(library, sql)
    done = library.run()
    assert (done.state, library.members(), is_sound(library)) == ("completed", {"a.md": 1, "b.md": 1}, True)
    assert library.active().snapshot_id != broken
    assert {one.access for one in snapshot_documents(library.db, library.active().snapshot_id)} == {()}
    assert library.bought() == bought


def test_a_collection_that_is_gone_is_made_anew_from_the_vectors_that_were_bought(library: Workshop) -> None:
    bought, broken = list(library.bought()), library.active().snapshot_id
    library.vectors.drop(broken)
    library.run(REINDEX)
    assert (library.members(), is_sound(library)) == ({"a.md": 1, "b.md": 1}, True)
    assert (library.bought(), len(list_snapshots(library.db))) == (bought, 2)


def test_a_lost_row_takes_no_document_out_of_the_next_snapshot(library: Workshop) -> None:
    damage(library, "delete from snapshot_documents where key = 'a.md'")
    library.write(c="# 丙\n第三份。")
    library.run(ImportRequest(paths=(str(library.files / "c.md"),)))
    assert (library.members(), is_sound(library)) == ({"a.md": 1, "b.md": 1, "c.md": 1}, True)


def test_a_version_that_is_not_there_at_all_becomes_a_gap_until_it_is_imported_again(library: Workshop) -> None:
    damage(library, "delete from document_versions where title like 'a%'")
    library.write(c="# 丙\n第三份。")
    library.run(ImportRequest(paths=(str(library.files / "c.md"),)))
    assert [(gap.key, gap.code) for gap in library.active().failed_documents] == [("a.md", "damaged")]
    library.run()
    assert (set(library.members()), library.active().failed_documents) == ({"a.md", "b.md", "c.md"}, ())
