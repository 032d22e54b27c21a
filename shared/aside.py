"""Work on a text, kept off the event loop when the text is long.

A thread costs some 50 µs, and on a busy process a turn of waiting for the interpreter: more than most texts take.
"""

import asyncio
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import TypeVar

T = TypeVar("T")

SHORT = 16 * 1024  # bytes, or code points where the work is a tenth of a µs for each

SLICE_S = 0.005  # of its own processor time: some two sentences of an answer, each against three new sources


async def aside(size: int, work: Callable[[], T]) -> T:
    """`size`: of what `work` reads, in units of which `SHORT` take no longer than a ms or two."""
    return work() if size <= SHORT else await asyncio.to_thread(work)


async def in_turn(work: Callable[[], T]) -> T:
    """Python that computes for longer than a ms or two: one such piece at a time, in the order in which they came.

    It never lets go of the interpreter's lock by itself. The event loop gets the lock back every other time as long as one thread
    wants it, and one time in seven when six do.
    """
    return await asyncio.get_running_loop().run_in_executor(_one_by_one, copy_context().run, work)


async def in_slices(steps: Generator[None, None, T], *, clock: Callable[[], float] = time.thread_time) -> T:
    """The same for work of any length that pauses after every step: whoever came meanwhile goes before its next `SLICE_S`."""
    while (done := await in_turn(partial(_slice, steps, clock))) is None:
        pass
    return done[0]


def at_once(steps: Generator[None, None, T]) -> T:
    """Such work without a pause."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            value: T = end.value
            return value


def _slice(steps: Generator[None, None, T], clock: Callable[[], float]) -> tuple[T] | None:
    """One step and as many more as there is time for; what the work came to once it is done."""
    ends = clock() + SLICE_S
    try:
        next(steps)
        while clock() < ends:
            next(steps)
    except StopIteration as end:
        value: T = end.value
        return (value,)
    return None


_one_by_one = ThreadPoolExecutor(max_workers=1, thread_name_prefix="in turn")  # its thread begins with the first piece
