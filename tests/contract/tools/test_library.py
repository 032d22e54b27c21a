"""A snapshot is what was published, or it says what differs."""

import asyncio
from contextlib import closing

import pytest

from api.retrieval.library import Library, Pinned
from api.tools.registry import Toolbox, ToolResult
from shared.access import OWNER
from shared.catalog.db import open_database
from shared.errors import CollectionUnavailable, InvalidArgument, NoSnapshot, NotFound, ScopeNotFound, StorageError
from shared.ids import SnapshotId
from shared.types.runs import Scope
from shared.types.snapshots import FailedDocument, Snapshot
from tests.contract.tools.corpus import CORPUS, EXPENSES, LEAVE
from tests.contract.tools.world import Watched, World
from tests.factories import NOW_MS, a_document
from tests.patience import PATIENCE_S
from tests.promises import promise

FAILED = FailedDocument(
    source_label="人事手册", key="坏.pdf", stage="parse", code="corrupt", reason="打不开。", attempts=1, retryable=False
)


def damage(world: World, sql: str, *values: object) -> None:
    with closing(open_database(world.layout.catalog).conn) as connection:
        assert connection.execute(sql, values).rowcount > 0


def test_before_the_first_import_there_is_no_snapshot(world: World) -> None:
    world.publish(LEAVE, activate=False)

    with pytest.raises(NoSnapshot):
        world.run(lambda library: library.pin(None, OWNER))


def test_a_data_folder_without_a_catalog_is_a_storage_error(world: World) -> None:
    with pytest.raises(StorageError):
        world.run(lambda library: library.pin(None, OWNER))


def test_a_pinned_snapshot_tells_what_it_lacks(world: World) -> None:
    published = world.publish(LEAVE, failed=[FAILED])

    snapshot = world.pinned(_facts)

    assert (snapshot.snapshot_id, snapshot.state, snapshot.failed_documents) == (
        published.snapshot_id,
        "ready_partial",
        (FAILED,),
    )


def test_an_older_snapshot_answers_when_it_is_named(world: World) -> None:
    first = world.publish(LEAVE)
    world.publish(EXPENSES, now_ms=NOW_MS + 1)

    scan = world.pinned(
        lambda pinned: Toolbox(pinned).call("scan_term", {"term": "年假"}), snapshot_id=first.snapshot_id
    )

    assert scan.empty_reason is None


@pytest.mark.parametrize("state", ["unknown", "building"])
def test_a_snapshot_that_is_not_published_does_not_exist(world: World, state: str) -> None:
    published = world.publish(LEAVE)
    wanted = SnapshotId("snap_unknown")
    if state == "building":
        wanted = published.snapshot_id
        damage(world, "update snapshots set state = 'building'")

    with pytest.raises(NotFound):
        world.pinned(_facts, snapshot_id=wanted)


def test_a_failed_snapshot_says_why_it_failed(world: World) -> None:
    world.publish(LEAVE)
    damage(world, "update snapshots set state = 'failed', failure = 'count_matches'")

    with pytest.raises(CollectionUnavailable, match="count_matches"):
        world.pinned(_facts)


@promise("P8")
@pytest.mark.parametrize(
    ("sql", "named"),
    [
        ("update snapshots set manifest = replace(manifest, '\"sections\":7', '\"sections\":8')", "manifest hashes to"),
        ("update snapshots set manifest = null", "no manifest"),
        ("update snapshots set embedding_version = 'other'", "embedding_version"),
        ("update snapshots set dimensions = 65", "dimensions"),
        ("update snapshots set keyword_version = 'other'", "keyword_version"),
        ("update snapshot_documents set artifact_sha256 = 'other' where title like '请假%'", "artifact_sha256"),
        ("update document_versions set artifact_sha256 = 'other' where title like '请假%'", "artifact_sha256"),
        ("delete from blocks where text like '病假%'", "block count"),
        ("delete from sections where path = '病假'", "section count"),
        ("delete from snapshot_documents where title like '请假%'", "section count"),
        ("delete from snapshot_failures", "failed document count"),
    ],
)
def test_a_changed_fact_makes_the_snapshot_unavailable_and_is_named(world: World, sql: str, named: str) -> None:
    world.publish(LEAVE, EXPENSES, failed=[FAILED])
    damage(world, sql)

    with pytest.raises(CollectionUnavailable, match=named):
        world.pinned(_facts)


def test_a_collection_that_is_gone_makes_the_snapshot_unavailable(world: World) -> None:
    published = world.publish(LEAVE)
    world.vectors.drop(published.snapshot_id)

    with pytest.raises(CollectionUnavailable):
        world.pinned(_facts)


