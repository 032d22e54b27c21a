"""Old snapshots go with all that only they needed; whatever something refers to stays, killed at any step or not."""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from shared.catalog import garbage, retention
from shared.catalog.building import choose_base
from shared.catalog.documents import is_as_imported
from shared.catalog.imports import cancel, pause, resume, retry
from shared.catalog.leases import claim
from shared.catalog.retention import begin_removal, set_frozen, set_pinned
from shared.catalog.snapshot_leases import beat, take_snapshot_lease
from shared.catalog.snapshots import activate, get_manifest, get_snapshot, list_snapshots, snapshot_documents
from shared.embeddings.fake import FakeEmbedder
from shared.errors import Conflict, NotFound
from shared.ids import BlockId, ImportId, SnapshotId
from shared.settings import QdrantSettings
from shared.types.imports import ImportRequest, Upload
from shared.vectors.memory import MemoryVectors
from shared.vectors.open import open_vectors
from tests.contract.worker.test_interrupted import TEXT, MortalEmbedder
from tests.contract.worker.workshop import LEASE_MS, Killed, LosingVectors, Workshop
from worker.advance import MAX_CLAIMS
from worker.retention import DAY_S, SILENT_S, SWEEP_S, Retention, Store
from worker.stages.embed import block_texts
from worker.stages.index import BuildJob, BuildResult, target_of
from worker.stages.work import Stopped

SHARED = "# 总则\n所有人员必须佩戴安全帽。"
DAY_MS = round(DAY_S * 1000)


class Keeper:
    """Retention on a workshop. `seconds` is its monotonic clock; files are as old as the test says."""

    def __init__(self, shop: Workshop, *, keep: int = 2, owns_collections: bool = True) -> None:
        self.shop = shop
        self.seconds = 0.0
        store = Store(
            db=shop.db,
            blobs=shop.parts.blobs,
            cache=shop.cache,
            vectors=shop.vectors,
            owns_collections=owns_collections,
            sweeps=shop.parts.layout.sweeps,
        )
        self._retention = Retention(
            store,
            keep=keep,
            conversation_days=90,
            embedding_version=shop.embedder.version,
            parser_version=shop.parts.chunking.parser_version,
            now_ms=lambda: shop.now,
            monotonic_s=lambda: self.seconds,
        )

    def run(self, check: Callable[[], None] = lambda: None) -> None:
        self._retention.run(check)

    def a_day_passes(self) -> None:
        """For the clocks and for the files."""
        self.shop.now += DAY_MS + 1
        self.seconds += DAY_S
        for path in self.shop.parts.layout.originals.rglob("*"):
            if path.is_file():
                times = path.stat()
                os.utime(path, (times.st_atime, times.st_mtime - DAY_S - 1))

    def settle(self) -> None:
        """Until nothing more can go: what waits for a grace time included."""
        self.run()
        self.a_day_passes()
        self.run()


def kept(shop: Workshop) -> set[str]:
    return {snapshot.snapshot_id for snapshot in list_snapshots(shop.db)}


def left(shop: Workshop) -> dict[str, Any]:
    """Everything that is stored anywhere, but the notes about what was removed when."""
    tables = (
        "documents",
        "document_versions",
        "sections",
        "blocks",
        "snapshots",
        "snapshot_documents",
        "parsed",
        "released_vectors",
    )
    blobs = shop.parts.layout.originals
    return {
        **{table: sorted(shop.db.conn.execute(f"select * from {table}").fetchall(), key=repr) for table in tables},
        "removed": sorted(shop.db.conn.execute("select snapshot_id, cause from removed_snapshots").fetchall()),
        "collections": shop.vectors.names(),
        "originals": sorted(path.name for path in blobs.glob("??/*")),
        "vectors": sorted(row[0] for row in shop.cache._db.conn.execute("select sha256 from vectors")),  # pyright: ignore[reportPrivateUsage]
    }


