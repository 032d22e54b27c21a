"""What a day's runs came to, and which of it is past what the settings put up with."""

from msgspec import Struct


class StepTimes(Struct, frozen=True, kw_only=True):
    """Quantiles are as exact as the bucket they lie in is wide (shared/telemetry/measures.py)."""

    step: str
    count: int
    p50_s: float
    p95_s: float


class DayFigures(Struct, frozen=True, kw_only=True):
    """One UTC day. None: nothing to divide by."""

    day: str  # 2026-11-30
    runs: int = 0
    by_status: dict[str, int] = {}
    retrievals_per_run: float | None = None
    brakes: dict[str, int] = {}  # by kind
    brakes_per_run: float | None = None
    protocol_errors: int = 0
    tokens: dict[str, int] = {}  # by kind; never added to one another
    tokens_per_run: dict[str, float] = {}
    no_answer_rate: float | None = None  # refused or asked back, of the runs that did not fail
    citations: dict[str, int] = {}  # by verdict; removed: named what the run had not read
    citation_failure_rate: float | None = None  # unsupported or removed, of those that were checked
    steps: tuple[StepTimes, ...] = ()
    snapshot_age_days: float | None = None  # of the one that was active when the day ended, or now
    queue_depth: int = 0  # the most imports that were queued or under way at once
    dropped: int = 0  # spans, contents and runs that could not be kept


class Alert(Struct, frozen=True, kw_only=True):
    day: str
    figure: str  # its setting is alerts.{figure}
    value: float
    threshold: float


class Figures(Struct, frozen=True, kw_only=True):
    """Oldest first, from the first day on of which something is known."""

    days: tuple[DayFigures, ...]
    alerts: tuple[Alert, ...]
