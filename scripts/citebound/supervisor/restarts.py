"""Whether a process that died is started again, and when."""

from typing import Final

from msgspec import Struct

QUICK_MS: Final = 30_000  # a process that lived longer than this had a reason to live
TRIES: Final = 5  # quick deaths in a row
FIRST_WAIT_MS: Final = 500
LONGEST_WAIT_MS: Final = 15_000


class Again(Struct, frozen=True, kw_only=True):
    wait_ms: int
    quick_deaths: int  # in a row, this one included


class GiveUp(Struct, frozen=True, kw_only=True):
    quick_deaths: int


def after_death(*, lived_ms: int, quick_deaths: int) -> Again | GiveUp:
    """Decide about a process that died after `lived_ms`, with `quick_deaths` in a row before it.

    One that lived long starts a new row. The wait doubles with each quick death, so that a broken process costs little and a
    passing fault heals by itself.
    """
    row = quick_deaths + 1 if lived_ms < QUICK_MS else 1
    if row >= TRIES:
        return GiveUp(quick_deaths=row)
    return Again(wait_ms=min(FIRST_WAIT_MS * 2 ** (row - 1), LONGEST_WAIT_MS), quick_deaths=row)