def three_snapshots(shop: Workshop) -> list[SnapshotId]:
    """A document that stays, one that changes each time, one that only the first holds."""
    shop.write(总则=SHARED, 变化="# 一\n第一版的内容。\n大家都有的一句话。", 旧的="# 旧\n只有最早的快照有它。")
    made = [shop.run()]
    shop.write(变化="# 一\n第二版的内容。\n大家都有的一句话。")
    (shop.files / "旧的.md").unlink()
    made.append(shop.run(ImportRequest(mode="sync", paths=(str(shop.files),))))
    shop.write(变化="# 一\n第三版的内容。\n大家都有的一句话。")
    made.append(shop.run())
    return [one.snapshot_id for one in made if one.snapshot_id is not None]


def test_the_last_published_snapshots_stay_and_older_ones_go(shop: Workshop) -> None:
    first, second, third = three_snapshots(shop)
    Keeper(shop, keep=2).run()
    assert kept(shop) == {second, third}
    assert shop.vectors.names() == [second, third]
    with pytest.raises(NotFound):
        get_snapshot(shop.db, first)


def test_with_a_snapshot_goes_what_only_it_needed(shop: Workshop) -> None:
    three_snapshots(shop)
    before = left(shop)
    Keeper(shop, keep=1).settle()
    after = left(shop)
    assert {(row[0], row[1]) for row in after["document_versions"]} == {
        (document, version)
        for document, version in shop.db.conn.execute("select doc_id, version from snapshot_documents")
    }
    texts = {row[0] for row in shop.db.conn.execute("select text from blocks")}
    assert "".join(sorted(texts)).count("大家都有的一句话") == 1
    assert not [text for text in texts if "第一版" in text or "第二版" in text or "旧" in text]
    assert len(after["originals"]) == 2 * 2  # an original and a checkpoint for each document
    assert 0 < len(after["vectors"]) < len(before["vectors"])
    assert after["released_vectors"] == []
    assert [row[0] for row in after["documents"]] == [row[0] for row in before["documents"]]  # their numbers go on


def test_a_vector_whose_text_another_block_has_stays_and_is_not_bought_again(shop: Workshop) -> None:
    three_snapshots(shop)
    Keeper(shop, keep=1).settle()
    bought = list(shop.bought())
    shop.write(变化="# 一\n第三版的内容。\n大家都有的一句话。", 副本=SHARED)
    shop.run()
    assert len(shop.bought()) - len(bought) <= 1  # the copy stands under another title


def test_what_was_removed_and_comes_back_gets_new_numbers(shop: Workshop) -> None:
    three_snapshots(shop)
    Keeper(shop, keep=1).settle()
    shop.write(变化="# 一\n第一版的内容。\n大家都有的一句话。")
    shop.run()
    assert shop.members()["变化.md"] == 4


Hold = Callable[[Workshop, SnapshotId], None]


def _active(shop: Workshop, snapshot_id: SnapshotId) -> None:
    activate(shop.db, snapshot_id, cause="activate", now_ms=shop.now)


def _pinned(shop: Workshop, snapshot_id: SnapshotId) -> None:
    set_pinned(shop.db, snapshot_id, pinned=True)


def _frozen(shop: Workshop, snapshot_id: SnapshotId) -> None:
    set_frozen(shop.db, snapshot_id, frozen=True)


def _in_use(shop: Workshop, snapshot_id: SnapshotId) -> None:
    assert take_snapshot_lease(shop.db, snapshot_id, "api:1")


def _import_base(shop: Workshop, snapshot_id: SnapshotId) -> None:
    activate(shop.db, snapshot_id, cause="activate", now_ms=shop.now)
    import_id = shop.ask()
    claim(shop.db, import_id, "w", now_ms=shop.now, lease_ms=LEASE_MS)
    choose_base(shop.db, import_id, "w")
    pause(shop.db, import_id, now_ms=shop.now)
    activate(shop.db, list_snapshots(shop.db)[0].snapshot_id, cause="activate", now_ms=shop.now)


@pytest.mark.parametrize(
    ("hold", "name"),
    [(_active, "active"), (_pinned, "pinned"), (_frozen, "frozen"), (_in_use, "in_use"), (_import_base, "import_base")],
)
def test_a_held_snapshot_stays_whatever_its_age_and_says_what_holds_it(shop: Workshop, hold: Hold, name: str) -> None:
    first, second, third = three_snapshots(shop)
    hold(shop, first)
    Keeper(shop, keep=1).run()
    assert kept(shop) == {first, third}
    with pytest.raises(Conflict) as refused:
        begin_removal(shop.db, first, cause="delete", now_ms=shop.now)
    assert refused.value.ids == (first, name)
    assert second not in shop.vectors.names()


