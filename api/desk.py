"""The desk where questions are handed in: starts runs, lets them be cancelled, keeps what came of them.

Both protocols (native, OpenAI) come here. What a run is while it lasts: running.py.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Protocol

from msgspec import Struct, structs

from api.agent.prompting import BundleWording, prompt_lang
from api.agent.run import Exchange, RunRequest, RunSoFar
from api.retrieval.library import Library, Pinned
from api.retrieval.profiles import Preference
from api.running import CANCELLED, CRASHED, Running
from shared.access import Access
from shared.aside import in_turn
from shared.clock import NowMs, now_ms
from shared.errors import CiteboundError, Conflict, InvalidArgument, ServerStopping, StorageError
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

    def at_hand(self, name: str | None) -> Bundle | None: ...

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
        self._stopping = False

    async def begin(self, ask: Ask, access: Access) -> Running:
        """Pin the snapshot and start the run; returns once it has begun.

        Raises: NoSnapshot, NotFound, ScopeNotFound, InvalidArgument, CollectionUnavailable, StorageError, RunCrashed, ServerStopping.
        """
        bundle = self._bundles.at_hand(ask.prompt_bundle) or await asyncio.to_thread(
            self._bundles.usable, ask.prompt_bundle, experiments=access.is_admin
        )
        recalled: Recalled | None = None
        if ask.conversation_id is not None:
            recalled = await asyncio.to_thread(self._memory.recall, ask.conversation_id, access)
        pinned = await self._library.pin(ask.snapshot_id, access, prefer=ask.prefer)
        wording = BundleWording(bundle, prompt_lang(ask.question))
        if self._stopping:
            pinned.release()
            raise ServerStopping("The server is being stopped; it takes no more questions. Ask again when it is back.")
        run = Running(
            new_run_id(self._now_ms()),
            access,
            words=lambda code, error_id: wording.render("failure", code=code, message=error_id),
        )
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

    def stop(self) -> None:
        """Cancel what is under way, begin nothing more: whoever waits gets his run as cancelled."""
        self._stopping = True
        for run in self._running.values():
            run.cancel()

    async def close(self) -> None:
        """`stop`, and wait, `CLOSE_S` at most, until everything is recorded."""
        self.stop()
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

        async def cut_off(reason: str) -> RunRecord:
            """After the piece of the run that a thread may still be at, which changes what is recorded here."""
            now_ms = self._now_ms()
            cut = partial(_cut_off, request, pinned, so_far, reason=reason, text=run.text_of(reason))
            record = await in_turn(lambda: cut(started_at_ms=started_at_ms, now_ms=now_ms))
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
                await self._keep(await cut_off(CRASHED), recalled, pinned.access)
            raise
        except asyncio.CancelledError:
            record = await cut_off(CANCELLED)
            run.emit(
                RunFailed(
                    run_id=run.run_id,
                    code=CANCELLED,
                    message=record.answer.text,
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
    request: RunRequest, pinned: Pinned, so_far: RunSoFar, *, reason: str, text: str, started_at_ms: int, now_ms: int
) -> RunRecord:
    """What is kept of a run that came to no answer: the question, what it read and what it cost.

    Blocking: counts the tokens of a call that was never answered, up to tens of ms for a full context.
    """
    labels = pinned.access.labels
    return RunRecord(
        answer=Answer(
            run_id=request.run_id,
            status="failed",
            text=text,
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
