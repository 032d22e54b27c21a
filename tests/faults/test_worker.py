"""A worker that is killed, asked to stop, or stopped and forgotten, at every stage boundary and inside each stage."""

import random
import signal
import time
from collections.abc import Callable

import pytest

from shared.types.imports import ImportRequest
from tests.e2e.processes import until
from tests.faults.picture import differing
from tests.faults.processes import BOUND_S, go_on
from tests.faults.world import Row, World
from tests.promises import promise

pytestmark = [pytest.mark.slow, pytest.mark.beside, pytest.mark.timeout(1200)]

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
CHOICE = frozenset(
    {"parse:stored@2", "chunk:stored@3", "embed:bought@2", "index:begins", "index:added", "publish:begins"}
)
# SIGKILL everywhere; the gentler ways to stop at a choice of points, and everywhere with --all-faults
SOMEWHERE = [point if point in CHOICE else pytest.param(point, marks=pytest.mark.long_tail) for point in POINTS]


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
@pytest.mark.parametrize("point", SOMEWHERE)
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
@pytest.mark.parametrize("point", SOMEWHERE)
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


@promise("P9")
@pytest.mark.parametrize("point", ["index:copied", "index:added", "publish:begins"])
def test_a_worker_killed_while_it_adds_to_a_snapshot_leaves_that_one_as_it_was(world: World, point: str) -> None:
    with world.bench() as bench:
        site = bench.site
        whole = site.ask()
        before = site.worker()
        base = site.await_state(whole, "completed").snapshot_id
        assert before.ask_to_stop() == 0
        import_id = site.ask(ImportRequest(paths=(str(world.addition),)))
        first = site.worker(fault=point)
        where = first.await_stopped()
        first.kill()
        go_on(where)
        assert not differing(site.picture(), world.undisturbed)
        second = site.worker()
        site.await_state(import_id, "completed")
        assert second.ask_to_stop() == 0
        site.check_sound(import_id, world.grown, after=base)
        assert not differing(site.picture(base), world.undisturbed)
        assert bench.bought_twice() == 0
        world.table.append(Row(fault="worker SIGKILL, adding", where=point, result="equal", bought_twice=0))


KILLS = 6


@promise("P9")
@pytest.mark.long_tail
@pytest.mark.patient
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_workers_killed_at_moments_that_nobody_chose(world: World, seed: int) -> None:
    chance = random.Random(seed)
    with world.bench() as bench:
        site = bench.site
        import_id = site.ask()
        holders: set[str | None] = {None}
        for _ in range(KILLS):
            worker = site.worker()
            until("it works on the import", lambda: site.holder(import_id) not in holders, seconds=BOUND_S)
            holders.add(site.holder(import_id))
            came_through = within(chance.uniform(0, 2.5), lambda: site.look(import_id).state == "completed")
            worker.kill()
            if came_through:
                break
        last = site.worker()
        if site.await_state(import_id, "completed", "failed").state == "failed":
            assert site.look(import_id).failure_code == "worker_crashed"  # killed five times in a row at the same stage
            site.retry(import_id)
            site.await_state(import_id, "completed")
        assert last.ask_to_stop() == 0
        kills = len(holders) - 1
        world.conclude(bench, import_id, fault=f"{kills} x SIGKILL", where=f"anywhere, seed {seed}", batches=kills)


def within(seconds: float, true: Callable[[], bool]) -> bool:
    """Whether it comes true in that time."""
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
