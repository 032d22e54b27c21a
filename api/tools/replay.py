"""Carry out a run's tool calls again: on its snapshot, in its scope, in its way of searching, with no more access than it had and the caller has.

Byte for byte the same payload is the same; anything else is shown. What can't be tried says why.
Source: spec/06 "Four kinds of again"; decision 0068.
"""

import asyncio
import hashlib
from collections.abc import Callable, Collection, Iterator

import msgspec
from msgspec import structs

from api.retrieval.library import Library, Pinned
from api.retrieval.profiles import preference_in
from api.tools import difference
from api.tools.contract import TOOL_CONTRACT_VERSION, ToolResult
from api.tools.recording import fingerprint, seen_hash
from api.tools.toolbox import Toolbox
from shared.access import Access
from shared.errors import CollectionUnavailable, NotFound, ScopeNotFound
from shared.ids import BlockId
from shared.telemetry import names
from shared.telemetry.tracing import tracer
from shared.text.terms import QUERIED
from shared.types.replays import (
    CallOutcome,
    Changed,
    Difference,
    Lost,
    Outcome,
    Reason,
    Replay,
    ReplayedCall,
    VersionChange,
)
from shared.types.runs import Fingerprint, LedgerEntry, RecordedCall, RunManifest, RunRecord
from shared.version import APP_VERSION, app_build

BROKEN = frozenset({"collection_unavailable", "upstream_unavailable", "tool_internal_error"})
Hindrance = tuple[Reason, str]  # and what to tell of it
KeptPayload = Callable[[str], bytes | None]  # by its SHA-256; blocking

_BUILD = 12  # characters of its hash that people compare
_NOTHING: Hindrance = ("nothing_to_compare", "No tool call of this run had seen anything.")
_NOT_RECORDED: Hindrance = ("not_recorded", "This run is from before tool calls were kept; it can't be repeated.")


async def replay(record: RunRecord, *, library: Library, access: Access, kept: KeptPayload) -> Replay:
    """`access`: of the caller, who may read the run. Costs the queries' embeddings once more.

    Raises: StorageError.
    """
    manifest, retrieval = record.answer.manifest, record.retrieval
    if retrieval is not None and (manifest is None or not retrieval.calls):
        return _impossible(record, *_NOTHING)
    if manifest is None or retrieval is None:
        return _impossible(record, *_NOT_RECORDED)
    with tracer.start_as_current_span(names.REPLAY) as span:
        span.set_attributes({names.REPLAYED_RUN: record.answer.run_id, names.SNAPSHOT_ID: manifest.snapshot_id})
        pinned = await pin_again(record, library=library, access=access)
        if isinstance(pinned, tuple):
            return _impossible(record, *pinned)
        async with pinned:
            scope = await pinned.resolve_scope(retrieval.scope)
            toolbox = Toolbox(pinned, scope=scope)
            again = _Again(pinned, toolbox, manifest=manifest, ledger=record.ledger, kept=kept)
            calls = [await again.call(one) for one in retrieval.calls]
        return structs.replace(
            _judged(record, {call.outcome for call in calls}),
            calls=tuple(calls),
            embedding_tokens=again.embedding_tokens,
            rerank_tokens=again.rerank_tokens,
        )


async def pin_again(record: RunRecord, *, library: Library, access: Access) -> Pinned | Hindrance:
    """The run's snapshot in the run's way of searching, for what both the run and the caller could read; or what stands against it.

    Its scope resolves. Raises: StorageError.
    """
    manifest, retrieval = record.answer.manifest, record.retrieval
    if manifest is None or retrieval is None:
        return _NOT_RECORDED
    shared = common_access(record.access, access)
    if shared.labels is not None and (record.access is None or not shared.labels.issuperset(record.access)):
        return "access_reduced", "The run could read more than you may now; ask again instead."
    try:
        pinned = await library.pin(manifest.snapshot_id, shared, prefer=preference_in(manifest.retrieval_profile))
    except NotFound as error:
        return "snapshot_gone", error.message
    except CollectionUnavailable as error:
        return "snapshot_unusable", error.message
    if pinned.snapshot.manifest_sha256 != manifest.snapshot_manifest_sha256:
        pinned.release()
        return "snapshot_differs", f"{manifest.snapshot_id} is not the snapshot that the run read."
    try:
        await pinned.resolve_scope(retrieval.scope)
    except ScopeNotFound as error:
        pinned.release()
        return "scope_gone", error.message
    except BaseException:
        pinned.release()
        raise
    return pinned


