import pytest
from sqlite_utils import Database

from shared.catalog import leases
from shared.catalog.building import (
    NewSnapshot,
    abandon_snapshot,
    base_members,
    begin_snapshot,
    fail_snapshot,
    is_building,
    orphaned_snapshots,
    publish,
    unfinished_snapshots,
)
from shared.catalog.imports import get_import
from shared.catalog.retention import removing
from shared.catalog.snapshots import (
    activate,
    active_snapshot_id,
    get_manifest,
    get_snapshot,
    list_snapshots,
    snapshot_documents,
)
from shared.errors import Conflict, NotFound
from shared.ids import ImportId, SnapshotId
from shared.types.imports import SourceSpec
from shared.types.snapshots import FailedDocument, ManifestDocument, SnapshotDocument, SnapshotManifest
from tests.unit.catalog.factories import LATER, LEASE_MS, ME, NOW, a_document, a_source, a_version, an_import, state_of

GAP = FailedDocument(
    source_label="资料", key="坏的.pdf", stage="parse", code="corrupt", reason="broken", attempts=1, retryable=False
)


def a_member(db: Database, key: str = "手册.md") -> SnapshotDocument:
    doc = a_document(db, key)
    version = a_version(db, doc)
    source = a_source(db)
    return SnapshotDocument(
        doc_id=doc,
        version=version.version,
        title=version.title,
        source_id=source.source_id,
        source_label=source.label,
        key=key,
        aliases=source.aliases,
        lang=version.lang,
        trust=source.trust,
        access=source.access,
        tags=source.tags,
        media_type=version.media_type,
        updated_at_ms=version.created_at_ms,
        sections=version.sections,
        blocks=version.blocks,
        tokens=version.tokens,
        artifact_sha256=version.artifact_sha256,
    )


def begun(
    db: Database,
    name: str,
    import_id: ImportId,
    *members: SnapshotDocument,
    base: str | None = None,
    gaps: tuple[FailedDocument, ...] = (),
) -> SnapshotManifest:
    new = NewSnapshot(
        snapshot_id=SnapshotId(name),
        import_id=import_id,
        base_snapshot_id=SnapshotId(base) if base else None,
        members=members,
        failures=gaps,
        embedding_version="e1",
        dimensions=4,
        keyword_version="k1",
    )
    begin_snapshot(db, new, worker=ME, now_ms=NOW)
    return SnapshotManifest(
        snapshot_id=new.snapshot_id,
        base_snapshot_id=new.base_snapshot_id,
        documents=tuple(
            ManifestDocument(
                doc_id=member.doc_id,
                version=member.version,
                artifact_sha256=member.artifact_sha256,
                sections=member.sections,
                blocks=member.blocks,
            )
            for member in members
        ),
        failed=len(gaps),
        sections=1,
        blocks=2,
        embedding_version="e1",
        dimensions=4,
        keyword_version="k1",
        chunker_version="1",
        index="memory",
        collection_files={},
        build_ms={},
    )


def published(db: Database, name: str, *, base: str | None = None, activate: bool = True) -> SnapshotId:
    import_id = an_import(db, "running")
    facts = begun(db, name, import_id, base=base)
    assert publish(db, facts, import_id=import_id, worker=ME, activate=activate, now_ms=NOW) == "published"
    return facts.snapshot_id


def history(db: Database) -> list[tuple[str, str | None, str]]:
    return db.conn.execute("select snapshot_id, previous_id, cause from active_history order by generation").fetchall()


def test_publishing_makes_the_snapshot_answer_and_ends_the_import_in_one_step(db: Database) -> None:
    import_id, member = an_import(db, "running"), a_member(db)
    facts = begun(db, "snap_1", import_id, member, gaps=(GAP,))
    assert (active_snapshot_id(db), get_snapshot(db, facts.snapshot_id).state) == (None, "building")
    with pytest.raises(NotFound):
        get_manifest(db, facts.snapshot_id)

    assert publish(db, facts, import_id=import_id, worker=ME, activate=True, now_ms=NOW + 5) == "published"

    snapshot = get_snapshot(db, facts.snapshot_id)
    assert (snapshot.state, snapshot.failed_documents, snapshot.published_at_ms) == ("ready_partial", (GAP,), NOW + 5)
    assert (snapshot.documents, snapshot.blocks) == (1, 2)
    assert get_manifest(db, facts.snapshot_id) == facts
    assert snapshot_documents(db, facts.snapshot_id) == [member]
    assert active_snapshot_id(db) == facts.snapshot_id
    ended = get_import(db, import_id, now_ms=NOW + 5)
    assert (ended.state, ended.snapshot_id, ended.finished_at_ms) == ("completed", facts.snapshot_id, NOW + 5)
    assert history(db) == [("snap_1", None, f"import {import_id}")]


