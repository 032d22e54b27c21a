"""Charts of days: where bars and lines stand, and how numbers and days are said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.routes.languages import Lang
from api.web.charts import HEIGHT, WIDTH, Point, chart
from api.web.quantities import Unit, day_said, quantity, size

values = st.none() | st.floats(min_value=0, max_value=1e12)


def points(*found: float | None) -> tuple[Point, ...]:
    return tuple(Point(day=f"2026-11-{place + 1:02}", value=value) for place, value in enumerate(found))


@given(
    series=st.integers(min_value=1, max_value=90).flatmap(
        lambda n: st.lists(st.lists(values, min_size=n, max_size=n), min_size=1, max_size=2)
    ),
    more=st.integers(min_value=0, max_value=300),
    limit=st.none() | st.floats(min_value=0, max_value=1e12),
)
def test_everything_that_is_drawn_lies_within_the_chart(
    series: list[list[float | None]], more: int, limit: float | None
) -> None:
    slots = len(series[0]) + more
    drawn = chart([points(*one) for one in series], slots=slots, limit=limit, said=lambda point: point.day)
    known = sum(value is not None for one in series for value in one)
    if drawn is None:
        assert known == 0
        return
    assert len(drawn.bars) + sum(len(dots) for dots in drawn.dots) == known
    for bar in drawn.bars:
        assert -1 <= bar.x <= bar.x + bar.width <= WIDTH + 1
        assert 0 <= bar.y <= bar.y + bar.height <= HEIGHT
    for dot in (dot for dots in drawn.dots for dot in dots):
        assert 0 <= dot.x <= WIDTH
        assert 0 <= dot.y <= HEIGHT
    assert drawn.limit_y is None or 0 <= drawn.limit_y <= HEIGHT


def test_a_line_is_broken_where_nothing_is_known() -> None:
    drawn = chart([points(1, None, 2, 4), points(None, None, None, 1)], slots=4, said=lambda point: point.day)
    assert drawn is not None
    assert drawn.lines == (("40.0,75.0", "200.0,56.0 280.0,18.0"), ("280.0,75.0",))
    assert [dot.said for dot in drawn.dots[0]] == ["2026-11-01", "2026-11-03", "2026-11-04"]


def test_the_last_day_stands_at_the_right_and_a_nought_is_seen() -> None:
    drawn = chart([points(0, 8)], slots=10, said=lambda point: point.day)
    assert drawn is not None
    assert [(bar.x, bar.height, bar.kind) for bar in drawn.bars] == [(260.8, 1.5, "nought"), (292.8, 76.0, "plain")]


@pytest.mark.parametrize(("most", "is_drawn"), [(0.2, True), (0.09, False), (0.5, True)])
def test_a_threshold_is_drawn_where_it_would_not_flatten_everything(most: float, is_drawn: bool) -> None:
    drawn = chart([points(most)], slots=1, limit=0.3, said=lambda point: point.day)
    assert drawn is not None
    assert (drawn.limit_y is not None) == is_drawn


@pytest.mark.parametrize(
    ("value", "unit", "lang", "said"),
    [
        (None, "count", "zh", "–"),
        (0.125, "share", "en", "12.5%"),
        (0.004, "share", "zh", "0.4%"),
        (1.26, "seconds", "zh", "1.3 秒"),
        (0.0421, "seconds", "en", "42 ms"),
        (0.25, "count", "en", "0.25"),
        (1250.4, "count", "zh", "1,250"),
        (3.0, "days", "zh", "3 天"),
        (40.0, "days", "en", "40 d"),
    ],
)
def test_a_number_is_said_with_its_unit(value: float | None, unit: Unit, lang: Lang, said: str) -> None:
    assert quantity(value, unit, lang) == said


def test_days_and_sizes_are_said_as_people_do() -> None:
    assert day_said("2026-11-05", "zh") == "11月5日"
    assert day_said("2026-11-05", "zh", year=True) == "2026年11月5日"
    assert day_said("2026-11-05", "en", year=True) == "5 Nov 2026"
    assert (size(999), size(1536 * 1024), size(150 * 1024**3)) == ("999 B", "1.5 MB", "150 GB")
