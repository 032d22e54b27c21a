"""Short work stays where it is asked for, long work leaves the event loop alone."""

import asyncio
import threading

import pytest

from shared.aside import SHORT, aside


@pytest.mark.parametrize(("size", "stays"), [(0, True), (SHORT, True), (SHORT + 1, False)])
def test_only_long_work_goes_to_a_thread(size: int, stays: bool) -> None:
    assert (asyncio.run(aside(size, threading.get_ident)) == threading.get_ident()) == stays


@pytest.mark.parametrize("size", [0, SHORT + 1])
def test_what_the_work_raises_reaches_whoever_asked(size: int) -> None:
    def work() -> None:
        raise ValueError("太长")

    with pytest.raises(ValueError, match="太长"):
        asyncio.run(aside(size, work))