class _Again:
    """One replay's calls, and what they cost."""

    def __init__(
        self,
        pinned: Pinned,
        toolbox: Toolbox,
        *,
        manifest: RunManifest,
        ledger: tuple[LedgerEntry, ...],
        kept: KeptPayload,
    ) -> None:
        self.embedding_tokens = 0
        self.rerank_tokens = 0
        self._pinned = pinned
        self._toolbox = toolbox
        self._manifest = manifest
        self._ledger = ledger
        self._kept = kept

    async def call(self, one: RecordedCall) -> ReplayedCall:
        told = ReplayedCall(
            turn=one.turn, tool=one.tool, arguments=one.arguments, outcome="impossible", then=one.came_to
        )
        if one.came_to is None:
            return structs.replace(told, outcome="skipped", reason="unfinished_then")
        if one.error_code in BROKEN:
            return structs.replace(told, outcome="skipped", reason="failed_then", detail=one.error_code)
        if hashlib.sha256(one.arguments.encode()).hexdigest() != one.arguments_sha256:
            return structs.replace(told, reason="arguments_removed")
        if one.tool == "search_blocks" and (lacks := missing(self._pinned, self._manifest)) is not None:
            reason, detail = lacks
            return structs.replace(told, reason=reason, detail=detail)
        result = await self._toolbox.call(one.tool, msgspec.json.decode(one.arguments))
        self.embedding_tokens += result.embedding_tokens
        self.rerank_tokens += result.rerank_tokens
        now = await asyncio.to_thread(fingerprint, result)
        if result.error_code in BROKEN:
            message = msgspec.json.decode(result.payload)["error"]["message"]
            return structs.replace(told, reason="upstream_failed", detail=message)
        if now.payload_sha256 == one.came_to.payload_sha256:
            return structs.replace(told, outcome="same", now=now)
        found = await self._compared(one, one.came_to, now, result)
        return structs.replace(told, outcome="different", now=now, difference=found)

    async def _compared(self, one: RecordedCall, then: Fingerprint, now: Fingerprint, result: ToolResult) -> Difference:
        gone = difference.lost(then, now)
        visible = await self._visible([block_id for _, block_id in gone])
        seen = {block.block_id: block.seen for block in result.seen}
        payload = await asyncio.to_thread(self._kept, then.payload_sha256)
        return Difference(
            gained=difference.gained(then, now),
            lost=tuple(Lost(block_id=block_id, rank=rank, visible=block_id in visible) for rank, block_id in gone),
            moved=difference.moved(then, now),
            changed=tuple(
                Changed(block_id=block_id, then=self._shown_then(block_id, then), now=seen[block_id])
                for block_id in difference.changed(then, now)
            ),
            error_then=one.error_code,
            error_now=result.error_code,
            payload=()
            if payload is None
            else await asyncio.to_thread(difference.payload_lines, payload, result.payload),
        )

    async def _visible(self, block_ids: list[BlockId]) -> frozenset[BlockId]:
        if not block_ids:
            return frozenset()
        found = await self._pinned.read(lambda catalog: catalog.blocks_by_id(self._pinned.within(), block_ids))
        return frozenset(found)

    def _shown_then(self, block_id: BlockId, then: Fingerprint) -> str | None:
        wanted = dict(zip(then.block_ids, then.texts, strict=True))[block_id]
        return next(
            (
                entry.seen
                for entry in self._ledger
                if entry.block_id == block_id and seen_hash(entry.table_header, entry.seen) == wanted
            ),
            None,
        )


def missing(pinned: Pinned, manifest: RunManifest) -> Hindrance | None:
    """What a search needs and this process has not."""
    try:
        pinned.check_searchable()
    except CollectionUnavailable as error:
        queried = pinned.snapshot.keyword_version in QUERIED
        return "embedding_differs" if queried else "keywords_differ", error.message
    then, now = manifest.retrieval_profile, pinned.profile.name
    if then != now:
        return "profile_differs", f"The run searched with {then}, this process searches with {now}."
    return None


def common_access(run_access: tuple[str, ...] | None, caller: Access) -> Access:
    """What both could see."""
    if run_access is None:
        return caller
    then = frozenset(run_access)
    return structs.replace(caller, labels=then if caller.labels is None else then & caller.labels)


def since(manifest: RunManifest) -> tuple[VersionChange, ...]:
    found = (
        VersionChange(what="app_version", then=manifest.app_version, now=APP_VERSION),
        *_other_build(manifest),
        VersionChange(what="tool_contract_version", then=manifest.tool_contract_version, now=TOOL_CONTRACT_VERSION),
    )
    return tuple(one for one in found if one.then != one.now)


def _other_build(manifest: RunManifest) -> Iterator[VersionChange]:
    """Of the same version: another version is another build anyway."""
    if manifest.app_build and manifest.app_version == APP_VERSION:
        yield VersionChange(what="app_build", then=manifest.app_build[:_BUILD], now=app_build()[:_BUILD])


def _judged(record: RunRecord, calls: Collection[CallOutcome]) -> Replay:
    if "different" in calls:
        return _ended(record, "different")
    if "impossible" in calls:
        return _ended(record, "impossible")
    return _ended(record, "same") if "same" in calls else _impossible(record, *_NOTHING)


def _impossible(record: RunRecord, reason: Reason, detail: str) -> Replay:
    return structs.replace(_ended(record, "impossible"), reason=reason, detail=detail)


def _ended(record: RunRecord, outcome: Outcome) -> Replay:
    manifest = record.answer.manifest
    return Replay(
        run_id=record.answer.run_id,
        snapshot_id=record.answer.snapshot_id,
        retrieval_profile=None if manifest is None else manifest.retrieval_profile,
        outcome=outcome,
        since=() if manifest is None else since(manifest),
    )