class KilledAt:
    """A check that ends the process at its nth call, 0..; `reached` says whether there was one."""

    def __init__(self, step: int) -> None:
        self._left = step
        self.reached = False

    def __call__(self) -> None:
        self._left -= 1
        if self._left < 0:
            self.reached = True
            raise Killed


def test_killed_between_any_two_steps_the_next_run_ends_where_an_undisturbed_one_does(tmp_path: Path) -> None:
    def a_world(name: str) -> Keeper:
        (tmp_path / name).mkdir()
        shop = Workshop(tmp_path / name)
        shop.vectors = MemoryVectors()
        three_snapshots(shop)
        return Keeper(shop, keep=1)

    undisturbed = a_world("undisturbed")
    undisturbed.settle()
    expected = comparable(left(undisturbed.shop))
    step, reached = 0, True
    while reached:
        keeper, kill = a_world(f"killed {step}"), KilledAt(step)
        try:
            keeper.run(kill)
        except Killed:
            keeper = Keeper(keeper.shop, keep=1)
        assert_whole(keeper.shop)
        keeper.settle()
        assert comparable(left(keeper.shop)) == expected, step
        keeper.shop.close()
        step, reached = step + 1, kill.reached
    undisturbed.shop.close()
    assert step > 10


def comparable(stored: dict[str, Any]) -> dict[str, Any]:
    """Without ids and times that differ from world to world."""
    return {
        **{name: len(stored[name]) for name in ("snapshots", "snapshot_documents", "collections", "removed")},
        **{name: sorted(map(repr, stored[name])) for name in ("originals", "vectors", "released_vectors")},
        **{name: len(stored[name]) for name in ("documents", "document_versions", "sections", "blocks", "parsed")},
    }


def assert_whole(shop: Workshop) -> None:
    """Every snapshot that readers know has its collection and each document as it was imported."""
    for snapshot in list_snapshots(shop.db):
        assert shop.vectors.open(snapshot.snapshot_id, files={}).count() == snapshot.blocks
        for member in snapshot_documents(shop.db, snapshot.snapshot_id):
            assert is_as_imported(shop.db, member.doc_id, member.version)


def test_the_embedded_engine_s_folders_go_with_their_snapshots(shop: Workshop) -> None:
    shop.vectors = open_vectors(QdrantSettings(), shop.parts.layout.collections)
    shop.parts = replace(shop.parts, vectors=shop.vectors)
    first, _, third = three_snapshots(shop)
    folder = shop.parts.layout.collections
    (folder / first).rename(folder / ".building" / f"{first}~")  # killed while its files were going
    Keeper(shop, keep=1).settle()
    assert sorted(path.name for path in folder.iterdir()) == [".building", third]
    assert list((folder / ".building").iterdir()) == []
    collection = shop.vectors.open(third, files=get_manifest(shop.db, third).collection_files)
    assert collection.count() == shop.active().blocks
    collection.close()


def test_a_collection_that_is_still_written_is_left_for_the_next_time(shop: Workshop) -> None:
    first, *_ = three_snapshots(shop)
    keeper = Keeper(shop, keep=2)
    shop.vectors.drop(first)
    builder = shop.vectors.build(first, dimensions=4)
    keeper.run()
    assert first in retention.removing(shop.db)
    assert first not in kept(shop)
    builder.abandon()
    keeper.run()
    assert retention.removing(shop.db) == []


def test_a_failed_snapshot_goes_once_a_later_one_was_published(shop: Workshop) -> None:
    shop.write(a=SHARED)
    shop.run()
    shop.write(b="# 乙\n第二份。")
    engine = shop.vectors
    shop.vectors = LosingVectors(engine, {BlockId(min(shop.indexed()))})
    shop.work(shop.ask(), vectors=shop.vectors)
    shop.vectors = engine
    (failed,) = [one.snapshot_id for one in list_snapshots(shop.db) if one.state == "failed"]
    keeper = Keeper(shop)
    keeper.run()
    assert failed in kept(shop)
    shop.run()
    keeper.run()
    assert failed not in kept(shop)
    assert_whole(shop)


