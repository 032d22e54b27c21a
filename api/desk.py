"""The desk where questions are handed in: starts runs, lets them be watched and cancelled, keeps what came of them.

A run belongs to whoever asked: it is cancelled when the asker goes away. Both protocols (native, OpenAI) come here.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any, Protocol
from uuid import uuid4

from msgspec import Struct, structs

from api.agent.run import Exchange, RunRequest, RunSoFar
from api.retrieval.library import Library, Pinned
from api.retrieval.profiles import Preference
from shared.access import Access
from shared.clock import NowMs, now_ms
from shared.errors import CiteboundError, Conflict, InvalidArgument, StorageError
from shared.ids import ConversationId, RunId, SnapshotId, new_run_id
from shared.llm.port import Chat
from shared.prompts import Bundle
from shared.telemetry.artifacts import trace_level
from shared.telemetry.setup import Telemetry
from shared.types.events import RunCompleted, RunEvent, RunFailed
from shared.types.runs import Answer, CitationMode, Limits, ProtocolName, RunRecord, Scope, WantedPath
from shared.types.traces import TraceLevel

_log = logging.getLogger(__name__)

MAX_QUESTION = 20_000  # code points, in every protocol
CANCELLED = "cancelled"
CLOSE_S = 3.0


def check_length(question: str, *, field: str) -> None:
    """Raises: InvalidArgument."""
    if len(question) > MAX_QUESTION:
        raise InvalidArgument(
            f"The question has {len(question)} characters, {MAX_QUESTION} at most are read."
            " Ask for less at once; to ask about a long text, import it.",
            field=field,
        )


class Ask(Struct, frozen=True, kw_only=True):
    question: str
    limits: Limits
    scope: Scope | None = None
    snapshot_id: SnapshotId | None = None  # None = the active one
    history: tuple[Exchange, ...] = ()
    trace_level: TraceLevel | None = None  # None = the settings'
    prefer: Preference | None = None  # which documents a search puts further in front
    citation_mode: CitationMode = "flag"
    protocol: ProtocolName = "react"
    prompt_bundle: str | None = None  # None = the settings'
    path: WantedPath = "auto"
    conversation_id: str | None = None  # None = a question by itself
    rerun_of: RunId | None = None  # the run that this one repeats


class Recalled(Struct, frozen=True, kw_only=True):
    """What a question of a conversation may lean on. `begins`: nothing of it is stored yet."""

    conversation_id: ConversationId
    history: tuple[Exchange, ...] = ()  # oldest first
    entities: tuple[str, ...] = ()
    begins: bool = False


class Memory(Protocol):
    """api.conversations.Conversations. Blocking."""

    def recall(self, conversation_id: str, access: Access) -> Recalled:
        """Raises: NotFound, StorageError."""
        ...

    def keep(self, recalled: Recalled, answer: Answer, access: Access) -> bool:
        """Whether the conversation is there afterwards."""
        ...


class Bundles(Protocol):
    """shared.bundles.Shelf."""

    def usable(self, name: str | None, *, experiments: bool = True) -> Bundle:
        """Blocking. `experiments`: whether bundles of this installation may be named. Raises: InvalidArgument."""
        ...


class RunAgent(Protocol):
    """api.agent.run.run_agent."""

    async def __call__(
        self,
        request: RunRequest,
        *,
        pinned: Pinned,
        chat: Chat | None,
        bundle: Bundle,
        emit: Callable[[RunEvent], None],
        now_ms: NowMs = now_ms,
        so_far: RunSoFar | None = None,
    ) -> RunRecord: ...


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


class RunDesk:
    def __init__(
        self,
        *,
        library: Library,
        chat: Chat | None,
        bundles: Bundles,
        memory: Memory,
        telemetry: Telemetry,
        run_agent: RunAgent,
        now_ms: NowMs = now_ms,
    ) -> None:
        self._library = library
        self._chat = chat
        self._bundles = bundles
        self._memory = memory
        self._telemetry = telemetry
        self._run_agent = run_agent
        self._now_ms = now_ms
        self._running: dict[RunId, Running] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def begin(self, ask: Ask, access: Access) -> Running:
        """Pin the snapshot and start the run; returns once it has begun.

        Raises: NoSnapshot, NotFound, ScopeNotFound, InvalidArgument, CollectionUnavailable, StorageError, RunCrashed.
        """
        bundle = await asyncio.to_thread(self._bundles.usable, ask.prompt_bundle, experiments=access.is_admin)
        recalled: Recalled | None = None
        if ask.conversation_id is not None:
            recalled = await asyncio.to_thread(self._memory.recall, ask.conversation_id, access)
        pinned = await self._library.pin(ask.snapshot_id, access, prefer=ask.prefer)
        run = Running(new_run_id(self._now_ms()), access)
        task = run.start(lambda: self._answer(run, ask, pinned, bundle, recalled))
        self._running[run.run_id] = run
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._over(run, done, pinned))
        try:
            await run.begun()
        except asyncio.CancelledError:
            run.cancel()
            raise
        return run

    def cancel(self, run_id: RunId, access: Access) -> None:
        """Stop a run on another's behalf. Raises: Conflict when no such run is under way for this caller."""
        run = self._running.get(run_id)
        if run is None or run.settled or not (access.is_admin or access == run.access):
            raise Conflict("No such run is under way; it may be over already.", ids=[run_id])
        run.cancel()

    def count(self) -> int:
        """Runs under way."""
        return len(self._running)

    async def close(self) -> None:
        """Cancel what is under way and wait, `CLOSE_S` at most, until it is recorded."""
        for run in self._running.values():
            run.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSE_S)

    async def _answer(
        self, run: Running, ask: Ask, pinned: Pinned, bundle: Bundle, recalled: Recalled | None
    ) -> RunRecord:
        started_at_ms = self._now_ms()
        so_far = RunSoFar()
        request = RunRequest(
            run_id=run.run_id,
            protocol=ask.protocol,
            question=ask.question,
            limits=ask.limits,
            scope=ask.scope,
            history=ask.history if recalled is None else recalled.history,
            entities=() if recalled is None else recalled.entities,
            conversation_id=None if recalled is None else recalled.conversation_id,
            citation_mode=ask.citation_mode,
            path=ask.path,
        )

        told: list[RunCompleted] = []  # the end is told when the next question can lean on it

        def emit(event: RunEvent) -> None:
            if recalled is not None and isinstance(event, RunCompleted):
                told.append(event)
            elif isinstance(event, RunFailed) and event.answer is not None:
                run.emit(structs.replace(event, answer=_begun(event.answer, recalled)))
            else:
                run.emit(event)

        def cut_off(reason: str) -> RunRecord:
            now_ms = self._now_ms()
            record = _cut_off(request, pinned, so_far, reason=reason, started_at_ms=started_at_ms, now_ms=now_ms)
            return structs.replace(record, answer=_begun(record.answer, recalled))

        try:
            with trace_level(ask.trace_level):
                record = await self._run_agent(
                    request,
                    pinned=pinned,
                    chat=self._chat,
                    bundle=bundle,
                    emit=emit,
                    now_ms=self._now_ms,
                    so_far=so_far,
                )
            run.settle()
        except Exception as error:
            run.settle()
            if run.started or not isinstance(error, CiteboundError):  # else it is what kept the run from beginning
                await self._keep(await asyncio.to_thread(cut_off, "internal_error"), recalled, pinned.access)
            raise
        except asyncio.CancelledError:
            record = await asyncio.to_thread(cut_off, CANCELLED)
            run.emit(
                RunFailed(
                    run_id=run.run_id,
                    code=CANCELLED,
                    message="The run was cancelled.",
                    retryable=False,
                    answer=record.answer,
                )
            )
        record = structs.replace(
            record,
            answer=_begun(record.answer, recalled),
            asker=pinned.access.key_id,
            exchanges=len(request.history),
            rerun_of=ask.rerun_of,
        )
        record = await self._keep(record, recalled, pinned.access)
        for event in told:
            run.emit(structs.replace(event, answer=record.answer))
        return record

    async def _keep(self, record: RunRecord, recalled: Recalled | None, access: Access) -> RunRecord:
        """Keep a run and its turn; where its conversation was deleted meanwhile, neither. As its asker is to see it."""
        self._telemetry.keep(record)
        if recalled is None or await asyncio.to_thread(self._memory.keep, recalled, record.answer, access):
            return record
        if not recalled.begins:
            try:
                await asyncio.to_thread(self._telemetry.forget, [record.answer.run_id])
            except StorageError as error:
                _log.error("run_id=%s of a deleted conversation is not removed: %s", record.answer.run_id, error)
        return structs.replace(record, answer=structs.replace(record.answer, conversation_id=None))

    def _over(self, run: Running, task: asyncio.Task[None], pinned: Pinned) -> None:
        self._tasks.discard(task)
        self._running.pop(run.run_id, None)
        pinned.release()


