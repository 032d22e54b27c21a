"""A run that is under way: its events, its end, and the asker to whom it belongs: it is cancelled when he goes away."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any
from uuid import uuid4

from shared.access import Access
from shared.errors import CiteboundError, Conflict
from shared.ids import RunId
from shared.types.events import RunCompleted, RunEvent, RunFailed
from shared.types.runs import RunRecord

_log = logging.getLogger(__name__)

CANCELLED = "cancelled"


class RunCrashed(Exception):
    """A bug ended the run; the log knows it under `error_id`."""

    def __init__(self, error_id: str) -> None:
        super().__init__(error_id)
        self.error_id = error_id


class Running:
    """A run that has begun. One reader of its events."""

    def __init__(self, run_id: RunId, access: Access) -> None:
        self.run_id = run_id
        self.access = access
        self.failed: RunFailed | None = None  # how it failed, if it did
        self._events: asyncio.Queue[RunEvent | None] = asyncio.Queue()
        self.started = False  # an event was told
        self._begun = asyncio.Event()  # started, or over before it could
        self._over = asyncio.Event()
        self._cancelled = False
        self.settled = False  # its end is decided
        self._ended = False  # and was told
        self._record: RunRecord | None = None
        self._fault: CiteboundError | RunCrashed | None = None
        self._task: asyncio.Task[None] | None = None

    def cancel(self) -> None:
        """Ask the run to stop: the provider's call is aborted. Nothing happens to a run that is settled, or was asked before."""
        if self._task is not None and not self._cancelled and not self.settled:
            self._cancelled = True  # a second time would cut off the keeping of its record
            self._task.cancel()

    def settle(self) -> None:
        """What came of it is known: only the keeping is left, which no cancel may cut off."""
        self.settled = True

    async def record(self) -> RunRecord:
        """Wait for the end. A cancelled or failed run has a record too. Raises: RunCrashed."""
        await self._over.wait()
        if self._fault is not None:
            raise self._fault
        assert self._record is not None
        return self._record

    async def events(self, *, idle_s: float) -> AsyncGenerator[tuple[RunEvent, ...]]:
        """Every event in order to the end, those together that are there at once; () whenever nothing happened for `idle_s`."""
        while True:
            if self._events.empty():
                try:
                    async with asyncio.timeout(idle_s):
                        found = [await self._events.get()]
                except TimeoutError:
                    yield ()
                    continue
            else:
                found = []
            while not self._events.empty():
                found.append(self._events.get_nowait())
            if told := tuple(event for event in found if event is not None):
                yield told
            if None in found:
                return

    def emit(self, event: RunEvent) -> None:
        if isinstance(event, RunFailed):
            self.failed = event
        self._ended = self._ended or isinstance(event, RunCompleted | RunFailed)
        self.started = True
        self._events.put_nowait(event)
        self._begun.set()

    def start(self, work: Callable[[], Awaitable[RunRecord]]) -> asyncio.Task[None]:
        self._task = asyncio.create_task(self._work(work), name=f"run {self.run_id}")
        self._task.add_done_callback(self._end)
        return self._task

    async def begun(self) -> None:
        """Wait for the first event. Raises: what kept the run from beginning."""
        await self._begun.wait()
        if self._fault is not None and not self.started:
            raise self._fault

    async def _work(self, work: Callable[[], Awaitable[RunRecord]]) -> None:
        try:
            self._record = await work()
        except CiteboundError as error:
            if self.started:
                self._crashed(error)
            else:
                self._fault = error
        except Exception as error:  # noqa: BLE001  the border of a run: it must end for its asker, and be in the log
            self._crashed(error)

    def _end(self, task: asyncio.Task[None]) -> None:
        """However it ended: a task that was cancelled before its first step never ran at all; a loop that closes cancels any."""
        if task.cancelled():
            when = "before it was kept" if self.started else "before it began"
            self._fault = self._fault or Conflict(f"The run was cancelled {when}.", ids=[self.run_id])
            self._tell_failed(CANCELLED, "The run was cancelled.")
        self._begun.set()
        self._over.set()
        self._events.put_nowait(None)

    def _crashed(self, error: Exception) -> None:
        error_id = uuid4().hex[:12]
        _log.error("run %s crashed, error_id %s", self.run_id, error_id, exc_info=error)
        self._fault = RunCrashed(error_id)
        self._tell_failed("internal_error", f"An error that should not happen did. It is in the log as {error_id}.")

    def _tell_failed(self, code: str, message: str) -> None:
        """The end, for who was told the beginning and no end."""
        if self.started and not self._ended:
            self.emit(RunFailed(run_id=self.run_id, code=code, message=message, retryable=False))


class AskerGone(Exception):
    """The client closed its connection; nobody is left to answer."""


async def record_unless_gone(run: Running, receive: Callable[[], Awaitable[Mapping[str, Any]]]) -> RunRecord:
    """Wait for a run's end while its asker waits; cancel it when he goes away.

    receive: the request's ASGI receive, its body already read.
    Raises: RunCrashed, AskerGone.
    """
    waiting = asyncio.create_task(run.record())
    leaving = asyncio.create_task(_disconnected(receive))
    try:
        await asyncio.wait({waiting, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if waiting.done():
            return waiting.result()
        raise AskerGone
    finally:
        run.cancel()
        waiting.cancel()
        leaving.cancel()


async def _disconnected(receive: Callable[[], Awaitable[Mapping[str, Any]]]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