# what an import has done and not published


def pause_when_free(shop: Workshop, import_id: ImportId) -> None:
    shop.now += LEASE_MS + 1
    pause(shop.db, import_id, now_ms=shop.now)


def test_what_an_unfinished_import_has_made_stays_and_it_ends_as_if_nothing_had_gone(shop: Workshop) -> None:
    three_snapshots(shop)
    shop.write(新的=TEXT)
    import_id = shop.ask()
    embedder = MortalEmbedder(1)
    with pytest.raises(Killed):
        shop.work(import_id, embedder=embedder)
    pause_when_free(shop, import_id)
    keeper = Keeper(shop, keep=1)
    for _ in range(9):
        keeper.settle()
    resume(shop.db, import_id, now_ms=shop.now)
    done = shop.work(import_id)
    assert done.state == "completed"
    assert shop.parser.parsed.count("新的.md") == 1
    assert not set(embedder.passages) & set(shop.bought())
    assert_whole(shop)


def test_a_failed_import_can_be_retried_long_after_what_it_had_made_is_gone(shop: Workshop) -> None:
    shop.write(好的="# 好\n可以用的内容。", 坏的="# 坏\n不能用的内容。")
    import_id = shop.ask()
    for _ in range(1 + MAX_CLAIMS):
        with pytest.raises(Killed):
            shop.work(import_id, embedder=MortalEmbedder(0))
        shop.now += LEASE_MS + 1
    assert shop.work(import_id).state == "failed"
    keeper = Keeper(shop)
    keeper.settle()
    assert left(shop)["document_versions"] != []
    for _ in range(8):
        keeper.settle()
    assert (left(shop)["document_versions"], left(shop)["originals"]) == ([], [])
    retry(shop.db, import_id, now_ms=shop.now)
    assert shop.work(import_id).state == "completed"
    assert set(shop.members()) == {"好的.md", "坏的.md"}


def test_what_a_cancelled_import_has_bought_stays_for_a_week(shop: Workshop) -> None:
    shop.write(a=SHARED)
    shop.run()
    shop.write(b="# 乙\n已经付过钱的一段。")
    import_id = shop.ask()
    shop.before_build = lambda: cancel(shop.db, import_id, now_ms=shop.now)
    assert shop.work(import_id).state == "cancelled"
    bought = list(shop.bought())
    keeper = Keeper(shop)
    for _ in range(3):
        keeper.settle()
    shop.run()
    assert shop.bought() == bought


def test_an_upload_stays_until_its_import_is_asked_for_and_goes_a_day_later_if_it_never_is(shop: Workshop) -> None:
    shop.write(a=SHARED)
    shop.run()
    blobs = shop.parts.blobs
    keeper = Keeper(shop)
    keeper.settle()
    wanted, unwanted = blobs.put("想要的".encode()), blobs.put("不要的".encode())
    keeper.run()
    keeper.seconds += SWEEP_S
    keeper.run()
    assert blobs.path(wanted).is_file()
    assert blobs.path(unwanted).is_file()
    shop.ask(ImportRequest(uploads=(Upload(name="想要的.md", sha256=wanted, size_bytes=9),)))
    keeper.a_day_passes()
    keeper.run()
    assert (blobs.path(wanted).is_file(), blobs.path(unwanted).is_file()) == (True, False)


def test_a_file_that_is_uploaded_again_is_new_however_old_its_content_is(shop: Workshop) -> None:
    shop.write(a=SHARED)
    shop.run()
    keeper = Keeper(shop)
    keeper.settle()
    blobs = shop.parts.blobs
    again = blobs.put("旧内容".encode())
    keeper.a_day_passes()
    assert blobs.put("旧内容".encode()) == again
    keeper.run()
    assert blobs.path(again).is_file()
    assert not blobs.remove(again, unused_for_s=DAY_S)
    assert blobs.read(again) == "旧内容".encode()


