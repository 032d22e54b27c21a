"""What the catalog knows of days that are over."""

from sqlite_utils import Database

from shared.catalog import leases
from shared.catalog.history import History
from shared.catalog.imports import cancel, create_import, pause
from shared.types.imports import ImportRequest
from tests.unit.catalog.factories import LEASE_MS, ME, NOW

HOUR_MS = 3_600_000


def test_the_queue_was_as_deep_as_the_most_imports_that_waited_at_one_moment(db: Database) -> None:
    history = History(db)
    over = [create_import(db, ImportRequest(paths=("/资料",)), now_ms=NOW + hour * HOUR_MS) for hour in (0, 1, 5)]
    for import_id, hour in zip(over, (2, 4, 6), strict=True):
        cancel(db, import_id, now_ms=NOW + hour * HOUR_MS)
    left = create_import(db, ImportRequest(paths=("/资料",)), now_ms=NOW + 7 * HOUR_MS)
    depths = [history.queue_depth(NOW + first * HOUR_MS, NOW + last * HOUR_MS) for first, last in _HOURS]
    assert depths == [2, 1, 1, 0, 1, 1]
    leases.claim(db, left, ME, now_ms=NOW + 8 * HOUR_MS - 1, lease_ms=LEASE_MS)
    pause(db, left, now_ms=NOW + 8 * HOUR_MS - 1)
    leases.settle(db, left, ME, now_ms=NOW + 8 * HOUR_MS)
    assert history.queue_depth(NOW + 9 * HOUR_MS, NOW + 20 * HOUR_MS) == 0
    assert history.queue_depth(NOW + 7 * HOUR_MS, NOW + 20 * HOUR_MS) == 1


# first and last hour: both of the first two; one begun before; one alone; none; one that is left; one that goes on
_HOURS = ((0, 6), (3, 4), (5, 6), (-9, -1), (7, 7), (9, 20))


def test_one_that_ends_as_another_begins_was_not_there_with_it(db: Database) -> None:
    for hour in (0, 1, 2):
        import_id = create_import(db, ImportRequest(paths=("/资料",)), now_ms=NOW + hour * HOUR_MS)
        cancel(db, import_id, now_ms=NOW + (hour + 1) * HOUR_MS)
    assert History(db).queue_depth(NOW, NOW + 9 * HOUR_MS) == 1


def test_a_day_of_twice_as_many_imports_takes_no_more_than_some_twice_the_work(db: Database) -> None:
    def work_for(many: int) -> int:
        while db["imports"].count < many:
            create_import(db, ImportRequest(paths=("/资料",)), now_ms=NOW)
        steps = 0

        def count() -> None:
            nonlocal steps
            steps += 1

        db.conn.set_progress_handler(count, 10)
        assert History(db).queue_depth(NOW, NOW + HOUR_MS) == many
        db.conn.set_progress_handler(None, 0)
        return steps

    once, twice = work_for(100), work_for(200)
    assert twice < 3 * once
