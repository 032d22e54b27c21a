"""What the catalog still knows of days that are over, for figures."""

from sqlite_utils import Database

from shared.catalog.rows import one
from shared.catalog.snapshots import active_age_days


class History:
    """Reads only, by a connection that stays its owner's. Blocking. Raises: StorageError."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def age_days(self, at_ms: int) -> float | None:
        """Of the snapshot that was active then; None when none was."""
        return active_age_days(self._db, at_ms=at_ms)

    def queue_depth(self, from_ms: int, until_ms: int) -> int:
        """The most imports that were queued or under way at one moment between the two, both included.

        One that is paused now counts until it was paused; earlier pauses are not remembered and count.
        """
        found = one(
            self._db,
            "with waiting as (select max(created_at_ms, :from) begun,"
            " coalesce(finished_at_ms, case when state = 'paused' then updated_at_ms else :until + 1 end) ended"
            " from imports where created_at_ms <= :until),"
            " held as (select * from waiting where ended > begun),"
            " steps as (select begun at, 1 step from held union all select ended, -1 from held),"
            # one that ends the moment another begins was not there with it: -1 comes before 1
            " depths as (select sum(step) over (order by at, step rows unbounded preceding) depth from steps)"
            " select max(depth) most from depths",
            **{"from": from_ms, "until": until_ms},
        )
        return 0 if found is None else found["most"] or 0