def _begun(answer: Answer, recalled: Recalled | None) -> Answer:
    """Without the conversation that a failed first question was to begin: it is never stored."""
    never = recalled is not None and recalled.begins and answer.status == "failed"
    return structs.replace(answer, conversation_id=None) if never else answer


def _cut_off(
    request: RunRequest, pinned: Pinned, so_far: RunSoFar, *, reason: str, started_at_ms: int, now_ms: int
) -> RunRecord:
    """What is kept of a run that came to no answer: the question, what it read and what it cost.

    Blocking: counts the tokens of a call that was never answered, up to tens of ms for a full context.
    """
    labels = pinned.access.labels
    return RunRecord(
        answer=Answer(
            run_id=request.run_id,
            status="failed",
            text="",
            citations=(),
            limitations=(),
            termination_reason=reason,
            extractive=False,
            usage=so_far.usage(),
            snapshot_id=pinned.snapshot.snapshot_id,
            snapshot=None,
            manifest=so_far.manifest,
            question=request.question,
            conversation_id=request.conversation_id,
            started_at_ms=started_at_ms,
            duration_ms=now_ms - started_at_ms,
        ),
        ledger=so_far.ledger(),
        retrieval=so_far.retrieval(request.scope),
        access=None if labels is None else tuple(sorted(labels)),
        asker=pinned.access.key_id,
    )


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
