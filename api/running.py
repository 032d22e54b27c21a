"""A run that is under way: its events, its end, and the asker to whom it belongs: it is cancelled when he goes away."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias, TypeVar
from uuid import uuid4

from shared.access import Access
from shared.errors import CiteboundError, Conflict
from shared.ids import RunId
from shared.types.events import RunCompleted, RunEvent, RunFailed
from shared.types.runs import RunRecord

_log = logging.getLogger(__name__)

Receive: TypeAlias = Callable[[], Awaitable[Mapping[str, Any]]]  # ASGI's
T = TypeVar("T")

CANCELLED, CRASHED = "cancelled", "internal_error"  # how a run ends that the agent doesn't end
TOGETHER_S = 0.005  # that an event waits for those which follow it; a screen shows a new picture every 0.016 s


class RunCrashed(Exception):
    """A bug ended the run; the log knows it under `error_id`."""

    def __init__(self, run_id: RunId, error_id: str) -> None:
        super().__init__(error_id)
        self.run_id = run_id
        self.error_id = error_id


class Running:
    """A run that has begun. One reader of its events.

    words: what its asker is told of an end that the agent has no answer for, by its code and the id under which the log knows a bug.
    """

    def __init__(
        self, run_id: RunId, access: Access, *, words: Callable[[str, str], str], together_s: float = TOGETHER_S
    ) -> None:
        self.run_id = run_id
        self._words = words
        self._error_id = uuid4().hex[:12]
        self.access = access
        self.failed: RunFailed | None = None  # how it failed, if it did
        self._together_s = together_s
        self._news: list[RunEvent] = []  # that nobody has read yet
        self._reader: asyncio.Future[None] | None = None  # who waits for them
        self._gathers = False  # he has some already and waits for more
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

    def text_of(self, code: str) -> str:
        """What its asker is told when it ends by this code."""
        return self._words(code, self._error_id)

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

    @property
    def all_told(self) -> bool:
        """Nothing is left to read, and nothing will come."""
        return self._over.is_set() and not self._news

    async def news(self, *, idle_s: float) -> list[RunEvent]:
        """What happened since the last time, in order; [] when nothing did for `idle_s`, or nothing will any more.

        What follows within ms comes along: each reading costs its asker's process a turn, and this one a system call. The end waits for nothing.
        """
        if not self._news and not self._over.is_set():
            await self._wait(idle_s)
        if self._news and not self._ended:
            await self._wait(self._together_s, gathers=True)
        if self._ended and not self._over.is_set():
            await asyncio.sleep(0)  # as a rule it is over then, and its last event can be sent as the last
        found, self._news = self._news, []
        return found

    async def _wait(self, seconds: float, *, gathers: bool = False) -> None:
        loop = asyncio.get_running_loop()
        self._reader, self._gathers = loop.create_future(), gathers
        timer = loop.call_later(seconds, self._wake)
        try:
            await self._reader
        finally:
            timer.cancel()
            self._reader = None

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    def emit(self, event: RunEvent) -> None:
        if isinstance(event, RunFailed):
            self.failed = event
        self._ended = self._ended or isinstance(event, RunCompleted | RunFailed)
        self.started = True
        self._news.append(event)
        if self._ended or not self._gathers:
            self._wake()
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
        try:
            if task.cancelled():
                when = "before it was kept" if self.started else "before it began"
                self._fault = self._fault or Conflict(f"The run was cancelled {when}.", ids=[self.run_id])
                self._tell_failed(CANCELLED)
        finally:
            self._begun.set()
            self._over.set()
            self._wake()

    def _crashed(self, error: Exception) -> None:
        _log.error("run %s crashed, error_id %s", self.run_id, self._error_id, exc_info=error)
        self._fault = RunCrashed(self.run_id, self._error_id)
        self._tell_failed(CRASHED)

    def _tell_failed(self, code: str) -> None:
        """The end, for who was told the beginning and no end."""
        if self.started and not self._ended:
            self.emit(RunFailed(run_id=self.run_id, code=code, message=self.text_of(code), retryable=False))


class AskerGone(Exception):
    """The client closed its connection; nobody is left to answer."""


async def unless_gone(receive: Receive, work: Awaitable[T]) -> T:
    """What comes of `work`, which is cancelled when its asker goes away. `receive`: of a request whose body is read.

    Raises: AskerGone.
    """
    mine = asyncio.current_task()
    assert mine is not None
    gone = done = False

    def leave(_: asyncio.Task[None]) -> None:
        nonlocal gone
        if not done:  # he may go away at the very moment: nothing that comes after the work is to be cancelled
            gone = True
            mine.cancel()

    leaving = asyncio.create_task(_disconnected(receive))
    leaving.add_done_callback(leave)
    try:
        return await work
    except asyncio.CancelledError:
        if gone and not mine.uncancel():  # else it is somebody else who cancels
            raise AskerGone from None
        raise
    finally:
        done = True
        leaving.cancel()


async def record_unless_gone(run: Running, receive: Receive) -> RunRecord:
    """Wait for a run's end while its asker waits; cancel it when he goes away. Raises: RunCrashed, AskerGone."""
    try:
        return await unless_gone(receive, run.record())
    finally:
        run.cancel()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
