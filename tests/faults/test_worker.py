"""A worker that is killed, asked to stop, or stopped and forgotten, at every stage boundary and inside each stage."""

import signal

import pytest

from tests.faults.processes import go_on
from tests.faults.world import World
from tests.promises import promise

pytestmark = [pytest.mark.slow, pytest.mark.beside, pytest.mark.timeout(400)]

BOUNDARIES = (
    "discover:begins",
    "parse:begins",
    "chunk:begins",
    "embed:begins",
    "index:begins",
    "seal:begins",
    "publish:begins",
    "publish:ends",
)
INSIDE = (
    "discover:stored@3",
    "parse:read@2",
    "parse:stored@2",
    "chunk:stored@3",
    "embed:bought@2",
    "embed:stored@2",
    "index:begun",
    "index:added",  # from here on in the builder's process
    "seal:sealed",
)
POINTS = BOUNDARIES + INSIDE


@promise("P9")
@pytest.mark.parametrize("point", POINTS)
def test_a_killed_workers_import_is_taken_up_and_ends_as_if_nothing_had_happened(world: World, point: str) -> None:
    with world.bench() as bench:
        import_id = bench.site.ask()
        first = bench.site.worker(fault=point)
        where = first.await_stopped()
        first.kill()
        go_on(where)  # a builder outlives its worker for a moment
        second = bench.site.worker()
        bench.site.await_state(import_id, "completed")
        assert second.ask_to_stop() == 0
        world.conclude(bench, import_id, fault="worker SIGKILL", where=point)


@promise("P9")
@pytest.mark.parametrize("point", POINTS)
def test_a_worker_that_is_asked_to_stop_finishes_its_unit_and_lets_go_at_once(world: World, point: str) -> None:
    with world.bench() as bench:
        import_id = bench.site.ask()
        first = bench.site.worker(fault=point)
        where = first.await_stopped()
        first.send(signal.SIGTERM)
        if where.pid == first.pid:
            first.go_on()
        assert first.await_exit() == 0
        assert bench.site.lease_is_free(import_id)
        second = bench.site.worker()
        bench.site.await_state(import_id, "completed")
        assert second.ask_to_stop() == 0
        world.conclude(bench, import_id, fault="worker SIGTERM", where=point, batches=0)


@promise("P9")
@pytest.mark.parametrize("point", POINTS)
def test_a_worker_that_was_thought_dead_and_comes_back_changes_nothing(world: World, point: str) -> None:
    with world.bench() as bench:
        import_id = bench.site.ask()
        first = bench.site.worker(fault=point)
        where = first.await_stopped()
        first.hold()
        second = bench.site.worker()
        bench.site.await_state(import_id, "completed")
        go_on(where)
        first.go_on()
        first.await_words(f"{import_id} stopped", f"{import_id} published")
        assert (first.ask_to_stop(), second.ask_to_stop()) == (0, 0)
        world.conclude(bench, import_id, fault="worker SIGSTOP", where=point)


@promise("P9")
@pytest.mark.patient
@pytest.mark.parametrize("point", ["index:added", "seal:sealed"])
def test_a_builder_that_is_killed_is_tried_again_by_itself(world: World, point: str) -> None:
    with world.bench() as bench:
        import_id = bench.site.ask()
        worker = bench.site.worker(fault=point)
        builder = worker.await_stopped()
        builder.kill()
        assert bench.site.await_state(import_id, "paused").pause_reason is not None
        bench.site.resume(import_id)
        builder = worker.await_stopped()  # each builder counts for itself
        worker.kill()
        go_on(builder)
        second = bench.site.worker()
        bench.site.await_state(import_id, "completed")
        assert second.ask_to_stop() == 0
        world.conclude(bench, import_id, fault="builder SIGKILL, then worker SIGKILL", where=point, batches=0)
