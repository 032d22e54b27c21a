"""Work on several things at once and look at the results one after the other, in order."""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def ahead(do: Callable[[T], R], things: Iterable[T], *, at_once: int) -> Generator[tuple[T, Future[R]]]:
    """`do` runs on threads; `things` is drawn from, and results are looked at, on the caller's.

    At most `at_once` things are under way or done and not looked at yet. Closed early, it waits for those that run and drops the rest.
    """
    with ThreadPoolExecutor(at_once, thread_name_prefix="ahead") as pool:
        waiting: deque[tuple[T, Future[R]]] = deque()
        try:
            for thing in things:
                waiting.append((thing, pool.submit(do, thing)))
                if len(waiting) == at_once:
                    yield waiting.popleft()
            while waiting:
                yield waiting.popleft()
        finally:
            for _, future in waiting:
                future.cancel()
