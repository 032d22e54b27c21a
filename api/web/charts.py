"""Series of days become the geometry of small charts; the template draws them. Pure."""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Final

from msgspec import Struct

WIDTH: Final = 320.0
HEIGHT: Final = 112.0
_TOP, _BOTTOM = 18.0, 94.0  # of the plot; above it the largest value, beneath it the first and the last day
_NEAR = 3  # a threshold is drawn where the largest value reaches a third of it; else it would flatten everything


class Point(Struct, frozen=True, kw_only=True):
    """One day of one series. `over`: past its threshold. `pale`: of too few runs to mean much."""

    day: str
    value: float | None
    over: bool = False
    pale: bool = False


class Bar(Struct, frozen=True, kw_only=True):
    x: float
    y: float
    width: float
    height: float
    kind: str  # over | pale | nought | plain
    said: str


class Dot(Struct, frozen=True, kw_only=True):
    x: float
    y: float
    over: bool
    said: str


class Chart(Struct, frozen=True, kw_only=True):
    """Bars for one series, lines for several. `lines`: of each series the stretches without a gap, as SVG points."""

    top: float  # the value at the upper end
    bars: tuple[Bar, ...] = ()
    lines: tuple[tuple[str, ...], ...] = ()
    dots: tuple[tuple[Dot, ...], ...] = ()
    limit_y: float | None = None


def chart(
    series: Sequence[Sequence[Point]],
    *,
    slots: int,
    limit: float | None = None,
    said: Callable[[Point], str],
) -> Chart | None:
    """`series`: of equal length, the last day last; `slots`: days that the width stands for, the last at the right end.

    None when there is no value at all: what nobody knows is not drawn as nothing.
    """
    known = [point.value for points in series for point in points if point.value is not None]
    if not known:
        return None
    top = max(known)
    drawn = limit if limit is not None and limit > 0 and top * _NEAR >= limit else None
    top = max(top, drawn or 0.0) or 1.0
    slot = WIDTH / slots

    def y(value: float) -> float:
        return round(_BOTTOM - value / top * (_BOTTOM - _TOP), 1)

    length = len(series[0])

    def x(place: int) -> float:
        return round((slots - length + place + 0.5) * slot, 1)

    limit_y = None if drawn is None else y(drawn)
    if len(series) == 1:
        points = series[0]
        width = round(max(slot * 0.7, 1.5), 1)
        bars = tuple(
            Bar(
                x=round(x(place) - width / 2, 1),
                y=min(y(point.value), _BOTTOM - 1.5),  # a nought is seen, and is not a gap
                width=width,
                height=max(round(_BOTTOM - y(point.value), 1), 1.5),
                kind="over" if point.over else "nought" if not point.value else "pale" if point.pale else "plain",
                said=said(point),
            )
            for place, point in enumerate(points)
            if point.value is not None
        )
        return Chart(top=top, bars=bars, limit_y=limit_y)
    dots = tuple(
        tuple(
            Dot(x=x(place), y=y(point.value), over=point.over, said=said(point))
            for place, point in enumerate(points)
            if point.value is not None
        )
        for points in series
    )
    lines = tuple(tuple(_stretches(points, x, y)) for points in series)
    return Chart(top=top, lines=lines, dots=dots, limit_y=limit_y)


def _stretches(points: Sequence[Point], x: Callable[[int], float], y: Callable[[float], float]) -> list[str]:
    found: list[str] = []
    for is_known, stretch in groupby(enumerate(points), lambda pair: pair[1].value is not None):
        if is_known:
            found.append(" ".join(f"{x(place)},{y(point.value or 0.0)}" for place, point in stretch))
    return found
