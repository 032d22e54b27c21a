"""One question, one run, one answer: the agent's only door.

The loop decides (loop.py), the driver acts (drive.py), finish.py verifies; this module gives them their parts and tells
the caller and the trace what happens.
"""

import asyncio
from collections.abc import Callable
from functools import lru_cache

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from api.agent import gaps
from api.agent.budget import within_window
from api.agent.decisions import Finish
from api.agent.drive import Answerer, Driver, ModelAnswerer, Stopwatch, Tools, drive
from api.agent.extractive import EXTRACTIVE_MODEL, ExtractiveAnswerer
from api.agent.finish import finishing
from api.agent.loop import LOOP_VERSION
from api.agent.paths.follow_up import carried, named_after
from api.agent.paths.leaning import leans
from api.agent.paths.router import Route, route
from api.agent.paths.walk import walk
from api.agent.prompting import BundleWording, Exchange, asked, counting, opening, prompt_lang
from api.agent.so_far import RunSoFar
from api.agent.state import State
from api.agent.telling import describe, tell, trace_citations
from api.retrieval.library import Pinned
from api.tools.registry import TOOL_CONTRACT_VERSION, Toolbox
from shared.aside import aside, at_once, in_slices
from shared.clock import NowMs, now_ms
from shared.ids import ConversationId, RunId
from shared.llm.port import Chat, ChatProfile
from shared.prompts import Bundle
from shared.telemetry import names
from shared.telemetry.artifacts import attach, keeps_contents
from shared.telemetry.tracing import tracer
from shared.text.terms import terms
from shared.text.tokens import count_tokens
from shared.types.events import RunEvent, RunStarted
from shared.types.runs import (
    Answer,
    CitationMode,
    Limitation,
    Limits,
    ProtocolName,
    RunManifest,
    RunRecord,
    Scope,
    WantedPath,
)
from shared.types.snapshots import FailedDocument
from shared.version import APP_VERSION, app_build

__all__ = ["Exchange", "RunRequest", "RunSoFar", "run_agent"]

LOOKED_BACK = 40  # exchanges that a question which leans may lean on, as many as a stored conversation gives
VERIFIED_AT_ONCE = 200  # code points of an answer: some two claims, each 2 ms and more against new evidence


class RunRequest(Struct, frozen=True, kw_only=True):
    run_id: RunId
    question: str
    limits: Limits = Limits()
    scope: Scope | None = None
    history: tuple[Exchange, ...] = ()  # oldest first
    entities: tuple[str, ...] = ()  # that the conversation has named, the latest last
    conversation_id: ConversationId | None = None
    path: WantedPath = "auto"
    protocol: ProtocolName = "react"
    citation_mode: CitationMode = "flag"


async def run_agent(
    request: RunRequest,
    *,
    pinned: Pinned,
    chat: Chat | None,
    bundle: Bundle,
    emit: Callable[[RunEvent], None],
    now_ms: NowMs = now_ms,
    so_far: RunSoFar | None = None,
) -> RunRecord:
    """Answer one question on one pinned snapshot; `chat` None = the built-in extractive answerer.

    `so_far`: pass an empty one to know what was spent, seen and pinned when the run is cut off by cancellation or a bug.

    `emit` gets every event in order and must not block. A run that fails is an Answer with status "failed" and a
    RunFailed event, never an exception.
    Raises: ScopeNotFound, InvalidArgument, StorageError before anything is emitted. CancelledError passes, spans ended.
    """
    if not warm_up.cache_info().currsize:
        await asyncio.to_thread(warm_up)
    scope = await pinned.resolve_scope(request.scope)
    if chat is None:
        request = replace(request, protocol="react")  # the only one that the built-in answerer speaks
    else:  # a limit above what the model takes at once would only cost a refused call
        request = replace(request, limits=within_window(request.limits, chat.window_tokens))
    plain = request.question
    if request.history and leans(plain):
        said = sum(len(one.question) + len(one.answer) for one in request.history[-LOOKED_BACK:])
        plain = await aside(said, lambda: _standing_alone(request))
    sourced = request.scope is not None or request.citation_mode == "strict"
    chosen = route(plain, wanted=request.path, has_model=chat is not None, sourced=sourced, asked=request.question)
    with tracer.start_as_current_span(names.RUN) as span:
        so_far = so_far or RunSoFar()
        manifest = so_far.manifest = _manifest(request, pinned, chat, bundle, chosen)
        span.set_attributes(
            {
                names.OPERATION: "invoke_agent",
                names.AGENT_NAME: "citebound",
                names.TRACE_LEVEL: "full" if keeps_contents() else "metadata",
                names.RUN_ID: request.run_id,
                names.SNAPSHOT_ID: manifest.snapshot_id,
                names.MANIFEST: msgspec.json.encode(manifest, order="deterministic").decode(),
            }
        )
        if request.conversation_id is not None:
            span.set_attribute(names.CONVERSATION, request.conversation_id)
        attach(span, "question", request.question)
        record = await _run(
            request,
            manifest,
            plain,
            chosen,
            pinned=pinned,
            chat=chat,
            tools=Toolbox(pinned, scope=scope),
            wording=BundleWording(bundle, prompt_lang(request.question)),
            emit=emit,
            now_ms=now_ms,
            so_far=so_far,
        )
        describe(span, record.answer)
        return record


@lru_cache(maxsize=1)
def warm_up() -> None:
    """Read what the first run would wait for from disk: token ranks, dictionaries, its own build. Blocking, once per process."""
    count_tokens("")
    terms("預熱 warm up")
    app_build()


