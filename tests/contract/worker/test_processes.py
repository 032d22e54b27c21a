"""What runs beside the stages: the heartbeat, the builder's process, the message that wakes a worker."""

import threading
import time
from collections.abc import Callable

import dramatiq
import pytest
from dramatiq.brokers.stub import StubBroker

from shared.catalog.leases import claim, standing
from shared.errors import StorageError
from shared.ids import SnapshotId
from shared.settings import QdrantSettings
from shared.vectors.open import open_vectors
from shared.wake import QUEUE, wake_import
from tests.contract.worker.workshop import Workshop
from worker.app import declare
from worker.lease import heartbeat
from worker.stages.build import Order, build_in_child
from worker.stages.index import BuildJob, BuildResult, Built

BOUND_S = 20.0


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
            assert beats.acquire(timeout=BOUND_S)
    assert claim(shop.db, import_id, "other", now_ms=shop.now, lease_ms=30) is None
    assert standing(shop.db, import_id, "me") == "running"


@pytest.mark.slow
def test_the_builder_process_builds_with_the_embedded_engine_and_what_it_sealed_answers(shop: Workshop) -> None:
    shop.write(a="# 安全\n进入车间必须佩戴安全帽。", b="# Pumps\nVent the pump E-1042 before start.")
    shop.vectors = open_vectors(QdrantSettings(), shop.parts.layout.collections)
    built: list[BuildResult] = []

    def build(job: BuildJob, check: Callable[[], None]) -> BuildResult:
        order = Order(job=job, data_dir=str(shop.parts.layout.root), qdrant=QdrantSettings())
        built.append(build_in_child(order, check))
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
        order = Order(job=job, data_dir=str(shop.parts.layout.root), qdrant=QdrantSettings())
        shop.stopping.set()
        return build_in_child(order, check)

    started = time.monotonic()
    assert shop.work(shop.ask(), build=build).state == "running"
    assert time.monotonic() - started < BOUND_S


@pytest.mark.slow
def test_a_builders_storage_error_comes_out_of_its_process(shop: Workshop) -> None:
    job = BuildJob(snapshot_id=SnapshotId("snap_1"), base=None, embedding_version="e", dimensions=4)
    nowhere = Order(job=job, data_dir=str(shop.files / "没有"), qdrant=QdrantSettings())
    with pytest.raises(StorageError):
        build_in_child(nowhere, lambda: None)


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
        broker.join(QUEUE, timeout=round(BOUND_S * 1000))
        worker.join()
    finally:
        worker.stop()
    assert shop.look(import_id).state == "completed"
    assert len(shop.parser.parsed) == 1