@pytest.mark.parametrize("tool", ["list_blocks", "scan_term", "search_blocks"])
def test_a_block_whose_text_is_changed_under_a_run_never_reaches_the_model(world: World, tool: str) -> None:
    doc_id = world.publish(LEAVE).doc_id(LEAVE.key)
    change = "update blocks set text = replace(text, '五天', '九天'), folded = replace(folded, '五天', '九天')"
    arguments = {
        "list_blocks": {"doc_id": doc_id},
        "scan_term": {"term": "年假"},  # the index still knows the block as it was published
        "search_blocks": {"query": "年假"},
    }

    async def call(pinned: Pinned) -> ToolResult:
        await asyncio.to_thread(damage, world, change)
        return await Toolbox(pinned).call(tool, arguments[tool])

    called = world.pinned(call)

    assert called.error_code == "collection_unavailable"
    assert "九天" not in called.payload.decode()


@promise("P1")
def test_a_run_keeps_its_snapshot_while_another_one_becomes_active(world: World) -> None:
    world.publish(LEAVE)

    async def switch_midway(library: Library) -> tuple[bytes, bytes, bytes]:
        async with await library.pin(None, OWNER) as pinned:
            before = await Toolbox(pinned).call("list_documents", {})
            await asyncio.to_thread(world.publish, EXPENSES, now_ms=NOW_MS + 1)
            async with await library.pin(None, OWNER) as other:
                new = await Toolbox(other).call("list_documents", {})
            searched = await Toolbox(pinned).call("search_blocks", {"query": "年假"})
            after = await Toolbox(pinned).call("list_documents", {})
        assert searched.error_code is None
        return before.payload, after.payload, new.payload

    before, after, new = world.run(switch_midway)

    assert before == after
    assert EXPENSES.title in new.decode()
    assert LEAVE.title not in new.decode()


def test_every_pin_is_of_the_snapshot_that_is_active_at_that_moment(world: World) -> None:
    published: list[SnapshotId] = []

    async def publish_and_pin(library: Library) -> list[SnapshotId]:
        pinned: list[SnapshotId] = []
        for number in range(3):
            one = await asyncio.to_thread(world.publish, EXPENSES if number % 2 else LEAVE, now_ms=NOW_MS + number)
            published.extend([one.snapshot_id] * 3)
            for _ in range(3):
                async with await library.pin(None, OWNER) as it:
                    pinned.append(it.snapshot.snapshot_id)
        return pinned

    assert world.run(publish_and_pin) == published
    assert len(set(published)) == 3


def test_a_snapshot_is_opened_once_and_closed_when_it_is_superseded_and_free(world: World) -> None:
    watched = Watched(world)
    first = world.publish(LEAVE)

    async def scenario(library: Library) -> None:
        one, two = await asyncio.gather(library.pin(None, OWNER), library.pin(None, OWNER))
        assert watched.opened == [first.snapshot_id]
        second = await asyncio.to_thread(world.publish, EXPENSES, now_ms=NOW_MS + 1)
        (await library.pin(None, OWNER)).release()
        one.release()
        one.release()
        assert watched.opened == [first.snapshot_id, second.snapshot_id]
        assert watched.closed == []
        two.release()
        assert await asyncio.to_thread(watched.closed_one.wait, PATIENCE_S)
        assert watched.closed == [first.snapshot_id]

    world.run(scenario)

    assert sorted(watched.closed) == sorted(watched.opened)


def test_a_caller_that_goes_away_while_a_snapshot_opens_holds_nothing(world: World) -> None:
    watched = Watched(world)
    world.publish(LEAVE)

    async def scenario(library: Library) -> None:
        leaving = asyncio.create_task(library.pin(None, OWNER))
        staying = asyncio.create_task(library.pin(None, OWNER))
        await asyncio.sleep(0)
        leaving.cancel()
        (await staying).release()

    world.run(scenario)

    assert watched.closed == watched.opened


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (None, None),
        (Scope(), None),
        (Scope(sources=("hr",)), {LEAVE.key}),
        (Scope(tags=("policy", "制度")), {LEAVE.key, EXPENSES.key}),
        (Scope(sources=("HR",), tags=("finance",)), {LEAVE.key, EXPENSES.key}),
    ],
)
def test_a_scope_is_the_union_of_what_it_names(world: World, scope: Scope | None, expected: set[str] | None) -> None:
    published = world.publish(*CORPUS)

    resolved = world.pinned(lambda pinned: pinned.resolve_scope(scope))

    assert resolved == (None if expected is None else {published.doc_id(key) for key in expected})


def test_a_scope_that_names_something_unknown_is_not_found_with_every_name(world: World) -> None:
    published = world.publish(*CORPUS)
    scope = Scope(doc_ids=(published.doc_id(LEAVE.key),), sources=("法务",), tags=("policy", "草稿"))

    with pytest.raises(ScopeNotFound) as caught:
        world.pinned(lambda pinned: pinned.resolve_scope(scope))

    assert caught.value.ids == ("法务", "草稿")


@pytest.mark.parametrize("scope", [Scope(doc_ids=()), Scope(sources=()), Scope(tags=())])
def test_an_empty_list_in_a_scope_is_an_error_and_not_everything(world: World, scope: Scope) -> None:
    world.publish(a_document("一.md", "一。"))

    with pytest.raises(InvalidArgument):
        world.pinned(lambda pinned: pinned.resolve_scope(scope))


async def _facts(pinned: Pinned) -> Snapshot:
    return pinned.snapshot
