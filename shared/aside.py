"""Work on a text, kept off the event loop when the text is long.

A thread costs some 50 µs, and on a busy process a turn of waiting for the interpreter: more than most texts take.
"""

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

SHORT = 16 * 1024  # bytes, or code points where the work is a tenth of a µs for each


async def aside(size: int, work: Callable[[], T]) -> T:
    """`size`: of what `work` reads, in units of which `SHORT` take no longer than a ms or two."""
    return work() if size <= SHORT else await asyncio.to_thread(work)
