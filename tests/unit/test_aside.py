"""Short work stays where it is asked for, long work leaves the event loop alone."""

import asyncio
import threading
from collections.abc import Generator
from contextvars import ContextVar

import pytest

from shared.aside import SHORT, aside, at_once, in_slices, in_turn


@pytest.mark.parametrize(("size", "stays"), [(0, True), (SHORT, True), (SHORT + 1, False)])
def test_only_long_work_goes_to_a_thread(size: int, stays: bool) -> None:
    assert (asyncio.run(aside(size, threading.get_ident)) == threading.get_ident()) == stays


@pytest.mark.parametrize("size", [0, SHORT + 1])
def test_what_the_work_raises_reaches_whoever_asked(size: int) -> None:
    def work() -> None:
        raise ValueError("太长")

    with pytest.raises(ValueError, match="太长"):
        asyncio.run(aside(size, work))


def test_pieces_that_compute_take_turns_off_the_loop_in_the_order_in_which_they_came() -> None:
    told: list[str] = []
    asked: ContextVar[str] = ContextVar("asked")

    def compute() -> int:
        told.append(f"begins {asked.get()}")
        told.append(f"ends {asked.get()}")
        return threading.get_ident()

    async def ask(name: str) -> int:
        asked.set(name)
        return await in_turn(compute)

    async def three() -> list[int]:
        return await asyncio.gather(*(ask(name) for name in "一二三"))

    threads = set(asyncio.run(three()))
    assert told == [f"{what} {name}" for name in "一二三" for what in ("begins", "ends")]
    assert len(threads) == 1
    assert threading.get_ident() not in threads


def test_a_short_piece_waits_for_one_step_of_a_long_one_and_not_for_all_of_it() -> None:
    told: list[str] = []
    seconds = iter(range(1_000))

    def work(name: str, steps: int) -> Generator[None, None, str]:
        for step in range(steps):
            told.append(f"{name} {step}")
            yield
        return name

    async def both() -> set[str]:
        long, short = (
            in_slices(work(name, steps), clock=lambda: next(seconds)) for name, steps in (("长", 9), ("短", 1))
        )
        return set(await asyncio.gather(long, short))

    assert asyncio.run(both()) == {"长", "短"}
    assert told[:3] == ["长 0", "短 0", "长 1"]
    assert len(told) == 10


def test_steps_that_take_no_time_are_one_piece() -> None:
    pieces: list[int] = []

    def work() -> Generator[None, None, int]:
        for _ in range(3):
            yield
        return threading.get_ident()

    def clock() -> float:
        pieces.append(threading.get_ident())
        return 0.0

    assert asyncio.run(in_slices(work(), clock=clock)) != threading.get_ident()
    assert len(pieces) == 4
    assert at_once(work()) == threading.get_ident()
