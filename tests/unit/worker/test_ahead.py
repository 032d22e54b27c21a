"""Results in order, whatever finishes first, and never more than a few under way."""

import threading
from collections.abc import Iterator
from contextlib import closing

from hypothesis import given
from hypothesis import strategies as st

from tests.patience import PATIENCE_S
from worker.stages.ahead import ahead


@given(things=st.lists(st.integers(), max_size=20), at_once=st.integers(1, 5))
def test_every_result_comes_once_and_in_order(things: list[int], at_once: int) -> None:
    assert [(thing, done.result()) for thing, done in ahead(str, things, at_once=at_once)] == [
        (thing, str(thing)) for thing in things
    ]


def test_several_run_at_once_and_nothing_is_begun_before_there_is_room() -> None:
    met = threading.Barrier(3)
    begun: list[int] = []

    def drawn() -> Iterator[int]:
        for number in range(9):
            begun.append(number)
            yield number

    def meet(_: int) -> int:
        return met.wait(PATIENCE_S)

    with closing(ahead(meet, drawn(), at_once=3)) as results:
        first, _ = next(results)
        assert (first, begun) == (0, [0, 1, 2])
        next(results)
        assert begun == [0, 1, 2, 3]
        met.abort()


def test_an_error_belongs_to_its_thing_and_leaves_the_others_alone() -> None:
    outcomes = [done.exception() or done.result() for _, done in ahead(lambda n: 6 // n, [1, 0, 2], at_once=2)]
    assert [str(outcome) for outcome in outcomes] == ["6", "integer division or modulo by zero", "3"]


def test_closed_early_it_begins_nothing_more() -> None:
    begun: list[int] = []
    results = ahead(begun.append, iter(range(100)), at_once=2)
    next(results)
    results.close()
    assert set(begun) <= {0, 1}
    assert next(results, None) is None