def test_a_snapshot_built_on_a_base_that_moved_is_not_published(db: Database) -> None:
    published(db, "snap_1")
    import_id = an_import(db, "running")
    late = begun(db, "snap_2", import_id, base="snap_1")
    published(db, "snap_3", base="snap_1")
    assert publish(db, late, import_id=import_id, worker=ME, activate=True, now_ms=NOW) == "base_moved"
    assert (active_snapshot_id(db), state_of(db, import_id)) == ("snap_3", "running")
    assert get_snapshot(db, late.snapshot_id).state == "building"


def test_a_worker_without_the_lease_publishes_nothing(db: Database) -> None:
    import_id = an_import(db, "running")
    facts = begun(db, "snap_1", import_id)
    leases.claim(db, import_id, "worker-2", now_ms=LATER, lease_ms=LEASE_MS)
    assert publish(db, facts, import_id=import_id, worker=ME, activate=True, now_ms=LATER) == "lease_lost"
    assert (active_snapshot_id(db), get_snapshot(db, facts.snapshot_id).state) == (None, "building")


def test_an_import_that_was_asked_to_stop_publishes_nothing(db: Database) -> None:
    import_id = an_import(db, "pausing")
    facts = begun(db, "snap_1", import_id)
    assert publish(db, facts, import_id=import_id, worker=ME, activate=True, now_ms=NOW) == "lease_lost"


def test_a_snapshot_may_be_published_without_letting_it_answer(db: Database) -> None:
    published(db, "snap_1")
    published(db, "snap_2", activate=False)
    assert active_snapshot_id(db) == "snap_1"
    assert [snapshot.snapshot_id for snapshot in list_snapshots(db)] == ["snap_2", "snap_1"]


def test_rolling_back_is_the_same_switch_with_its_own_line_in_the_history(db: Database) -> None:
    first = published(db, "snap_1")
    published(db, "snap_2", base="snap_1")
    activate(db, first, cause="activate", now_ms=NOW)
    activate(db, first, cause="activate", now_ms=NOW)  # already there: nothing happens
    assert active_snapshot_id(db) == first
    assert [(there, before) for there, before, _ in history(db)] == [
        ("snap_1", None),
        ("snap_2", "snap_1"),
        ("snap_1", "snap_2"),
    ]


def test_only_what_was_published_can_be_activated(db: Database) -> None:
    building, failed = begun(db, "snap_1", an_import(db)), begun(db, "snap_2", an_import(db))
    fail_snapshot(db, failed.snapshot_id, failure="count")
    for facts in (building, failed):
        with pytest.raises(Conflict):
            activate(db, facts.snapshot_id, cause="activate", now_ms=NOW)
    with pytest.raises(NotFound):
        activate(db, SnapshotId("snap_9"), cause="activate", now_ms=NOW)
    assert (active_snapshot_id(db), history(db)) == (None, [])


def test_carried_members_have_the_labels_that_their_source_has_now(db: Database) -> None:
    member = a_member(db)
    import_id = an_import(db, "running")
    begun(db, "snap_1", import_id, member)
    a_source(db, spec=SourceSpec(label="规程", access=("staff",)))
    (now,) = base_members(db, SnapshotId("snap_1"))
    assert (now.source_label, now.access, now.doc_id) == ("规程", ("staff",), member.doc_id)
    assert snapshot_documents(db, SnapshotId("snap_1")) == [member]


def test_what_was_being_built_is_found_and_abandoned_for_good(db: Database) -> None:
    running, cancelled = an_import(db, "running"), an_import(db, "cancelled")
    begun(db, "snap_1", running)
    begun(db, "snap_2", cancelled)
    assert unfinished_snapshots(db, running, ME) == ["snap_1"]
    assert unfinished_snapshots(db, running, "worker-2") == []
    assert orphaned_snapshots(db) == ["snap_2"]
    abandon_snapshot(db, SnapshotId("snap_2"), now_ms=NOW)
    assert (orphaned_snapshots(db), get_import(db, cancelled, now_ms=NOW).snapshot_id) == ([], None)
    assert [is_building(db, SnapshotId(name)) for name in ("snap_1", "snap_2", "snap_3")] == [True, False, False]
    assert removing(db) == ["snap_2"]
    with pytest.raises(NotFound):
        get_snapshot(db, SnapshotId("snap_2"))


def test_a_published_snapshot_is_not_abandoned(db: Database) -> None:
    name = published(db, "snap_1")
    before = get_snapshot(db, name)
    abandon_snapshot(db, name, now_ms=NOW)
    assert (get_snapshot(db, name), removing(db)) == (before, [])


def test_a_worker_without_the_lease_does_not_change_what_its_successors_import_points_to(db: Database) -> None:
    import_id = an_import(db, "running")
    leases.claim(db, import_id, "worker-2", now_ms=LATER, lease_ms=LEASE_MS)
    begun(db, "snap_1", import_id)
    assert get_import(db, import_id, now_ms=LATER).snapshot_id is None
