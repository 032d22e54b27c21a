"""Ask a run's question again under what it was bound to, and judge what comes. Pure but for `Again`."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from itertools import pairwise

from msgspec import structs

from api.agent.extractive import EXTRACTIVE_MODEL
from api.desk import Ask
from api.parts import Parts
from api.retrieval.profiles import preference_in
from api.tools.replay import common_access, missing, pin_again, since
from shared.access import Access
from shared.errors import InvalidArgument, NotFound
from shared.telemetry.runfile import hashes_in
from shared.types.again import Audit, Failure, Missing, Once, Possible, Rerun, RerunWanted
from shared.types.runs import Limits, RunManifest, RunRecord
from shared.types.traces import Trace

Against = tuple[Missing, str]  # and what to tell of it
Asking = Callable[[Ask, Access], Awaitable[RunRecord]]


async def audit(parts: Parts, record: RunRecord, trace: Trace, access: Access) -> Audit:
    """What is possible now, for this caller. Raises: StorageError."""
    manifest = record.answer.manifest
    replay, rerun = await _hindrances(parts, record, access)
    return Audit(
        run_id=record.answer.run_id,
        rerun_of=record.rerun_of,
        versions=manifest,
        since=() if manifest is None else since(manifest),
        again=(
            _audit(manifest, trace),
            await asyncio.to_thread(_evidence, parts, trace),
            _possible(Possible(kind="replay", possible=True), replay),
            _possible(Possible(kind="rerun", possible=True), rerun),
        ),
    )


async def rerun(
    parts: Parts,
    record: RunRecord,
    wanted: RerunWanted,
    *,
    access: Access,
    limits: Limits,
    asking: Asking,
    told: Callable[[Once], None] = lambda _: None,
) -> Rerun:
    """One after the other. `limits`: the most that a run of this caller may take. `told`: of each as it ends. Raises: what asking raises."""
    answer, manifest, retrieval = record.answer, record.answer.manifest, record.retrieval
    found = Rerun(
        run_id=answer.run_id,
        snapshot_id=answer.snapshot_id,
        criterion="same_status_and_documents" if wanted.expected_quote is None else "expected_quote",
        possible=False,
        since=() if manifest is None else since(manifest),
    )
    _, hindrance = await _hindrances(parts, record, access)
    if hindrance is not None or manifest is None or retrieval is None:
        reason, detail = hindrance or ("never_began", "")
        return structs.replace(found, reason=reason, detail=detail)
    ask = Ask(
        question=answer.question,
        limits=_within(manifest.limits, limits),
        scope=retrieval.scope,
        snapshot_id=manifest.snapshot_id,
        prefer=preference_in(manifest.retrieval_profile),
        citation_mode=manifest.citation_mode,
        protocol="tools" if manifest.protocol == "tools" else "react",
        prompt_bundle=manifest.prompt_bundle,
        path=manifest.path if manifest.path_reason == "forced" else "auto",
        rerun_of=answer.run_id,
    )
    mine = common_access(record.access, access)
    runs: list[Once] = []
    for _ in range(wanted.times):
        runs.append(_judged(await asking(ask, mine), record, wanted.expected_quote))
        told(runs[-1])
    return structs.replace(found, possible=True, **_summed(tuple(runs)))


def _summed(runs: tuple[Once, ...]) -> dict[str, object]:
    passed = sum(one.passed for one in runs)
    return {
        "passed": passed,
        "pass_rate": passed / len(runs),
        "flips": sum(one.passed != other.passed for one, other in pairwise(runs)),
        "failures": dict(Counter(one.failure for one in runs if one.failure is not None)),
        "runs": runs,
    }


def _judged(now: RunRecord, then: RunRecord, expected: str | None) -> Once:
    answer = now.answer
    failure = _failure(now, then, expected)
    return Once(
        run_id=answer.run_id,
        status=answer.status,
        termination_reason=answer.termination_reason,
        documents=tuple(sorted({citation.doc_id for citation in answer.citations})),
        passed=failure is None,
        failure=failure,
        chat_tokens=answer.usage.chat_input_tokens + answer.usage.chat_output_tokens,
        duration_ms=answer.duration_ms,
    )


def _failure(now: RunRecord, then: RunRecord, expected: str | None) -> Failure | None:
    if expected is not None:
        if now.answer.status == "failed":
            return "run_failed"
        shown = (now.answer.text, *(citation.quote for citation in now.answer.citations))
        return None if any(_plain(expected) in _plain(text) for text in shown) else "quote_missing"
    if now.answer.status != then.answer.status:
        return "run_failed" if now.answer.status == "failed" else "other_status"
    cited = [{citation.doc_id for citation in one.answer.citations} for one in (now, then)]
    return None if cited[0] == cited[1] else "other_documents"


def _plain(text: str) -> str:
    """However it is broken into lines."""
    return "".join(text.split())


def _within(then: Limits, most: Limits) -> Limits:
    """The run's limits, each at most what the caller may spend now."""
    return Limits(**{name: min(value, getattr(most, name)) for name, value in structs.asdict(then).items()})


