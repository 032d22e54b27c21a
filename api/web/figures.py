"""Which figures of days the health page shows, as charts and as a table. Pure."""

from collections.abc import Callable
from typing import Any, Final, Literal

from msgspec import Struct

from api.routes.languages import Lang
from api.web.charts import Chart, Point, chart
from api.web.quantities import Unit, day_said, quantity
from shared.settings import AlertSettings
from shared.telemetry.measures import RUN_STEP
from shared.types.figures import Alert, DayFigures, Figures, StepTimes

_Read = Callable[[DayFigures], float | None]


class Shown(Struct, frozen=True, kw_only=True):
    """`series`: name and value of each; `of`: what it is a figure of; `alert`: its setting in [alerts]. `is_rate`: says little where few asked."""

    name: str
    of: Literal["runs", "library"]
    unit: Unit
    series: tuple[tuple[str, _Read], ...]
    alert: str | None = None
    is_rate: bool = False


class Latest(Struct, frozen=True, kw_only=True):
    series: str
    said: str


class FigureView(Struct, frozen=True, kw_only=True):
    """`day`: of the latest values. `limit`: its threshold; `over`: on how many of the days shown it was passed."""

    name: str
    latest: tuple[Latest, ...]
    day: str | None
    chart: Chart | None
    top: str
    described: str
    limit: str | None
    over: int
    is_over: bool  # on the latest day
    has_pale: bool
    kinds: tuple[tuple[str, str], ...] = ()


class StepView(Struct, frozen=True, kw_only=True):
    name: str
    times: int
    p50: str
    p95: str
    day: str
    chart: Chart | None
    described: str


class Table(Struct, frozen=True, kw_only=True):
    """`columns`: figure and series; rows newest first."""

    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


def _run_time(which: Literal["p50_s", "p95_s"]) -> _Read:
    return lambda day: next((getattr(step, which) for step in day.steps if step.step == RUN_STEP), None)


def _tokens(kind: str) -> _Read:
    return lambda day: day.tokens_per_run.get(kind, 0.0) if day.runs else None


def _per_run(kind: str) -> _Read:
    return lambda day: day.brakes.get(kind, 0) / day.runs if day.runs else None


SHOWN: Final = (
    Shown(name="runs", of="runs", unit="count", series=(("runs", lambda day: day.runs),)),
    Shown(
        name="retrievals_per_run",
        of="runs",
        unit="count",
        series=(("retrievals", lambda day: day.retrievals_per_run),),
        is_rate=True,
    ),
    Shown(
        name="run_p95_s",
        of="runs",
        unit="seconds",
        series=(("p50", _run_time("p50_s")), ("p95", _run_time("p95_s"))),
        alert="run_p95_s",
        is_rate=True,
    ),
    Shown(
        name="tokens_chat",
        of="runs",
        unit="count",
        series=(("chat_input", _tokens("chat_input")), ("chat_output", _tokens("chat_output"))),
        is_rate=True,
    ),
    Shown(
        name="tokens_embedding",
        of="runs",
        unit="count",
        series=(("embedding", _tokens("embedding")),),
        is_rate=True,
    ),
    Shown(
        name="brakes_per_run",
        of="runs",
        unit="share",
        series=(("brakes", lambda day: day.brakes_per_run),),
        alert="brakes_per_run",
        is_rate=True,
    ),
    Shown(
        name="no_answer_rate",
        of="runs",
        unit="share",
        series=(("no_answer", lambda day: day.no_answer_rate),),
        alert="no_answer_rate",
        is_rate=True,
    ),
    Shown(
        name="citation_failure_rate",
        of="runs",
        unit="share",
        series=(("citations", lambda day: day.citation_failure_rate),),
        alert="citation_failure_rate",
        is_rate=True,
    ),
    Shown(
        name="snapshot_age_days",
        of="library",
        unit="days",
        series=(("age", lambda day: day.snapshot_age_days),),
        alert="snapshot_age_days",
    ),
    Shown(
        name="queue_depth",
        of="library",
        unit="count",
        series=(("depth", lambda day: day.queue_depth),),
        alert="queue_depth",
    ),
    Shown(
        name="dropped",
        of="library",
        unit="count",
        series=(("dropped", lambda day: day.dropped),),
        alert="dropped",
    ),
)


def views(
    found: Figures,
    *,
    of: Literal["runs", "library"],
    days: int,
    alerts: AlertSettings,
    lang: Lang,
    words: dict[str, Any],
) -> tuple[FigureView, ...]:
    return tuple(_view(one, found, days=days, alerts=alerts, lang=lang, words=words) for one in SHOWN if one.of == of)


