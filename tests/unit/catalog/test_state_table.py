"""Every verb in every state: the table of shared/catalog/imports.py, with nothing allowed that it doesn't allow."""

from collections.abc import Callable

import pytest
from sqlite_utils import Database

from shared.catalog import leases
from shared.catalog.imports import cancel, create_import, get_import, get_request, list_imports, pause, resume, retry
from shared.errors import Conflict, InvalidArgument, NotFound
from shared.ids import ImportId, SnapshotId
from shared.types.imports import ImportRequest, ImportState
from tests.unit.catalog.factories import LATER, LEASE_MS, ME, NOW, Held, an_import, state_of

STATES: tuple[ImportState, ...] = (
    "queued",
    "running",
    "pausing",
    "paused",
    "cancelling",
    "cancelled",
    "completed",
    "failed",
)
PEOPLE: dict[str, Callable[..., None]] = {"pause": pause, "resume": resume, "cancel": cancel, "retry": retry}
WORKER: dict[str, Callable[[Database, ImportId], object]] = {
    "settle": lambda db, i: leases.settle(db, i, ME, now_ms=NOW),
    "fail": lambda db, i: leases.fail(db, i, ME, code="seal_failed", reason="count", now_ms=NOW),
    "pause_for": lambda db, i: leases.pause_for(db, i, ME, reason="断网", wake_at_ms=LATER, now_ms=NOW),
    "complete": lambda db, i: leases.complete_unchanged(db, i, ME, snapshot_id=SnapshotId("snap_2"), now_ms=NOW),
}
HELD: dict[tuple[str, ImportState], ImportState] = {  # while a worker holds the lease, or none ever did
    ("pause", "running"): "pausing",
    ("resume", "pausing"): "running",
    ("resume", "paused"): "running",
    ("cancel", "queued"): "cancelled",
    ("cancel", "running"): "cancelling",
    ("cancel", "pausing"): "cancelling",
    ("cancel", "paused"): "cancelled",
    ("retry", "failed"): "queued",
    ("settle", "pausing"): "paused",
    ("settle", "cancelling"): "cancelled",
    ("fail", "running"): "failed",
    ("pause_for", "running"): "paused",
    ("pause_for", "pausing"): "paused",
    ("complete", "running"): "completed",
}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("verb", PEOPLE)
def test_a_person_may_do_what_the_table_allows_and_nothing_else(db: Database, verb: str, state: ImportState) -> None:
    import_id = an_import(db, state)
    expected = HELD.get((verb, state))
    if expected is None:
        with pytest.raises(Conflict):
            PEOPLE[verb](db, import_id, now_ms=NOW + 1)
    else:
        PEOPLE[verb](db, import_id, now_ms=NOW + 1)
    assert state_of(db, import_id) == (expected or state)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("verb", WORKER)
def test_a_holder_may_do_what_the_table_allows_and_nothing_else(db: Database, verb: str, state: ImportState) -> None:
    import_id = an_import(db, state)
    expected = HELD.get((verb, state))
    assert WORKER[verb](db, import_id) is (expected is not None)
    assert state_of(db, import_id) == (expected or state)


@pytest.mark.parametrize("verb", WORKER)
def test_whoever_lost_the_lease_changes_nothing(db: Database, verb: str) -> None:
    import_id = an_import(db, "running")
    leases.claim(db, import_id, "worker-2", now_ms=LATER, lease_ms=LEASE_MS)
    assert WORKER[verb](db, import_id) is False
    assert not leases.renew(db, import_id, ME, now_ms=LATER, lease_ms=LEASE_MS)
    assert leases.standing(db, import_id, ME) is None
    assert leases.standing(db, import_id, "worker-2") == "running"


@pytest.mark.parametrize("lease", ["run out", "let go"])
@pytest.mark.parametrize(("verb", "expected"), [("pause", "paused"), ("cancel", "cancelled")])
def test_a_stop_happens_at_once_when_no_worker_is_there_to_carry_it_out(
    db: Database, verb: str, expected: ImportState, lease: Held
) -> None:
    import_id = an_import(db, "running", lease=lease)
    PEOPLE[verb](db, import_id, now_ms=LATER)
    assert state_of(db, import_id) == expected


@pytest.mark.parametrize("verb", PEOPLE)
def test_an_unknown_import_is_not_found(db: Database, verb: str) -> None:
    with pytest.raises(NotFound):
        PEOPLE[verb](db, ImportId("imp_00"), now_ms=NOW)
    with pytest.raises(NotFound):
        get_import(db, ImportId("imp_00"), now_ms=NOW)
    with pytest.raises(NotFound):
        get_request(db, ImportId("imp_00"))


@pytest.mark.parametrize("mode", ["add", "sync", "remove"])
def test_an_import_of_nothing_is_refused(db: Database, mode: str) -> None:
    with pytest.raises(InvalidArgument):
        create_import(db, ImportRequest(mode=mode), now_ms=NOW)  # type: ignore[arg-type]
    assert list_imports(db, limit=9, now_ms=NOW) == []


def test_imports_are_listed_newest_first_and_remember_their_request(db: Database) -> None:
    request = ImportRequest(paths=("/资料/手册", "/docs"), activate=False)
    first = create_import(db, request, now_ms=NOW)
    second = create_import(db, ImportRequest(mode="reindex"), now_ms=NOW + 1)
    assert [found.import_id for found in list_imports(db, limit=9, now_ms=NOW)] == [second, first]
    assert [found.import_id for found in list_imports(db, limit=1, now_ms=NOW)] == [second]
    assert get_request(db, first) == request
