"""Whether a process that died is started again."""

import signal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.citebound.supervisor.child import ending
from scripts.citebound.supervisor.restarts import (
    LONGEST_WAIT_MS,
    QUICK_MS,
    TRIES,
    Again,
    GiveUp,
    after_death,
)


def test_quick_deaths_are_waited_out_longer_each_time_until_the_supervisor_gives_up() -> None:
    verdicts = [after_death(lived_ms=10, quick_deaths=row) for row in range(TRIES)]
    assert verdicts == [
        Again(wait_ms=500, quick_deaths=1),
        Again(wait_ms=1000, quick_deaths=2),
        Again(wait_ms=2000, quick_deaths=3),
        Again(wait_ms=4000, quick_deaths=4),
        GiveUp(quick_deaths=5),
    ]


@given(lived_ms=st.integers(min_value=QUICK_MS), quick_deaths=st.integers(0, TRIES - 1))
def test_a_process_that_lived_long_is_always_started_again_soon(lived_ms: int, quick_deaths: int) -> None:
    assert after_death(lived_ms=lived_ms, quick_deaths=quick_deaths) == Again(wait_ms=500, quick_deaths=1)


@given(lived_ms=st.integers(min_value=0), quick_deaths=st.integers(0, TRIES - 1))
def test_no_wait_is_endless(lived_ms: int, quick_deaths: int) -> None:
    verdict = after_death(lived_ms=lived_ms, quick_deaths=quick_deaths)
    assert isinstance(verdict, GiveUp) or 0 < verdict.wait_ms <= LONGEST_WAIT_MS


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (0, "in order, because somebody else stopped it or by itself (exit code 0)"),
        (-signal.SIGKILL, "by SIGKILL"),
        (128 + signal.SIGSEGV, "by SIGSEGV"),
        (-35, "by signal 35"),
        (2, "with an error (exit code 2)"),
        (255, "with an error (exit code 255)"),
    ],
)
def test_an_end_is_told_as_its_exit_code_shows_it(code: int, told: str) -> None:
    assert ending(code) == told