def _view(
    shown: Shown, found: Figures, *, days: int, alerts: AlertSettings, lang: Lang, words: dict[str, Any]
) -> FigureView:
    limit: float | None = getattr(alerts, shown.alert) if shown.alert else None
    over = {alert.day for alert in found.alerts if alert.figure == shown.alert}
    series = tuple(
        tuple(
            Point(
                day=day.day,
                value=read(day),
                over=day.day in over and place == len(shown.series) - 1,
                pale=shown.is_rate and day.runs < alerts.least_runs,
            )
            for day in found.days
        )
        for place, (_, read) in enumerate(shown.series)
    )
    drawn = chart(
        series,
        slots=days,
        limit=limit,
        said=lambda point: f"{day_said(point.day, lang)}: {quantity(point.value, shown.unit, lang)}",
    )
    known = next((day for day in reversed(found.days) if shown.series[-1][1](day) is not None), None)
    latest = () if known is None else tuple((name, read(known)) for name, read in shown.series)
    kinds = sorted({kind for day in found.days for kind in day.brakes}) if shown.name == "brakes_per_run" else []
    return FigureView(
        name=shown.name,
        latest=tuple(Latest(series=name, said=quantity(value, shown.unit, lang)) for name, value in latest),
        day=None if known is None else known.day,
        chart=drawn,
        top=""
        if drawn is None or not any(point.value for points in series for point in points)
        else quantity(drawn.top, shown.unit, lang),
        described=_described(series[-1], shown.unit, lang, words),
        limit=None if limit is None else quantity(limit, shown.unit, lang),
        over=len(over),
        is_over=known is not None and known.day in over,
        has_pale=any(point.pale and point.value is not None for points in series for point in points),
        kinds=tuple(
            (kind, quantity(None if known is None else _per_run(kind)(known), "share", lang)) for kind in kinds
        ),
    )


def steps(found: Figures, *, days: int, lang: Lang, words: dict[str, Any]) -> tuple[StepView, ...]:
    """Every step that was taken in these days, with its latest times; whole runs first."""
    names = sorted({step.step for day in found.days for step in day.steps}, key=lambda name: (name != RUN_STEP, name))
    return tuple(_step(name, found, days=days, lang=lang, words=words) for name in names)


def _step(name: str, found: Figures, *, days: int, lang: Lang, words: dict[str, Any]) -> StepView:
    taken = [(day.day, _of(day, name)) for day in found.days]
    day, latest = next((day, step) for day, step in reversed(taken) if step is not None)
    points = tuple(Point(day=day, value=None if step is None else step.p95_s) for day, step in taken)
    return StepView(
        name=name,
        times=latest.count,
        p50=quantity(latest.p50_s, "seconds", lang),
        p95=quantity(latest.p95_s, "seconds", lang),
        day=day,
        chart=chart(
            (points,),
            slots=days,
            said=lambda point: f"{day_said(point.day, lang)}: {quantity(point.value, 'seconds', lang)}",
        ),
        described=_described(points, "seconds", lang, words),
    )


def alert_said(alert: Alert, lang: Lang, words: dict[str, Any]) -> str:
    """A sentence: which figure of which day was past which threshold."""
    shown = next(one for one in SHOWN if one.alert == alert.figure)
    said: str = words["alert"]
    return said.format(
        day=day_said(alert.day, lang),
        figure=words["figures"][shown.name],
        value=quantity(alert.value, shown.unit, lang),
        limit=quantity(alert.threshold, shown.unit, lang),
    )


def table(found: Figures, *, lang: Lang) -> Table:
    """Everything that the charts show, in numbers."""
    kinds = sorted({kind for day in found.days for kind in day.brakes})
    columns = [(one, name, read) for one in SHOWN for name, read in one.series]
    return Table(
        columns=(*((one.name, name) for one, name, _ in columns), *(("brakes", kind) for kind in kinds)),
        rows=tuple(
            (
                day_said(day.day, lang, year=True),
                (
                    *(quantity(read(day), one.unit, lang) for one, _, read in columns),
                    *(quantity(_per_run(kind)(day), "share", lang) for kind in kinds),
                ),
            )
            for day in reversed(found.days)
        ),
    )


def step_table(found: Figures, *, lang: Lang) -> Table:
    """p50 and p95 of each step on each day."""
    names = sorted({step.step for day in found.days for step in day.steps}, key=lambda name: (name != RUN_STEP, name))
    return Table(
        columns=tuple(("steps", name) for name in names),
        rows=tuple(
            (day_said(day.day, lang, year=True), tuple(_both(_of(day, name), lang) for name in names))
            for day in reversed(found.days)
            if day.steps
        ),
    )


def _of(day: DayFigures, name: str) -> StepTimes | None:
    return next((step for step in day.steps if step.step == name), None)


def _both(step: StepTimes | None, lang: Lang) -> str:
    if step is None:
        return "–"
    return f"{quantity(step.p50_s, 'seconds', lang)} / {quantity(step.p95_s, 'seconds', lang)}"


def _described(points: tuple[Point, ...], unit: Unit, lang: Lang, words: dict[str, Any]) -> str:
    """For who does not see the chart."""
    known = [point for point in points if point.value is not None]
    if not known:
        return ""
    values = [point.value for point in known if point.value is not None]
    said: str = words["described"]
    return said.format(
        n=len(known),
        first=day_said(known[0].day, lang),
        last=day_said(known[-1].day, lang),
        least=quantity(min(values), unit, lang),
        most=quantity(max(values), unit, lang),
    )