def test_a_block_that_is_stored_while_vectors_go_finds_the_vector_it_needs(shop: Workshop) -> None:
    three_snapshots(shop)
    keeper = Keeper(shop, keep=1)
    bought = list(shop.bought())
    imports: list[ImportId] = []

    def check() -> None:
        gone = shop.db.conn.execute("select count(*) from document_versions where state = 'leaving'").fetchone()[0]
        if not imports and garbage.has_released_vectors(shop.db) and not gone:
            shop.write(旧的="# 旧\n只有最早的快照有它。")
            shop.before_build = lambda: None
            imports.append(shop.ask())
            shop.work(imports[0])

    keeper.run(check)
    keeper.settle()
    assert shop.look(imports[0]).state == "completed"
    assert len(set(shop.bought())) == len(set(bought))
    assert_whole(shop)
    known = shop.cache.get(shop.embedder.version, left_keys(shop))
    assert len(known) == len(left_keys(shop))


def left_keys(shop: Workshop) -> list[str]:
    """The vectors' keys of every block that is stored."""
    members = snapshot_documents(shop.db, shop.active().snapshot_id)
    return sorted({text.sha256 for member in members for text in block_texts(shop.db, target_of(member))})


# what no row speaks of


def test_collections_that_the_catalog_does_not_know_go_after_a_day_from_a_folder_of_our_own(shop: Workshop) -> None:
    (first, *_) = three_snapshots(shop)
    shop.vectors.build("snap_stray", dimensions=4).seal()
    keeper = Keeper(shop, keep=3)
    keeper.run()
    keeper.seconds += SWEEP_S
    keeper.run()
    assert "snap_stray" in shop.vectors.names()
    keeper.a_day_passes()
    keeper.run()
    assert "snap_stray" not in shop.vectors.names()
    assert first in shop.vectors.names()


def test_what_a_kill_left_unfinished_goes_after_a_day_unless_somebody_still_writes_it(tmp_path: Path) -> None:
    shop = Workshop(tmp_path)
    shop.vectors = open_vectors(QdrantSettings(), shop.parts.layout.collections)
    building = shop.parts.layout.collections / ".building"
    living = shop.vectors.build("snap_living", dimensions=4)
    (building / "snap_stray").mkdir()
    (building / "snap_stray.lock").touch()
    keeper = Keeper(shop)
    keeper.run()
    assert shop.vectors.unfinished() == ["snap_living", "snap_stray"]
    keeper.settle()
    assert shop.vectors.unfinished() == ["snap_living"]
    living.seal()
    keeper.settle()
    assert (shop.vectors.unfinished(), shop.vectors.names()) == ([], [])
    shop.close()


def test_what_a_killed_worker_was_building_goes_when_its_import_is_cancelled_and_its_work_stays(shop: Workshop) -> None:
    shop.write(a="# 甲\n第一份文件。")
    import_id = shop.ask()

    def dying(job: BuildJob, check: Callable[[], None]) -> BuildResult:
        shop.parts.build(job, check)
        raise Killed

    with pytest.raises(Killed):
        shop.work(import_id, build=dying)
    keeper = Keeper(shop)
    keeper.run()
    assert len(shop.vectors.names()) == 1  # the import may still be taken up
    shop.now += LEASE_MS + 1
    cancel(shop.db, import_id, now_ms=shop.now)
    keeper.run()
    assert (shop.vectors.names(), kept(shop), retention.removing(shop.db)) == ([], set(), [])
    bought = list(shop.bought())
    assert shop.run().state == "completed"
    assert (shop.parser.parsed, shop.bought()) == (["a.md"], bought)


def test_a_snapshot_that_was_given_up_goes_once_its_builder_has_ended(shop: Workshop) -> None:
    shop.write(a="# 甲\n第一份文件。")
    import_id = shop.ask()

    def overtaken(job: BuildJob, check: Callable[[], None]) -> BuildResult:
        builder = shop.vectors.build(job.snapshot_id, dimensions=4)
        shop.now += LEASE_MS + 1
        shop.now_done(import_id)
        published = shop.active().snapshot_id
        Keeper(shop).run()
        assert retention.removing(shop.db) == [job.snapshot_id]  # its builder is still at work
        builder.seal()
        assert shop.vectors.names() == sorted([job.snapshot_id, published])
        Keeper(shop).run()
        assert (shop.vectors.names(), retention.removing(shop.db)) == ([published], [])
        raise Stopped

    assert shop.work(import_id, build=overtaken).state == "completed"
    assert kept(shop) == {shop.active().snapshot_id}


