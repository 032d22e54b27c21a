"""From what is stored of days to figures that people read, and to what is past a threshold. Pure but for `read_figures`."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

from shared.settings import AlertSettings
from shared.telemetry.daily import DROPPED, DayCounts, day_of, stored_days
from shared.telemetry.measures import RUN_STEP, quantile
from shared.types.figures import Alert, DayFigures, Figures, StepTimes

DAY_MS = 86_400_000


class Library(Protocol):
    """shared.catalog.history.History."""

    def age_days(self, at_ms: int) -> float | None: ...
    def queue_depth(self, from_ms: int, until_ms: int) -> int: ...


def read_figures(database: Path, *, days: int, now_ms: int, alerts: AlertSettings, library: Library) -> Figures:
    """The last `days` days, today included. Blocking. Raises: StorageError."""
    ends = [min((now_ms // DAY_MS - back + 1) * DAY_MS - 1, now_ms) for back in reversed(range(days))]
    stored = stored_days(database, since=day_of(ends[0]))
    first = min(stored, default=day_of(now_ms))
    found = tuple(
        day_figures(
            day_of(end),
            stored.get(day_of(end), DayCounts()),
            snapshot_age_days=library.age_days(end),
            queue_depth=library.queue_depth(end // DAY_MS * DAY_MS, end),
        )
        for end in ends
        if day_of(end) >= first
    )
    return Figures(days=found, alerts=tuple(alert for day in found for alert in alerts_of(day, alerts)))


def day_figures(day: str, stored: DayCounts, *, snapshot_age_days: float | None, queue_depth: int) -> DayFigures:
    by_status: Counter[str] = Counter()
    for label, number in _labels(stored.counts, "runs").items():
        by_status[label.split("/")[0]] += number
    runs = by_status.total()
    brakes, tokens, citations = (_labels(stored.counts, name) for name in ("brakes", "tokens", "citations"))
    answered = runs - by_status["failed"]
    checked = sum(number for verdict, number in citations.items() if verdict != "unchecked")
    return DayFigures(
        day=day,
        runs=runs,
        by_status=dict(by_status),
        retrievals_per_run=_share(stored.counts.get(("retrievals", ""), 0), runs),
        brakes=brakes,
        brakes_per_run=_share(sum(brakes.values()), runs),
        protocol_errors=sum(_labels(stored.counts, "protocol_errors").values()),
        tokens=tokens,
        tokens_per_run={kind: number / runs for kind, number in tokens.items()} if runs else {},
        no_answer_rate=_share(by_status["refused"] + by_status["clarification"], answered),
        citations=citations,
        citation_failure_rate=_share(citations.get("unsupported", 0) + citations.get("removed", 0), checked),
        steps=tuple(_steps(stored.times)),
        snapshot_age_days=snapshot_age_days,
        queue_depth=queue_depth,
        dropped=sum(_labels(stored.counts, DROPPED).values()),
    )


def alerts_of(day: DayFigures, settings: AlertSettings) -> Iterator[Alert]:
    """Whatever is above its threshold; rates only of days with enough runs to mean something."""
    seen: dict[str, float | None] = {
        "snapshot_age_days": day.snapshot_age_days,
        "queue_depth": day.queue_depth,
        "dropped": day.dropped,
    }
    if day.runs >= settings.least_runs:
        seen["brakes_per_run"] = day.brakes_per_run
        seen["no_answer_rate"] = day.no_answer_rate
        seen["citation_failure_rate"] = day.citation_failure_rate
        seen["run_p95_s"] = next((one.p95_s for one in day.steps if one.step == RUN_STEP), None)
    for figure, value in seen.items():
        threshold: float | None = getattr(settings, figure)
        if threshold is not None and value is not None and value > threshold:
            yield Alert(day=day.day, figure=figure, value=value, threshold=threshold)


def _labels(counts: Mapping[tuple[str, str], int], name: str) -> dict[str, int]:
    return {label: number for (one, label), number in sorted(counts.items()) if one == name}


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _steps(times: Mapping[str, dict[int, int]]) -> Iterator[StepTimes]:
    for step, buckets in sorted(times.items()):
        p50_s, p95_s = quantile(buckets, 0.5), quantile(buckets, 0.95)
        if p50_s is not None and p95_s is not None:
            yield StepTimes(step=step, count=sum(buckets.values()), p50_s=p50_s, p95_s=p95_s)
