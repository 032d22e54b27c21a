"""What runs beside the stages: the heartbeat, the builder's process, the message that wakes a worker."""

import threading
import time
from collections.abc import Callable

import dramatiq
import psutil
import pytest
from dramatiq.brokers.stub import StubBroker

from shared.catalog.leases import claim, standing
from shared.errors import StorageError
from shared.ids import SnapshotId
from shared.settings import QdrantSettings
from shared.vectors.open import open_vectors
from shared.wake import QUEUE, wake_import
from tests.contract.worker.workshop import Workshop
from tests.patience import PATIENCE_S
from worker.app import declare
from worker.lease import heartbeat
from worker.stages.build import ChildBuilder
from worker.stages.index import BuildJob, BuildResult, Built


def test_the_heartbeat_keeps_the_lease_for_as_long_as_the_work_takes(shop: Workshop) -> None:
    import_id = shop.ask()
    claim(shop.db, import_id, "me", now_ms=shop.now, lease_ms=30)
    beats = threading.Semaphore(0)

    def now_ms() -> int:
        beats.release()
        shop.now += 20
        return shop.now

    with heartbeat(shop.parts.layout.catalog, import_id, "me", lease_ms=30, now_ms=now_ms):
        for _ in range(4):
            assert beats.acquire(timeout=PATIENCE_S)
    assert claim(shop.db, import_id, "other", now_ms=shop.now, lease_ms=30) is None
    assert standing(shop.db, import_id, "me") == "running"


def a_builder(shop: Workshop) -> ChildBuilder:
    return ChildBuilder(data_dir=str(shop.parts.layout.root), qdrant=QdrantSettings())


@pytest.mark.slow
def test_the_builder_process_builds_with_the_embedded_engine_and_what_it_sealed_answers(shop: Workshop) -> None:
    shop.write(a="# 安全\n进入车间必须佩戴安全帽。", b="# Pumps\nVent the pump E-1042 before start.")
    shop.vectors = open_vectors(QdrantSettings(), shop.parts.layout.collections)
    built: list[BuildResult] = []

    def build(job: BuildJob, check: Callable[[], None]) -> BuildResult:
        built.append(a_builder(shop).build(job, check))
        return built[0]

    done = shop.work(shop.ask(), build=build, vectors=shop.vectors)
    (result,) = built
    assert (done.state, isinstance(result, Built)) == ("completed", True)
    assert isinstance(result, Built)
    collection = shop.vectors.open(shop.active().snapshot_id, files=result.files)
    assert collection.count() == shop.active().blocks
    collection.close()


@pytest.mark.slow
def test_a_builder_ends_with_its_import(shop: Workshop) -> None:
    shop.write(a="# 甲\n一段。")

    def build(job: BuildJob, check: Callable[[], None]) -> BuildResult:
        shop.stopping.set()
        return a_builder(shop).build(job, check)

    started = time.monotonic()
    assert shop.work(shop.ask(), build=build).state == "running"
    assert time.monotonic() - started < PATIENCE_S


@pytest.mark.slow
def test_a_builders_storage_error_comes_out_of_its_process(shop: Workshop) -> None:
    job = BuildJob(snapshot_id=SnapshotId("snap_1"), base=None, embedding_version="e", dimensions=4)
    nowhere = ChildBuilder(data_dir=str(shop.files / "没有"), qdrant=QdrantSettings())
    with pytest.raises(StorageError):
        nowhere.build(job, lambda: None)


def children() -> set[int]:
    return {process.pid for process in psutil.Process().children()}


@pytest.mark.slow
def test_a_short_import_uses_the_builder_that_stood_by_and_leaves_none_behind(shop: Workshop) -> None:
    shop.write(a="# 安全\n进入车间必须佩戴安全帽。")
    shop.vectors = open_vectors(QdrantSettings(), shop.parts.layout.collections)
    builder, before = a_builder(shop), children()
    at_build: list[set[int]] = []

    def build(job: BuildJob, check: Callable[[], None]) -> BuildResult:
        at_build.append(children() - before)
        result = builder.build(job, check)
        at_build.append(children() - before)
        return result

    done = shop.work(shop.ask(), build=build, standby=builder.standby, vectors=shop.vectors)
    assert done.state == "completed"
    assert [len(there) for there in at_build] == [1, 0]


@pytest.mark.slow
def test_a_builder_that_stood_by_in_vain_ends_with_its_import(shop: Workshop) -> None:
    shop.write(a="#!broken")
    builder, before = a_builder(shop), children()
    assert shop.work(shop.ask(), build=builder.build, standby=builder.standby).state == "failed"
    assert children() == before


@pytest.mark.slow
def test_a_builder_that_died_while_it_stood_by_is_replaced(shop: Workshop) -> None:
    job = BuildJob(snapshot_id=SnapshotId("snap_1"), base=None, embedding_version="e", dimensions=4)
    builder, before = ChildBuilder(data_dir=str(shop.files / "没有"), qdrant=QdrantSettings()), children()
    with builder.standby():
        (standing,) = children() - before
        process = psutil.Process(standing)
        process.kill()
        psutil.wait_procs([process], timeout=PATIENCE_S)
        with pytest.raises(StorageError):  # said by a living one
            builder.build(job, lambda: None)
    assert children() == before


def test_a_message_is_a_knock_that_makes_a_worker_look(shop: Workshop) -> None:
    shop.write(a="# 甲\n一段。")
    broker = StubBroker(middleware=[])
    broker.declare_queue(QUEUE)
    declare(broker, shop.parts, shop.stopping)
    import_id = shop.ask()
    worker = dramatiq.Worker(broker, worker_threads=2, worker_timeout=10)
    worker.start()
    try:
        for _ in range(3):  # doubled messages change nothing
            wake_import(broker, import_id)
        broker.join(QUEUE, timeout=PATIENCE_S * 1000)
        worker.join()
    finally:
        worker.stop()
    assert shop.look(import_id).state == "completed"
    assert len(shop.parser.parsed) == 1