def test_on_a_shared_server_others_collections_are_never_touched_and_our_own_late_ones_go(shop: Workshop) -> None:
    first, _, third = three_snapshots(shop)
    shop.vectors.build("snap_of_somebody_else", dimensions=4).seal()
    keeper = Keeper(shop, keep=1, owns_collections=False)
    keeper.run()
    shop.vectors.build(first, dimensions=4).seal()  # a builder that came too late
    for _ in range(3):
        keeper.settle()
    assert shop.vectors.names() == sorted(["snap_of_somebody_else", third])


def test_an_older_catalog_put_in_place_costs_nothing_for_a_day(shop: Workshop) -> None:
    keeper = Keeper(shop, keep=9)
    shop.write(a=SHARED)
    shop.run()
    keeper.settle()
    older = sqlite3.connect(":memory:")
    shop.db.conn.backup(older)
    shop.write(b="# 乙\n备份之后的内容。")
    shop.run()
    keeper.settle()
    newer = left(shop)
    older.backup(shop.db.conn)
    older.close()
    keeper.seconds += SWEEP_S
    keeper.run()
    keeper.seconds += SWEEP_S
    keeper.run()
    after = left(shop)
    assert (after["collections"], after["originals"]) == (newer["collections"], newer["originals"])
    keeper.a_day_passes()
    keeper.run()
    assert len(left(shop)["collections"]) == 1


def test_vectors_of_an_embedding_that_no_snapshot_has_any_more_go(shop: Workshop) -> None:
    shop.write(a=SHARED)
    shop.run()
    other = FakeEmbedder(32, version="fake:other")
    shop.write(b="# 乙\n第二份。")
    shop.work(shop.ask(), embedder=other)
    keeper = Keeper(shop, keep=1)
    shop.embedder = other
    keeper = Keeper(shop, keep=1)
    assert len(shop.cache.versions()) == 2
    keeper.run()
    assert shop.cache.versions() == {"fake:other"}
    assert_whole(shop)


# leases


def test_a_process_that_is_gone_holds_its_snapshot_until_it_was_silent_long_enough(shop: Workshop) -> None:
    first, _, third = three_snapshots(shop)
    take_snapshot_lease(shop.db, first, "api:dead")
    keeper = Keeper(shop, keep=1)
    keeper.run()
    keeper.seconds += SILENT_S - 1
    keeper.run()
    assert first in kept(shop)
    keeper.seconds += 1
    keeper.run()
    assert kept(shop) == {third}


def test_a_process_that_beats_keeps_its_snapshot_whatever_the_clock_says(shop: Workshop) -> None:
    first, _, third = three_snapshots(shop)
    take_snapshot_lease(shop.db, first, "api:1")
    keeper = Keeper(shop, keep=1)
    for _ in range(5):
        keeper.run()
        keeper.seconds += SILENT_S - 1
        shop.now += DAY_MS
        assert beat(shop.db, "api:1", [first]) == set()
    assert kept(shop) == {first, third}


def test_a_process_that_stood_still_takes_its_lease_again_or_is_told_that_the_snapshot_is_gone(shop: Workshop) -> None:
    first, second, third = three_snapshots(shop)
    for snapshot_id in (first, third):
        take_snapshot_lease(shop.db, snapshot_id, "api:1")
    keeper = Keeper(shop, keep=2)
    keeper.run()
    keeper.seconds += SILENT_S
    keeper.run()
    assert kept(shop) == {second, third}
    assert beat(shop.db, "api:1", [first, third]) == {first}
    with pytest.raises(Conflict):
        begin_removal(shop.db, third, cause="delete", now_ms=shop.now)
    assert not take_snapshot_lease(shop.db, first, "api:2")
