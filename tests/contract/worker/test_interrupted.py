"""Imports that are killed, paused, cancelled, cut off: nothing is lost, nothing is bought twice, nothing half is published."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from shared.catalog.building import abandon_snapshot
from shared.catalog.imports import cancel, pause, resume, retry
from shared.catalog.retention import removing
from shared.catalog.snapshots import active_snapshot_id, list_snapshots
from shared.embeddings.fake import FakeEmbedder
from shared.embeddings.port import Embedded
from shared.errors import Conflict, StorageError, UpstreamCode, UpstreamError
from shared.types.imports import ImportRequest
from tests.contract.worker.workshop import LEASE_MS, DisturbedVectors, HeldVectors, Killed, Workshop
from tests.patience import PATIENCE_S
from worker.advance import MAX_CLAIMS
from worker.stages.index import Abandoned, BuildCrashed, BuildJob, BuildResult
from worker.stages.work import Stopped

TEXT = "\n".join(f"# 第{n}节\n第{n}节的内容，独一无二。\nParagraph {n} is like no other." for n in range(5))


class MortalEmbedder(FakeEmbedder):
    """Ends its worker at the call with this number, 0..; its texts are not bought."""

    def __init__(self, die_at: int | None = None) -> None:
        super().__init__(max_batch=2)
        self.die_at = die_at
        self.calls = 0

    def embed_passages(self, texts: Sequence[str]) -> Embedded:
        self.calls += 1
        if self.calls - 1 == self.die_at:
            raise Killed
        return super().embed_passages(texts)


class RefusingEmbedder(FakeEmbedder):
    """Refuses every text that holds `word`, for good."""

    def __init__(self, word: str, code: UpstreamCode = "provider_content_filtered") -> None:
        super().__init__(max_batch=3)
        self.word = word
        self.code: UpstreamCode = code

    def embed_passages(self, texts: Sequence[str]) -> Embedded:
        if any(self.word in text for text in texts):
            raise UpstreamError(self.code, "不予处理")
        return super().embed_passages(texts)


class PausingEmbedder(FakeEmbedder):
    """Calls `act` while its second batch is under way."""

    def __init__(self, act: Callable[[], None]) -> None:
        super().__init__(max_batch=2)
        self.act = act

    def embed_passages(self, texts: Sequence[str]) -> Embedded:
        if len(self.passages) == self.max_batch:
            self.act()
        return super().embed_passages(texts)


def texts_of_an_undisturbed_import(tmp_path: Path) -> list[str]:
    shop = Workshop(tmp_path / "undisturbed")
    shop.write(a=TEXT, b="# 乙\n第二份文件。")
    shop.run()
    shop.close()
    return sorted(shop.bought())


@pytest.mark.parametrize("die_at", [0, 1, 2, 4])
def test_a_worker_killed_between_batches_buys_nothing_twice(tmp_path: Path, shop: Workshop, die_at: int) -> None:
    shop.write(a=TEXT, b="# 乙\n第二份文件。")
    first = MortalEmbedder(die_at)
    import_id = shop.ask()
    with pytest.raises(Killed):
        shop.work(import_id, embedder=first)
    assert shop.look(import_id).state == "running"
    assert shop.wait_for_reconciler(ms=LEASE_MS + 1) == [import_id]
    done = shop.work(import_id)
    assert done.state == "completed"
    assert sorted(first.passages + shop.bought()) == texts_of_an_undisturbed_import(tmp_path)
    assert done.progress.blocks_embedded == done.progress.blocks == shop.active().blocks


def test_nobody_takes_over_before_the_lease_has_run_out(shop: Workshop) -> None:
    shop.write(a=TEXT)
    import_id = shop.ask()
    with pytest.raises(Killed):
        shop.work(import_id, embedder=MortalEmbedder(0))
    assert shop.wait_for_reconciler(ms=LEASE_MS) == []
    assert shop.work(import_id).state == "running"
    assert shop.bought() == []


def test_a_document_that_kills_its_worker_again_and_again_fails_alone(shop: Workshop) -> None:
    shop.write(a="# 甲\n好的文件。", b="#!kills")
    import_id = shop.ask()
    for _ in range(3):
        shop.killed(import_id)
    done = shop.work(import_id)
    assert (done.state, shop.members()) == ("completed", {"a.md": 1})
    (gap,) = done.failed_documents
    assert (gap.key, gap.stage, gap.code, gap.retryable) == ("b.md", "parse", "parse_crashed", True)


def test_documents_that_were_under_way_beside_one_that_kills_its_worker_come_through(shop: Workshop) -> None:
    shop.write(a="#!kills", b="# 乙\n好的文件。", c="# 丙\n也好。", d="# Four\nGood too.")
    import_id = shop.ask()
    for _ in range(3):
        shop.killed(import_id)
    done = shop.work(import_id)
    assert shop.members() == {"b.md": 1, "c.md": 1, "d.md": 1}
    assert [gap.key for gap in done.failed_documents] == ["a.md"]


def test_documents_are_read_several_at_once(shop: Workshop) -> None:
    shop.write(a=TEXT, b="# 乙\n第二份文件。")
    met = threading.Barrier(2)

    class Meeting:
        def parse(self, path: Path, *, name: str) -> object:
            met.wait(timeout=PATIENCE_S)  # raises unless the other one comes
            return shop.parser.parse(path, name=name)

    assert shop.work(shop.ask(), parser=Meeting()).state == "completed"


def test_what_was_under_way_when_the_worker_was_asked_to_stop_is_not_read_again(shop: Workshop) -> None:
    shop.write(**{f"f{number}": f"# {number}\n第{number}份文件。" for number in range(9)})
    import_id = shop.ask()

    class Stopping:
        def parse(self, path: Path, *, name: str) -> object:
            shop.stopping.set()
            return shop.parser.parse(path, name=name)

    assert shop.work(import_id, parser=Stopping()).state == "running"
    assert 0 < len(shop.parser.parsed) < 9
    shop.stopping.clear()
    assert shop.work(import_id).state == "completed"
    assert sorted(shop.parser.parsed) == [f"f{number}.md" for number in range(9)]


def test_an_import_that_kills_every_worker_fails_in_the_end(shop: Workshop) -> None:
    shop.write(a=TEXT)
    import_id = shop.ask()
    for _ in range(1 + MAX_CLAIMS):  # the first one gets as far as the embed stage
        with pytest.raises(Killed):
            shop.work(import_id, embedder=MortalEmbedder(0))
        shop.now += LEASE_MS + 1
    failed = shop.work(import_id)
    assert (failed.state, failed.failure_code) == ("failed", "worker_crashed")
    retry(shop.db, import_id, now_ms=shop.now)
    assert shop.work(import_id).state == "completed"
    assert shop.parser.parsed == ["a.md"]


def test_a_pause_in_the_middle_of_one_document_keeps_what_was_bought(tmp_path: Path, shop: Workshop) -> None:
    shop.write(a=TEXT, b="# 乙\n第二份文件。")
    import_id = shop.ask()
    embedder = PausingEmbedder(lambda: pause(shop.db, import_id, now_ms=shop.now))
    paused = shop.work(import_id, embedder=embedder)
    assert (paused.state, paused.stage, paused.pause_reason) == ("paused", "embed", "asked for")
    assert paused.progress.blocks_embedded == len(embedder.passages) == 4
    assert shop.work(import_id).state == "paused"  # a late message changes nothing
    resume(shop.db, import_id, now_ms=shop.now)
    assert shop.work(import_id).state == "completed"
    assert sorted(embedder.passages + shop.bought()) == texts_of_an_undisturbed_import(tmp_path)


def test_a_cancelled_import_publishes_nothing_and_leaves_its_work_in_the_caches(shop: Workshop) -> None:
    shop.write(a=TEXT)
    import_id = shop.ask()
    embedder = PausingEmbedder(lambda: cancel(shop.db, import_id, now_ms=shop.now))
    assert shop.work(import_id, embedder=embedder).state == "cancelled"
    assert list_snapshots(shop.db) == []
    assert shop.run().state == "completed"
    assert not set(embedder.passages) & set(shop.bought())
    assert shop.parser.parsed == ["a.md"]


def test_a_worker_that_stops_lets_the_next_one_go_on_at_once(shop: Workshop) -> None:
    shop.write(a=TEXT)
    import_id = shop.ask()
    stopped = shop.work(import_id, embedder=PausingEmbedder(shop.stopping.set))
    assert stopped.state == "running"
    shop.stopping.clear()
    assert shop.wait_for_reconciler(ms=1) == [import_id]
    assert shop.work(import_id).state == "completed"


def test_a_worker_whose_lease_was_taken_stops_before_the_next_batch(shop: Workshop) -> None:
    shop.write(a=TEXT)
    import_id = shop.ask()

    def overtaken() -> None:
        shop.now += LEASE_MS + 1
        shop.now_done(import_id)

    slow = PausingEmbedder(overtaken)
    done = shop.work(import_id, embedder=slow)
    assert (done.state, len(list_snapshots(shop.db))) == ("completed", 1)
    assert len(slow.passages) == 4  # one batch before, the one under way


@pytest.mark.parametrize("when", ["before the build", "before publishing"])
def test_a_worker_killed_while_it_builds_leaves_nothing_half(shop: Workshop, when: str) -> None:
    shop.write(a=TEXT)
    import_id = shop.ask()

    def dying(job: BuildJob, check: object) -> BuildResult:
        if when == "before publishing":
            shop.parts.build(job, lambda: None)
        raise Killed

    with pytest.raises(Killed):
        shop.work(import_id, build=dying)
    assert active_snapshot_id(shop.db) is None
    shop.now += LEASE_MS + 1
    bought = list(shop.bought())
    done = shop.work(import_id)
    assert (done.state, shop.bought()) == ("completed", bought)
    assert [snapshot.state for snapshot in list_snapshots(shop.db)] == ["ready"]
    assert shop.vectors.names() == [shop.active().snapshot_id]


@pytest.mark.parametrize("when", ["before it begins", "while its base is copied"])
def test_a_builder_whose_snapshot_was_given_up_makes_nothing_of_it(shop: Workshop, when: str) -> None:
    shop.write(a=TEXT)
    import_id = shop.ask()
    results: list[BuildResult] = []

    def late(job: BuildJob, check: Callable[[], None]) -> BuildResult:
        def give_up() -> None:
            abandon_snapshot(shop.db, job.snapshot_id, now_ms=shop.now)

        engine = shop.vectors
        shop.vectors = DisturbedVectors(engine, give_up)
        if when == "before it begins":
            give_up()
        results.append(shop.parts.build(job, check))
        shop.vectors = engine
        return results[-1]

    assert shop.work(import_id, build=late).state == "running"
    assert results == [Abandoned()]
    assert (shop.vectors.names(), shop.vectors.unfinished()) == ([], [])
    assert shop.work(import_id).state == "completed"
    assert shop.vectors.names() == [shop.active().snapshot_id]


@pytest.mark.parametrize("end", [Stopped(), BuildCrashed("killed"), StorageError("磁盘已满")])
def test_a_builder_that_ends_without_a_result_leaves_nothing_behind(shop: Workshop, end: Exception) -> None:
    shop.write(a=TEXT)

    def broken_off(job: BuildJob, check: Callable[[], None]) -> BuildResult:
        shop.parts.build(job, check)  # its worker doesn't hear of the result any more
        raise end

    assert shop.work(shop.ask(), build=broken_off).state in ("running", "paused")
    assert (shop.vectors.names(), shop.vectors.unfinished(), removing(shop.db)) == ([], [], [])
    assert list_snapshots(shop.db) == []


def test_what_a_builder_left_and_can_not_be_removed_yet_is_told_to_the_log(
    shop: Workshop, caplog: pytest.LogCaptureFixture
) -> None:
    shop.write(a=TEXT)
    built: list[BuildJob] = []

    def broken_off(job: BuildJob, check: Callable[[], None]) -> BuildResult:
        shop.parts.build(job, check)
        built.append(job)
        raise BuildCrashed("killed")

    shop.work(shop.ask(), build=broken_off, vectors=HeldVectors(shop.vectors))
    [left] = [one.snapshot_id for one in built]
    [line] = [one.getMessage() for one in caplog.records if one.name == "worker.stages.publish"]
    assert f"snapshot_id={left}" in line
    assert "设备忙" in line


def test_a_provider_that_is_down_pauses_the_import_which_goes_on_by_itself(shop: Workshop) -> None:
    shop.write(a=TEXT, b="# 乙\n第二份文件。")
    down = UpstreamError("provider_overloaded", "服务过载", retry_after_s=120)
    shop.embedder.faults = [down]
    paused = shop.run()
    assert (paused.state, paused.pause_reason, paused.failed_documents) == ("paused", "服务过载", ())
    assert shop.wait_for_reconciler(ms=119_000) == []
    assert shop.wait_for_reconciler(ms=1_000) == [paused.import_id]
    done = shop.work(paused.import_id)
    assert (done.state, shop.active().state) == ("completed", "ready")


def test_a_wrong_key_pauses_the_import_until_somebody_resumes_it(shop: Workshop) -> None:
    shop.write(a=TEXT)
    shop.embedder.faults = [UpstreamError("provider_auth", "密钥无效")]
    paused = shop.run()
    assert (paused.state, paused.pause_reason) == ("paused", "密钥无效")
    assert shop.wait_for_reconciler(ms=10**9) == []
    resume(shop.db, paused.import_id, now_ms=shop.now)
    assert shop.work(paused.import_id).state == "completed"


def test_a_text_that_the_provider_refuses_fails_its_document_alone(shop: Workshop) -> None:
    shop.write(a="# 甲\n好的。", b="# 乙\n违禁的内容。", c="# 丙\n也好。")
    done = shop.work(shop.ask(), embedder=RefusingEmbedder("违禁"))
    assert (done.state, shop.members()) == ("completed", {"a.md": 1, "c.md": 1})
    (gap,) = done.failed_documents
    assert (gap.key, gap.stage, gap.code) == ("b.md", "embed", "provider_content_filtered")


def test_a_provider_that_refuses_everything_pauses_the_import_instead(shop: Workshop) -> None:
    shop.write(a="# 甲\n好的。", b="# 乙\n也好。")
    paused = shop.work(shop.ask(), embedder=RefusingEmbedder("", "provider_bad_request"))
    assert (paused.state, paused.pause_reason, paused.failed_documents) == ("paused", "不予处理", ())


def test_a_folder_that_is_not_there_pauses_the_import_and_deletes_nothing(shop: Workshop) -> None:
    shop.write(a=TEXT)
    shop.run()
    away = shop.files.rename(shop.files.with_name("unmounted"))
    paused = shop.run(ImportRequest(mode="sync", paths=(str(shop.files),)))
    assert (paused.state, shop.members()) == ("paused", {"a.md": 1})
    away.rename(shop.files)
    assert shop.wait_for_reconciler(ms=15_000) == [paused.import_id]
    assert shop.work(paused.import_id).state == "completed"


def test_a_full_disk_pauses_the_import_and_counts_against_no_document(shop: Workshop) -> None:
    shop.write(a=TEXT)

    class FullDisk:
        def parse(self, path: Path, *, name: str) -> object:
            raise StorageError("磁盘已满")

    import_id = shop.ask()
    for _ in range(5):
        paused = shop.work(import_id, parser=FullDisk())
        assert (paused.state, paused.pause_reason) == ("paused", "磁盘已满")
        shop.wait_for_reconciler(ms=900_000)
    assert shop.work(import_id).state == "completed"


def test_a_bug_in_one_document_does_not_hold_up_the_others_for_ever(shop: Workshop) -> None:
    shop.write(a="# 甲\n好的文件。", b="# 乙\n也好。")

    class Buggy:
        def parse(self, path: Path, *, name: str) -> object:
            if name == "b.md":
                raise ZeroDivisionError
            return shop.parser.parse(path, name=name)

    import_id = shop.ask()
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            shop.work(import_id, parser=Buggy())
    done = shop.work(import_id, parser=Buggy())
    assert (done.state, shop.members()) == ("completed", {"a.md": 1})


def test_files_put_right_before_a_retry_are_taken_as_they_are_now(shop: Workshop) -> None:
    shop.write(a="#!broken")
    failed = shop.run()
    shop.write(a=TEXT)
    retry(shop.db, failed.import_id, now_ms=shop.now)
    assert shop.work(failed.import_id).state == "completed"
    assert shop.members() == {"a.md": 1}


def test_a_retry_of_a_completed_import_is_about_the_documents_that_failed_and_nothing_else(shop: Workshop) -> None:
    shop.write(a=TEXT, b="#!broken", c="#!broken")
    first = shop.run()
    assert (first.state, len(first.failed_documents)) == ("completed", 2)
    shop.write(a="后来的内容。")
    shop.run(ImportRequest(paths=(str(shop.files / "a.md"),)))
    shop.write(a="还没有导入的内容。", b="# 乙\n修好了。")
    shop.parser.parsed.clear()

    retry(shop.db, first.import_id, now_ms=shop.now)
    again = shop.work(first.import_id)

    assert (again.state, [gap.key for gap in again.failed_documents]) == ("completed", ["c.md"])
    assert shop.members() == {"a.md": 2, "b.md": 1}
    assert shop.parser.parsed == ["b.md", "c.md"]


def test_a_retry_in_vain_leaves_the_snapshot_that_answers(shop: Workshop) -> None:
    shop.write(a=TEXT, b="#!broken")
    first = shop.run()

    retry(shop.db, first.import_id, now_ms=shop.now)
    again = shop.work(first.import_id)

    assert (again.state, again.snapshot_id, len(again.failed_documents)) == ("completed", first.snapshot_id, 1)
    assert shop.active().snapshot_id == first.snapshot_id


def test_a_completed_sync_that_is_retried_deletes_only_what_is_gone(shop: Workshop) -> None:
    sync = ImportRequest(mode="sync", paths=(str(shop.files),))
    shop.write(a=TEXT, b="#!broken")
    first = shop.run(sync)
    shop.write(b="# 乙\n修好了。")

    retry(shop.db, first.import_id, now_ms=shop.now)

    assert shop.work(first.import_id).failed_documents == ()
    assert shop.members() == {"a.md": 1, "b.md": 1}


def test_an_import_that_completed_without_failures_has_nothing_to_retry(shop: Workshop) -> None:
    shop.write(a=TEXT)
    done = shop.run()

    with pytest.raises(Conflict):
        retry(shop.db, done.import_id, now_ms=shop.now)

    assert shop.look(done.import_id) == done


def test_a_builder_that_is_killed_is_tried_again_and_in_the_end_given_up(shop: Workshop) -> None:
    shop.write(a=TEXT)

    def crashing(job: BuildJob, check: object) -> BuildResult:
        raise BuildCrashed("killed")

    import_id = shop.ask()
    for _ in range(MAX_CLAIMS):
        assert shop.work(import_id, build=crashing).state == "paused"
        assert shop.wait_for_reconciler(ms=900_000) == [import_id]
    failed = shop.work(import_id, build=crashing)
    assert (failed.state, failed.failure_code) == ("failed", "build_crashed")
    retry(shop.db, import_id, now_ms=shop.now)
    assert shop.work(import_id).state == "completed"
