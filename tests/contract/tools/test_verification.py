"""What was changed behind our back makes exactly the snapshots unavailable that hold it, at the opening or soon behind it."""

import asyncio
import os
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from api.retrieval.library import Library, Pinned
from api.retrieval.snapshots import Pace
from api.tools.registry import Toolbox
from shared.access import OWNER
from shared.blobs import Blobs
from shared.catalog.db import open_database
from shared.catalog.documents import is_damaged
from shared.catalog.retention import begin_removal, forget_members
from shared.catalog.snapshot_leases import beats, drop_silent
from shared.catalog.snapshots import list_snapshots
from shared.errors import CollectionUnavailable, Conflict, NotFound
from shared.ids import SnapshotId
from shared.types.snapshots import Verification
from shared.vectors.edge import EdgeVectors
from tests.contract.tools.corpus import EXPENSES, LEAVE
from tests.contract.tools.world import World
from tests.factories import NOW_MS, a_document
from tests.patience import PATIENCE_S
from tests.promises import promise


@pytest.fixture
def edge(tmp_path: Path) -> World:
    return World(tmp_path, EdgeVectors(tmp_path / "collections"))


def damage(world: World, sql: str) -> None:
    with closing(open_database(world.layout.catalog).conn) as connection:
        connection.execute("pragma foreign_keys = off")
        assert connection.execute(sql).rowcount > 0


def opens(world: World, snapshot_id: SnapshotId) -> bool:
    async def look(pinned: Pinned) -> SnapshotId:
        return pinned.snapshot.snapshot_id

    try:
        return world.pinned(look, snapshot_id=snapshot_id) == snapshot_id
    except CollectionUnavailable as error:
        return error.ids[0] != snapshot_id  # the reason has to name it


@promise("P8")
@pytest.mark.parametrize(
    "sql",
    [
        "update blocks set text = replace(text, '五天', '九天') where text like '%五天%'",
        "update blocks set folded = replace(folded, '五天', '九天') where text like '%五天%'",
        "update blocks set page_first = 9 where text like '%五天%'",
        "update blocks set span_start = span_start + 1 where text like '%五天%'",
        "update blocks set flags = '[\"injection_suspected\"]' where text like '%五天%'",
        "update blocks set flags = 'broken' where text like '%五天%'",
        "update blocks set table_header = '头' where text like '%五天%'",
        "update blocks set section_ordinal = 0 where text like '%五天%'",
        "update blocks set text = x'ff' where text like '%五天%'",
        "update sections set title = '病假' where title = '年假'",
        "update sections set path = '病假期' where path = '年假'",
        "update sections set first_sentence = '没有年假。' where title = '年假'",
        "update sections set own_blocks = own_blocks + 1 where title = '年假'",
    ],
)
def test_a_changed_byte_of_a_version_closes_the_snapshots_that_hold_it_and_no_other(world: World, sql: str) -> None:
    without = world.publish(EXPENSES)
    holding = world.publish(LEAVE, now_ms=NOW_MS + 1)
    damage(world, sql)
    assert (opens(world, without.snapshot_id), opens(world, holding.snapshot_id)) == (True, False)


@pytest.mark.parametrize(
    "sql",
    [
        "update snapshot_documents set access = '[]'",
        "update snapshot_documents set trust = 'official'",
        "update snapshot_documents set title = '另一个标题'",
        "update snapshot_documents set source_label = '别处'",
        "update snapshot_documents set updated_at_ms = updated_at_ms + 1",
        "update snapshot_documents set lang = 'en'",
        "update snapshot_documents set tags = '[\"x\"]'",
    ],
)
def test_a_label_that_was_changed_in_a_published_snapshot_closes_it(world: World, sql: str) -> None:
    secret = world.publish(a_document("纪要.md", "董事会纪要。", access=("board",)))
    other = world.publish(EXPENSES, now_ms=NOW_MS + 1)
    damage(world, f"{sql} where snapshot_id = '{secret.snapshot_id}'")
    assert (opens(world, secret.snapshot_id), opens(world, other.snapshot_id)) == (False, True)


