import asyncio
import threading
import time

import pytest
import uvloop
from blockbuster import BlockingError

from tests.blocking import nothing_blocks


async def use_a_thread() -> None:
    await asyncio.to_thread(lambda: None)


def test_a_loop_whose_executor_s_thread_ends_late_may_wait_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []

    def end_late(thread: threading.Thread) -> None:
        as_ever(thread)
        time.sleep(0.1)
        told.append(thread.name)

    as_ever = threading.Thread.run
    monkeypatch.setattr(threading.Thread, "run", end_late)
    with nothing_blocks(), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(use_a_thread())
    assert told


def test_a_lock_that_a_request_waits_for_is_told() -> None:
    async def wait() -> None:
        lock.acquire()

    lock = threading.Lock()
    with (
        lock,
        nothing_blocks(),
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        pytest.raises(BlockingError),
    ):
        runner.run(wait())
