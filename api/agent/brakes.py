"""When a run that spins must stop. Pure. A brake closes the tools; the best answer from what is in hand follows.

Source: spec/05 "Brakes".
"""

from collections.abc import Collection
from typing import Literal

from msgspec import Struct

from shared.types.runs import Limits

Brake = Literal["brake_count", "brake_gain", "brake_time"]

KNOWN_SHARE = 0.7  # a retrieval with a larger share of blocks already in the ledger brought no gain
NO_GAIN_RETRIEVALS = 2  # in a row
FINAL_TIME_SHARE = 0.25  # of the run's time, kept back for the final answer


class Deadlines(Struct, frozen=True, kw_only=True):
    """Milliseconds since the run began."""

    tools_ms: int  # from here on only the final answer
    run_ms: int


def deadlines(limits: Limits) -> Deadlines:
    run_ms = limits.max_wall_seconds * 1000
    return Deadlines(tools_ms=round(run_ms * (1 - FINAL_TIME_SHARE)), run_ms=run_ms)


def without_gain(streak: int, *, shown: Collection[str], known: Collection[str]) -> int:
    """Retrievals without gain in a row, after one more that showed blocks `shown`, of which `known` were in the ledger.

    A result without blocks says nothing about gain and leaves the streak as it is.
    """
    if not shown:
        return streak
    return streak + 1 if len(known) > KNOWN_SHARE * len(shown) else 0


def due(*, tool_calls: int, no_gain: int, elapsed_ms: int, limits: Limits) -> Brake | None:
    """The brake that holds before the next turn, if any."""
    if elapsed_ms >= deadlines(limits).tools_ms:
        return "brake_time"
    if tool_calls >= limits.max_tool_calls:
        return "brake_count"
    if spins(no_gain):
        return "brake_gain"
    return None


def spins(no_gain: int) -> bool:
    """Whether so many retrievals without gain in a row are enough."""
    return no_gain >= NO_GAIN_RETRIEVALS