async def _hindrances(parts: Parts, record: RunRecord, access: Access) -> tuple[Against | None, Against | None]:
    """What stands against a replay, and against a rerun."""
    manifest = record.answer.manifest
    if manifest is None:
        none: Against = ("never_began", "The run failed before anything was bound to it.")
        return none, none
    called = record.retrieval is None or bool(record.retrieval.calls)
    pinned = await pin_again(record, library=parts.library, access=access)
    if isinstance(pinned, tuple):
        return (pinned if called else None), pinned
    async with pinned:
        found = missing(pinned, manifest)
    searched = record.retrieval is not None and any(call.tool == "search_blocks" for call in record.retrieval.calls)
    return (found if searched else None), found or await asyncio.to_thread(_unlike, parts, record, manifest, access)


def _unlike(parts: Parts, record: RunRecord, manifest: RunManifest, access: Access) -> Against | None:
    """What else a run would be bound to that is another now."""
    if record.exchanges or (record.exchanges is None and record.answer.conversation_id is not None):
        return (
            "conversation",
            "The run leaned on what was said before it, which it does not hold; ask in the conversation.",
        )
    model = parts.chat_model or EXTRACTIVE_MODEL
    if model != manifest.model:
        return "model_differs", f"The run was answered by {manifest.model}, this process answers with {model}."
    try:
        bundle = parts.prompts.usable(manifest.prompt_bundle)
    except (InvalidArgument, NotFound) as error:
        why = f" {error.message}" if access.is_admin else ""  # it names other bundles, and folders of the server
        return "bundle_differs", f"{manifest.prompt_bundle} can't be used any more.{why}"
    if bundle.sha256 != manifest.prompt_bundle_sha256:
        return "bundle_differs", f"{bundle.name} has other words now than when the run read it."
    return None


def _possible(told: Possible, hindrance: Against | None) -> Possible:
    if hindrance is None:
        return told
    return structs.replace(told, possible=False, reason=hindrance[0], detail=hindrance[1])


def _audit(manifest: RunManifest | None, trace: Trace) -> Possible:
    if manifest is None:
        return Possible(kind="audit", possible=False, reason="never_began", detail="No version was bound to it.")
    detail = f"{trace.lost_spans} spans of its trace are known to be lost." if trace.partial else None
    return Possible(kind="audit", possible=True, reason="trace_partial" if trace.partial else None, detail=detail)


def _evidence(parts: Parts, trace: Trace) -> Possible:
    """Whether every content that the spans speak of is kept. Blocking."""
    no = Possible(kind="evidence", possible=False)
    ledger = "The blocks that were admitted are in its evidence all the same."
    if not trace.spans:
        return structs.replace(no, reason="trace_gone", detail=f"No span of the run is kept. {ledger}")
    hashes = list(hashes_in(trace.spans))
    gone = sum(not parts.telemetry.artifacts.path(sha256).exists() for sha256 in hashes)
    if gone:
        detail = f"{gone} of {len(hashes)} contents were not kept; ask with trace level full. {ledger}"
        return structs.replace(no, reason="contents_not_kept", detail=detail)
    if trace.partial:
        return structs.replace(no, reason="trace_partial", detail=f"Part of the trace was lost. {ledger}")
    return Possible(kind="evidence", possible=True)
