"""Work on a text, kept off the event loop when the text is long.

A thread costs some 50 µs, and on a busy process a turn of waiting for the interpreter: more than most texts take.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")

SHORT = 16 * 1024  # bytes, or code points where the work is a tenth of a µs for each


async def aside(size: int, work: Callable[[], T]) -> T:
    """`size`: of what `work` reads, in units of which `SHORT` take no longer than a ms or two."""
    return work() if size <= SHORT else await asyncio.to_thread(work)


async def in_turn(work: Callable[[], T]) -> T:
    """Python that computes for longer than a ms or two: one such piece at a time, in the order in which they came.

    It never lets go of the interpreter's lock by itself. The event loop gets the lock back every other time as long as one thread
    wants it, and one time in seven when six do.
    """
    return await asyncio.get_running_loop().run_in_executor(_one_by_one, copy_context().run, work)


_one_by_one = ThreadPoolExecutor(max_workers=1, thread_name_prefix="in turn")  # its thread begins with the first piece
