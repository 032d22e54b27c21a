"""What a turn used of the limits: a call's context, and the run's tokens and tool calls. Pure."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from api.web.run_spans import LEAST, SCALE, number, text
from shared.telemetry import names
from shared.types.runs import Limits
from shared.types.traces import SpanEvent

Part = Literal["used", "added", "refused", "left", "reserve"]


class Admission(Struct, frozen=True, kw_only=True):
    """Chat tokens. `code`: of the limit that refused, or ""."""

    admitted: bool
    tokens: int
    at_least: bool  # that many, if not more: what the bytes alone refuse is not counted
    used: int
    limit: int
    reserve: int
    code: str

    @property
    def room(self) -> int:
        """What would have fitted into the context."""
        return max(self.limit - self.reserve - self.used, 0)


class Segment(Struct, frozen=True, kw_only=True):
    part: Part
    tokens: int
    start: int  # of SCALE
    width: int


class Budget(Struct, frozen=True, kw_only=True):
    """At the end of a turn. The segments are the context: used before, added by results, reserved for the answer, left; `refused` had no room.
    Limit and reserve are those by which the last result was decided, else `limits`, the configured ones.

    `limit_at`: where the limit stands on the bar; SCALE unless more was wanted than it allows.
    """

    limit: int
    segments: tuple[Segment, ...]
    limit_at: int
    spent: int
    spent_limit: int
    calls: int
    calls_limit: int


def admission(event: SpanEvent) -> Admission:
    said = event.attributes
    return Admission(
        admitted=said.get("admitted") is True,
        tokens=number(said, "tokens"),
        at_least=said.get("at_least") is True,
        used=number(said, "used"),
        limit=number(said, "limit"),
        reserve=number(said, "reserve"),
        code=text(said, "code"),
    )


def is_admission(event: SpanEvent) -> bool:
    return event.name == names.ADMISSION


def budget(context_tokens: int, admissions: Sequence[Admission], limits: Limits, *, spent: int, calls: int) -> Budget:
    """`context_tokens`: of the turn's last call. `spent`: chat tokens of the run so far. `calls`: tool calls of the run so far."""
    used = max(admissions[0].used if admissions else context_tokens, 0)
    added = sum(one.tokens for one in admissions if one.admitted)
    refused = sum(one.tokens for one in admissions if not one.admitted)
    decided = [(one.limit, one.reserve) for one in admissions[-1:]]
    limit, reserve = next(iter(decided), (limits.max_context_tokens, limits.finalization_reserve_tokens))
    limit, reserve = max(limit, 1), max(reserve, 0)
    left = max(limit - reserve - used - added, 0)
    whole = max(limit, used + added + refused + reserve)
    sizes: tuple[tuple[Part, int], ...] = (
        ("used", used),
        ("added", added),
        ("refused", refused),
        ("left", max(left - refused, 0)),
        ("reserve", reserve),
    )
    return Budget(
        limit=limit,
        segments=tuple(_segments(sizes, whole, left=left)),
        limit_at=limit * SCALE // whole,
        spent=spent,
        spent_limit=limits.max_request_tokens,
        calls=calls,
        calls_limit=limits.max_tool_calls,
    )


def _segments(sizes: Sequence[tuple[Part, int]], whole: int, *, left: int) -> list[Segment]:
    """Side by side, in this order; what is there is seen, however little."""
    told: list[Segment] = []
    start = 0
    for part, tokens in sizes:
        width = min(max(tokens * SCALE // whole, LEAST if tokens else 0), SCALE - start)
        if tokens:
            told.append(Segment(part=part, tokens=left if part == "left" else tokens, start=start, width=width))
        start += width
    return told
