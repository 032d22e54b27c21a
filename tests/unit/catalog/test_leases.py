import threading
from pathlib import Path

import pytest
from sqlite_utils import Database

from shared.catalog import imports, leases
from shared.catalog.db import open_database
from shared.ids import ImportId
from shared.types.imports import ImportState
from shared.types.snapshots import Stage
from tests.patience import PATIENCE_S
from tests.unit.catalog.factories import LATER, LEASE_MS, ME, NOW, an_import, state_of

QUIET_MS = 30_000


def claim(db: Database, import_id: ImportId, worker: str = ME, *, now_ms: int = NOW) -> int | None:
    return leases.claim(db, import_id, worker, now_ms=now_ms, lease_ms=LEASE_MS)


def reconcile(db: Database, *, now_ms: int, quiet_ms: int = 0) -> list[ImportId]:
    return leases.reconcile(db, now_ms=now_ms, quiet_ms=quiet_ms, lease_ms=LEASE_MS)


def test_of_eight_threads_exactly_one_gets_the_lease(catalog: Path, db: Database) -> None:
    import_id = an_import(db)
    ready = threading.Barrier(8)
    won: list[str] = []

    def contend(name: str) -> None:
        own = open_database(catalog)
        ready.wait(PATIENCE_S)
        if claim(own, import_id, name) is not None:
            won.append(name)
        own.conn.close()

    threads = [threading.Thread(target=contend, args=(f"worker-{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert len(won) == 1
    assert leases.standing(db, import_id, won[0]) == "running"


def test_a_live_lease_is_respected_and_a_dead_one_taken_over(db: Database) -> None:
    import_id = an_import(db, "running")
    assert claim(db, import_id, "worker-2", now_ms=NOW + LEASE_MS) is None
    assert claim(db, import_id, "worker-2", now_ms=NOW + LEASE_MS + 1) == 2


def test_a_heartbeat_keeps_the_lease_and_counts_the_time(db: Database) -> None:
    import_id = an_import(db, "running")
    for beat in range(1, 6):
        assert leases.renew(db, import_id, ME, now_ms=NOW + beat * 900, lease_ms=LEASE_MS)
    assert claim(db, import_id, "worker-2", now_ms=NOW + 5 * 900 + 1) is None
    assert imports.get_import(db, import_id, now_ms=NOW + 5 * 900 + 100).progress.elapsed_ms == 4_600


@pytest.mark.parametrize("state", ["pausing", "paused", "cancelling", "cancelled", "completed", "failed"])
def test_only_queued_and_running_imports_can_be_claimed(db: Database, state: ImportState) -> None:
    import_id = an_import(db, state)
    assert claim(db, import_id, "worker-2", now_ms=LATER) is None
    assert state_of(db, import_id) == state


def test_claims_count_until_there_is_progress_or_an_orderly_end(db: Database) -> None:
    import_id = an_import(db)
    assert [claim(db, import_id, f"dies-{n}", now_ms=NOW + n * 2 * LEASE_MS) for n in range(3)] == [1, 2, 3]
    leases.count_embedded(db, import_id, "dies-2", blocks=1, provider_tokens=10)
    assert claim(db, import_id, ME, now_ms=NOW + 8 * LEASE_MS) == 1
    leases.drop_lease(db, import_id, ME, now_ms=NOW + 8 * LEASE_MS)
    assert claim(db, import_id, ME, now_ms=NOW + 8 * LEASE_MS) == 2
    leases.release(db, import_id, ME, now_ms=NOW + 8 * LEASE_MS)
    assert claim(db, import_id, ME, now_ms=NOW + 8 * LEASE_MS) == 1


STOPPED: tuple[ImportState, ...] = ("paused", "cancelled", "completed", "failed")


def test_the_reconciler_wakes_what_nobody_works_on_and_only_that(db: Database) -> None:
    queued, dead = an_import(db), an_import(db, "running")
    for state in STOPPED:
        an_import(db, state)
    alive = an_import(db)
    claim(db, alive, now_ms=LATER)
    assert reconcile(db, now_ms=LATER + 1) == sorted([queued, dead])


def test_a_woken_import_is_left_alone_for_a_while(db: Database) -> None:
    import_id = an_import(db)
    assert reconcile(db, now_ms=NOW, quiet_ms=QUIET_MS) == [import_id]
    assert reconcile(db, now_ms=NOW + QUIET_MS - 1, quiet_ms=QUIET_MS) == []
    assert reconcile(db, now_ms=NOW + QUIET_MS, quiet_ms=QUIET_MS) == [import_id]


def test_a_stop_asked_of_a_worker_that_died_is_carried_out(db: Database) -> None:
    pausing, cancelling = an_import(db, "pausing"), an_import(db, "cancelling")
    reconcile(db, now_ms=NOW + 1)
    assert (state_of(db, pausing), state_of(db, cancelling)) == ("pausing", "cancelling")
    reconcile(db, now_ms=LATER)
    assert (state_of(db, pausing), state_of(db, cancelling)) == ("paused", "cancelled")


def test_a_pause_for_a_fault_says_why_and_ends_by_itself(db: Database) -> None:
    import_id = an_import(db, "running")
    leases.pause_for(db, import_id, ME, reason="服务暂时不可用", wake_at_ms=LATER, now_ms=NOW)
    paused = imports.get_import(db, import_id, now_ms=NOW)
    assert (paused.state, paused.pause_reason) == ("paused", "服务暂时不可用")
    assert leases.faults(db, import_id) == 1
    assert reconcile(db, now_ms=LATER - 1) == []
    assert reconcile(db, now_ms=LATER) == [import_id]
    assert imports.get_import(db, import_id, now_ms=LATER).pause_reason is None


def test_a_pause_that_somebody_asked_for_lasts_until_somebody_resumes_it(db: Database) -> None:
    asked, faulty = an_import(db, "paused"), an_import(db, "pausing")
    leases.pause_for(db, faulty, ME, reason="disk full", wake_at_ms=LATER, now_ms=NOW)
    assert reconcile(db, now_ms=LATER * 100) == []
    imports.resume(db, asked, now_ms=LATER)
    imports.resume(db, faulty, now_ms=LATER)
    assert reconcile(db, now_ms=LATER + 1, quiet_ms=QUIET_MS) == sorted([asked, faulty])


def test_time_in_which_the_machine_slept_is_not_working_time(db: Database) -> None:
    import_id = an_import(db, "running")
    eight_hours = 8 * 3600 * 1000
    assert leases.renew(db, import_id, ME, now_ms=NOW + eight_hours, lease_ms=LEASE_MS)
    leases.release(db, import_id, ME, now_ms=NOW + eight_hours + 1)
    assert imports.get_import(db, import_id, now_ms=NOW + eight_hours).progress.elapsed_ms == LEASE_MS + 1


HOUR_MS = 3600 * 1000


def test_a_lease_of_a_dead_worker_ends_also_when_the_clock_was_put_back(db: Database) -> None:
    import_id = an_import(db, "running")
    back = NOW - HOUR_MS
    assert reconcile(db, now_ms=back) == [import_id]
    assert claim(db, import_id, "worker-2", now_ms=back) == 2
    assert not leases.renew(db, import_id, ME, now_ms=back, lease_ms=LEASE_MS)
    assert claim(db, import_id, "worker-3", now_ms=back + LEASE_MS) is None


def test_a_worker_that_beats_after_the_clock_was_put_back_keeps_its_lease(db: Database) -> None:
    import_id = an_import(db, "running")
    back = NOW - HOUR_MS
    assert leases.renew(db, import_id, ME, now_ms=back, lease_ms=LEASE_MS)
    assert claim(db, import_id, "worker-2", now_ms=back + LEASE_MS) is None
    assert imports.get_import(db, import_id, now_ms=back).progress.elapsed_ms == 0


def test_a_hair_of_difference_between_two_clock_readings_takes_nobodys_lease(db: Database) -> None:
    import_id = an_import(db, "running")
    assert reconcile(db, now_ms=NOW - 1) == []
    assert claim(db, import_id, "worker-2", now_ms=NOW - 1) is None


def test_waking_times_from_before_the_clock_was_put_back_hold_nothing_up(db: Database) -> None:
    woken, resting, asked = an_import(db), an_import(db, "running"), an_import(db, "paused")
    leases.pause_for(db, resting, ME, reason="服务过载", wake_at_ms=NOW + 900_000, now_ms=NOW)
    assert reconcile(db, now_ms=NOW) == [woken]
    assert reconcile(db, now_ms=NOW - HOUR_MS, quiet_ms=QUIET_MS) == sorted([woken, resting])
    assert state_of(db, asked) == "paused"


def test_what_could_not_be_woken_is_named_again_at_once(db: Database) -> None:
    import_id = an_import(db)
    for _ in range(2):
        assert reconcile(db, now_ms=NOW, quiet_ms=QUIET_MS) == [import_id]
        leases.not_woken(db, [import_id])


def test_tokens_of_a_worker_that_lost_its_lease_were_paid_but_its_blocks_are_its_successors_to_count(
    db: Database,
) -> None:
    import_id = an_import(db, "running")
    claim(db, import_id, "worker-2", now_ms=LATER)
    leases.count_embedded(db, import_id, ME, blocks=4, provider_tokens=40)
    leases.count_embedded(db, import_id, "worker-2", blocks=4, provider_tokens=40)
    progress = imports.get_import(db, import_id, now_ms=LATER).progress
    assert (progress.blocks_embedded, progress.provider_tokens) == (4, 80)


def test_the_time_that_is_left_is_told_of_embedding_and_of_nothing_else(db: Database) -> None:
    import_id = an_import(db, "running")
    left: dict[Stage, float | None] = {}
    stages: tuple[Stage, ...] = ("chunk", "embed", "index", "publish")
    for stage in stages:
        leases.enter_stage(db, import_id, ME, stage, now_ms=NOW)
        leases.count_embedded(db, import_id, ME, blocks=1, provider_tokens=0)
        left[stage] = imports.get_import(db, import_id, now_ms=NOW + 500).progress.remaining_s
    assert left == {"chunk": None, "embed": 0.0, "index": None, "publish": None}