async def _run(
    request: RunRequest,
    manifest: RunManifest,
    plain: str,
    chosen: Route,
    *,
    pinned: Pinned,
    chat: Chat | None,
    tools: Tools,
    wording: BundleWording,
    emit: Callable[[RunEvent], None],
    now_ms: NowMs,
    so_far: RunSoFar,
) -> RunRecord:
    started_at_ms, watch = now_ms(), Stopwatch()
    gap = gaps.gap(pinned.snapshot, pinned.access, documents=await _visible_documents(pinned))
    emit(RunStarted(run_id=request.run_id, snapshot_id=manifest.snapshot_id))
    scoped = request.scope is not None
    missing: tuple[FailedDocument, ...] = ()
    if gap.failed_documents:  # there may be thousands
        first = not request.history  # it was told before
        missing = await asyncio.to_thread(gaps.chosen, gap, question=request.question, first=first)
    named = gaps.lines(missing)
    question = await aside(
        sum(len(one.question) + len(one.answer) for one in request.history),
        lambda: asked(request.question, plain=plain, history=request.history, named=named, count=count_tokens),
    )
    start = opening(
        question,
        wording=wording,
        limits=request.limits,
        snapshot=pinned.snapshot,
        gap=gap,
        scoped=scoped,
        protocol=request.protocol,
    )

    count = counting(start.system)
    answerer: Answerer
    if chat is None:
        answerer = ExtractiveAnswerer(plain, wording, watch, scoped=scoped)
    else:
        answerer = ModelAnswerer(chat, watch, so_far=so_far)
    driver = Driver(
        answerer=answerer,
        tools=tools,
        count=count,
        emit=emit,
        called=so_far.calls.append,
        watch=watch,
        now_ms=now_ms,
        checking=chosen.path == "verify" or request.citation_mode == "strict",
    )
    so_far.state = State(start, wording=wording, count=count)
    mode = "flag" if chosen.path == "direct" else request.citation_mode  # what nothing was looked up for has no sources
    strict = chat is not None and mode == "strict"
    steps = walk(so_far.state, question, chosen, has_model=chat is not None, strict=strict)
    outcome = await drive(steps, driver)
    standing = gaps.limitations(gap, named=missing, wording=wording, looked_up=bool(so_far.calls))
    if chat is None:
        text = wording.render("limitation", code="extractive_answer")
        standing = (*standing, Limitation(code="extractive_answer", text=text))

    verifying = finishing(
        outcome, wording=wording, question=request.question, standing=standing, mode=mode, fixed=chat is None
    )
    long = isinstance(outcome.ending, Finish) and len(outcome.ending.text) > VERIFIED_AT_ONCE
    verified = await in_slices(verifying) if long else at_once(verifying)
    answer = Answer(
        run_id=request.run_id,
        status=verified.status,
        text=verified.text,
        citations=verified.citations,
        limitations=verified.limitations,
        termination_reason=verified.reason,
        extractive=chat is None,
        usage=outcome.spent,
        snapshot_id=manifest.snapshot_id,
        snapshot=gap,
        manifest=manifest,
        question=request.question,
        started_at_ms=started_at_ms,
        duration_ms=watch.elapsed_ms(),
        claims=verified.checks,
        conversation_id=request.conversation_id,
    )
    trace_citations(verified)
    tell(answer, outcome, emit)
    labels = pinned.access.labels
    return RunRecord(
        answer=answer,
        ledger=outcome.ledger.entries,
        access=None if labels is None else tuple(sorted(labels)),
        retrieval=so_far.retrieval(request.scope),
    )


def _standing_alone(request: RunRequest) -> str:
    """The question as words alone make it understandable without the conversation."""
    last, entities = "", request.entities
    for exchange in request.history[-LOOKED_BACK:]:  # each may itself have leaned on the one before
        last = carried(exchange.question, last=last, entities=()) if last else exchange.question
        entities = named_after(entities, question=last, answer=exchange.answer)
    return carried(request.question, last=last, entities=entities)


async def _visible_documents(pinned: Pinned) -> int:
    if pinned.access.labels is None:
        return pinned.snapshot.documents
    return len(await pinned.read(lambda catalog: catalog.documents(pinned.within())))


def _manifest(request: RunRequest, pinned: Pinned, chat: Chat | None, bundle: Bundle, chosen: Route) -> RunManifest:
    snapshot, profile = pinned.snapshot, ChatProfile() if chat is None else chat.profile
    return RunManifest(
        app_version=APP_VERSION,
        loop_version=LOOP_VERSION,
        protocol=request.protocol,
        tool_contract_version=TOOL_CONTRACT_VERSION,
        retrieval_profile=pinned.profile.name,
        prompt_bundle=bundle.name,
        prompt_bundle_sha256=bundle.sha256,
        model=EXTRACTIVE_MODEL if chat is None else chat.model,
        embedding_version=snapshot.embedding_version,
        keyword_version=snapshot.keyword_version,
        snapshot_id=snapshot.snapshot_id,
        snapshot_manifest_sha256=snapshot.manifest_sha256 or "",
        limits=request.limits,
        access_sha256=pinned.access.sha256(),
        citation_mode=request.citation_mode,
        prompt_bundle_origin=bundle.origin,
        prompt_bundle_parent=bundle.manifest.parent,
        path=chosen.path,
        path_reason=chosen.reason,
        app_build=app_build(),
        model_settings=profile.name,
        model_settings_sha256=profile.sha256,
    )