def every_file(world: World, snapshot_id: SnapshotId) -> list[Path]:
    return sorted(path for path in (world.layout.collections / snapshot_id).rglob("*") if path.is_file())


def test_a_changed_or_missing_file_of_a_collection_closes_its_snapshot_and_no_other(edge: World) -> None:
    """Of every file, one byte, then the whole; the engine's own configuration is judged by the engine."""
    other, broken = edge.publish(LEAVE), edge.publish(EXPENSES, now_ms=NOW_MS + 1)
    for path in every_file(edge, broken.snapshot_id):
        whole, times = path.read_bytes(), path.stat()
        if path.name != "edge_config.json" and whole:
            with path.open("r+b") as file:
                file.seek(len(whole) // 2)
                file.write(bytes([whole[len(whole) // 2] ^ 1]))
            assert not opens(edge, broken.snapshot_id), path
        if path.name != "edge_config.json":
            path.unlink()
            assert not opens(edge, broken.snapshot_id), path
        path.write_bytes(whole)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert opens(edge, other.snapshot_id)
    assert opens(edge, broken.snapshot_id)


def test_a_configuration_of_the_engine_that_would_rank_otherwise_does_not_open(edge: World) -> None:
    """The one file without a checksum: the engine writes it anew whenever it loads."""
    snapshot_id = edge.publish(LEAVE).snapshot_id
    path = edge.layout.collections / snapshot_id / "edge_config.json"
    assert b"Cosine" in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(b"Cosine", b"Dot"))
    assert not opens(edge, snapshot_id)


def test_what_was_found_changed_is_known_to_every_later_import(world: World) -> None:
    published = world.publish(LEAVE)
    damage(world, "update blocks set text = replace(text, '五天', '九天') where text like '%五天%'")
    assert not opens(world, published.snapshot_id)
    db = open_database(world.layout.catalog)
    assert is_damaged(db, published.doc_id(LEAVE.key), 1)
    db.conn.close()


# what does not fit into the opening is read behind it

SLOW = Pace(opening=0.0, slice=0.0, rest=0.0)


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Look again until it holds, 5 s at most: what is done behind a run tells nobody when it is done."""
    async with asyncio.timeout(PATIENCE_S):
        while not await condition():  # noqa: ASYNC110  see above
            await asyncio.sleep(0.005)


def test_a_change_that_is_found_behind_the_opening_ends_what_is_under_way_and_what_comes_after(world: World) -> None:
    published = world.publish(LEAVE, EXPENSES, a_document("三.md", "第三份文件。"))
    last = max(document.doc_id for document in published.documents)
    damage(world, f"update blocks set page_first = 77 where doc_id = '{last}'")

    async def scenario(library: Library) -> None:
        async with await library.pin(None, OWNER) as pinned:  # the first document alone fits

            async def is_found() -> bool:
                return (await Toolbox(pinned).call("list_documents", {})).error_code == "collection_unavailable"

            await until(is_found)
        with pytest.raises(CollectionUnavailable) as refused:
            await library.pin(None, OWNER)
        assert refused.value.ids == (published.snapshot_id, last)

    world.run(scenario, pace=SLOW)


def test_a_version_is_read_through_once_however_many_snapshots_share_it(world: World) -> None:
    first = world.publish(LEAVE)

    async def scenario(library: Library) -> None:
        (await library.pin(None, OWNER)).release()
        await asyncio.to_thread(world.publish, EXPENSES, now_ms=NOW_MS + 1)
        (await library.pin(None, OWNER)).release()
        await library.settled()
        await asyncio.to_thread(damage, world, "update blocks set page_first = 77")
        (await library.pin(first.snapshot_id, OWNER)).release()  # another process would notice

    world.run(scenario)
    assert not opens(world, first.snapshot_id)


# leases


def leases(world: World) -> list[str]:
    with closing(open_database(world.layout.catalog)) as db:
        return [snapshot_id for snapshot_id, _ in beats(db)]


def remove(world: World, snapshot_id: SnapshotId) -> None:
    with closing(open_database(world.layout.catalog)) as db:
        begin_removal(db, snapshot_id, cause="delete", now_ms=NOW_MS)


def test_a_snapshot_that_a_run_uses_is_held_by_one_lease_and_let_go_with_the_last_run(world: World) -> None:
    first = world.publish(LEAVE).snapshot_id

    async def scenario(library: Library) -> None:
        one, two = await library.pin(None, OWNER), await library.pin(None, OWNER)
        await asyncio.to_thread(world.publish, EXPENSES, now_ms=NOW_MS + 1)
        (await library.pin(None, OWNER)).release()
        assert (await asyncio.to_thread(leases, world)).count(first) == 1
        one.release()
        with pytest.raises(Conflict) as refused:
            await asyncio.to_thread(remove, world, first)
        assert refused.value.ids == (first, "in_use")
        two.release()
        await library.settled()
        await asyncio.to_thread(remove, world, first)
        with pytest.raises(NotFound):
            await library.pin(first, OWNER)

    world.run(scenario)
    assert leases(world) == []


def test_a_snapshot_that_nobody_uses_is_let_go_soon_after_another_became_active(world: World) -> None:
    first = world.publish(LEAVE).snapshot_id

    async def scenario(library: Library) -> None:
        (await library.pin(None, OWNER)).release()
        await asyncio.to_thread(world.publish, EXPENSES, now_ms=NOW_MS + 1)

        async def is_let_go() -> bool:
            return first not in await asyncio.to_thread(leases, world)

        await until(is_let_go)

    world.run(scenario, pace=Pace(beat=0.01))


def test_a_lease_beats_for_as_long_as_its_snapshot_is_open(world: World) -> None:
    world.publish(LEAVE)

    def count() -> int:
        with closing(open_database(world.layout.catalog)) as db:
            return max(beats(db).values())

    async def scenario(library: Library) -> None:
        async with await library.pin(None, OWNER):
            before = await asyncio.to_thread(count)

            async def has_beaten() -> bool:
                return await asyncio.to_thread(count) > before + 1

            await until(has_beaten)

    world.run(scenario, pace=Pace(beat=0.01))


@pytest.mark.parametrize("pace", [Pace(trust=0.0), Pace(beat=0.01, trust=1e9)], ids=["looks itself", "is told"])
def test_a_run_whose_snapshot_was_removed_while_it_stood_still_says_so_and_never_that_nothing_is_there(
    world: World, pace: Pace
) -> None:
    first = world.publish(LEAVE)

    def taken_for_dead() -> None:
        with closing(open_database(world.layout.catalog)) as db:
            drop_silent(db, beats(db))
            begin_removal(db, first.snapshot_id, cause="retention", now_ms=NOW_MS)
            while forget_members(db, first.snapshot_id, now_ms=NOW_MS):
                pass

    async def scenario(library: Library) -> None:
        async with await library.pin(None, OWNER) as pinned:
            await asyncio.to_thread(world.publish, EXPENSES, now_ms=NOW_MS + 1)
            while first.snapshot_id in await asyncio.to_thread(published, world):
                with suppress(Conflict):  # it beat just now
                    await asyncio.to_thread(taken_for_dead)

            async def says_so() -> bool:
                result = await Toolbox(pinned).call("list_documents", {})
                return result.error_code == "collection_unavailable"

            if pace.trust == 0.0:
                assert await says_so()
            await until(says_so)

    world.run(scenario, pace=pace)


def published(world: World) -> list[str]:
    with closing(open_database(world.layout.catalog)) as db:
        return [one.snapshot_id for one in list_snapshots(db)]


def test_a_catalog_that_somebody_else_writes_to_for_long_keeps_no_run_from_beginning(world: World) -> None:
    world.publish(LEAVE)
    writer = sqlite3.connect(world.layout.catalog, isolation_level=None, check_same_thread=False)
    writer.execute("begin immediate")

    async def scenario(library: Library) -> str | None:
        async with await library.pin(None, OWNER) as pinned:
            return (await Toolbox(pinned).call("scan_term", {"term": "年假"})).empty_reason

    assert world.run(scenario) is None
    writer.execute("rollback")
    writer.close()


# examining


def checks(verification: Verification) -> dict[str, str]:
    return {check.name: check.state for check in verification.checks}


def examined(world: World, snapshot_id: SnapshotId) -> Verification:
    return world.run(lambda library: library.examine(snapshot_id, Blobs(world.layout.originals)))


def test_a_sound_snapshot_passes_every_check_but_for_originals_that_are_not_kept(edge: World) -> None:
    found = examined(edge, edge.publish(LEAVE, EXPENSES).snapshot_id)
    assert found.sound
    names = ("manifest", "facts", "contents", "collection", "blocks", "scan_index", "originals", "search")
    assert checks(found) == dict.fromkeys(names, "ok") | {"originals": "note"}


@pytest.mark.parametrize(
    ("sql", "broken", "skipped"),
    [
        (
            "update snapshots set manifest = '{}'",
            {"manifest"},
            {"facts", "contents", "collection", "blocks", "scan_index", "originals", "search"},
        ),
        ("update snapshot_documents set trust = 'web'", {"facts"}, set[str]()),
        ("update blocks set page_first = 9", {"contents"}, set[str]()),
        ("delete from blocks where block_index = 1", {"facts", "contents", "blocks"}, set[str]()),
        ("update scan_index_data set block = x'00000000000000' where id = 10", {"scan_index"}, set[str]()),
    ],
)
def test_each_check_that_does_not_pass_is_named(world: World, sql: str, broken: set[str], skipped: set[str]) -> None:
    snapshot_id = world.publish(LEAVE).snapshot_id
    damage(world, sql)
    found = examined(world, snapshot_id)
    states = checks(found)
    assert not found.sound
    assert {name for name, state in states.items() if state == "broken"} == broken
    assert {name for name, state in states.items() if state == "skipped"} == skipped


def test_blocks_that_the_index_of_the_scan_lacks_are_found_by_reading(world: World) -> None:
    world.publish(LEAVE)

    async def scan(pinned: Pinned) -> tuple[str, ...]:
        return tuple(block.block_id for block in (await Toolbox(pinned).call("scan_term", {"term": "年假"})).seen)

    before = world.pinned(scan)
    damage(world, "insert into scan_index (scan_index) values ('delete-all')")
    assert world.pinned(scan) == before != ()


def test_a_collection_that_is_gone_is_told_beside_what_is_still_right(world: World) -> None:
    snapshot_id = world.publish(LEAVE).snapshot_id
    world.vectors.drop(snapshot_id)
    states = checks(examined(world, snapshot_id))
    assert (states["contents"], states["collection"], states["blocks"]) == ("ok", "broken", "skipped")


def test_a_restored_snapshot_answers_again_once_it_was_examined(world: World) -> None:
    snapshot_id = world.publish(LEAVE).snapshot_id
    damage(world, "update blocks set page_first = page_first + 1")

    async def scenario(library: Library) -> None:
        blobs = Blobs(world.layout.originals)
        assert not (await library.examine(snapshot_id, blobs)).sound
        with pytest.raises(CollectionUnavailable):
            await library.pin(None, OWNER)
        await asyncio.to_thread(damage, world, "update blocks set page_first = page_first - 1")
        assert (await library.examine(snapshot_id, blobs)).sound
        (await library.pin(None, OWNER)).release()

    world.run(scenario)


def test_what_is_not_published_can_not_be_examined(world: World) -> None:
    world.publish(LEAVE)
    with pytest.raises(NotFound):
        examined(world, SnapshotId("snap_unknown"))
