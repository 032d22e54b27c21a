"""From finished documents to a snapshot that answers: plan on the active one, and publish unless it moved meanwhile."""

import logging
from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from shared.catalog.building import (
    NewSnapshot,
    Verdict,
    abandon_snapshot,
    base_members,
    begin_snapshot,
    choose_base,
    damaged_members,
    finished_members,
    lost_members,
    unfinished_snapshots,
)
from shared.catalog.building import publish as publish_snapshot
from shared.catalog.db import Database
from shared.catalog.items import list_items
from shared.catalog.retention import finish_removal
from shared.catalog.snapshots import get_snapshot, intact_manifest, membership_sha256, snapshot_documents
from shared.catalog.sources import list_sources
from shared.errors import CollectionUnavailable, Conflict, StorageError, UpstreamError
from shared.ids import SnapshotId, SourceId, new_snapshot_id
from shared.types.imports import ImportItem, ImportRequest
from shared.types.snapshots import FailedDocument, Snapshot, SnapshotDocument, SnapshotManifest
from shared.vectors.port import Vectors
from worker.stages.index import Built
from worker.stages.places import requested_places
from worker.stages.seal import manifest
from worker.stages.target import Base, Membership, membership, same_content
from worker.stages.work import ImportFailed, Stopped, Work

_log = logging.getLogger(__name__)


class Space(Struct, frozen=True, kw_only=True):
    """What makes vectors and terms comparable; all blocks of a snapshot share it."""

    embedding_version: str
    dimensions: int
    keyword_version: str
    index: str  # adapter and parameters


class Plan(Struct, frozen=True, kw_only=True):
    base_snapshot_id: SnapshotId | None
    membership: Membership
    unchanged: bool  # the base already is what would be published
    foreign: tuple[SnapshotDocument, ...]  # carried over from a base with another embedding version: no vectors yet
    begin_with: SnapshotId | None  # the base, if its collection is of the same space


def plan_snapshot(work: Work, request: ImportRequest, space: Space, vectors: Vectors) -> Plan:
    """Decide what the next snapshot holds, on the base that is active now.

    Raises: ImportFailed when the import has nothing usable; UpstreamError (a vector server).
    """
    base_id = choose_base(work.db, work.import_id, work.worker)
    items = list_items(work.db, work.import_id)
    made = finished_members(work.db, work.import_id)
    _check_usable(request, items, made, has_base=base_id is not None)
    places = requested_places(work.db, request)

    def covers(source_id: SourceId, key: str) -> bool:
        return any(place.covers(source_id, key) for place in places)

    labels = {source.source_id: source.label for source in list_sources(work.db)}
    stored = [] if base_id is None else snapshot_documents(work.db, base_id)
    renamed = {one.source_label: labels.get(one.source_id, one.source_label) for one in stored}
    base = Base() if base_id is None else _base(work, base_id, renamed)
    target = membership(base, mode=request.mode, made=made, items=items, covers=covers, labels=labels)
    if base_id is None:
        return Plan(base_snapshot_id=None, membership=target, unchanged=False, foreign=(), begin_with=None)
    there = get_snapshot(work.db, base_id)
    facts = intact_manifest(work.db, base_id)
    usable = facts is not None and _space_of(facts) == space and _is_stated(work, facts, there)
    fresh = {member.doc_id for member in made}
    foreign = () if there.embedding_version == space.embedding_version else target.members
    return Plan(
        base_snapshot_id=base_id,
        membership=target,
        unchanged=facts is not None and usable and same_content(target, base, stored) and _opens(facts, vectors),
        foreign=tuple(member for member in foreign if member.doc_id not in fresh),
        begin_with=base_id if usable else None,
    )


def open_snapshot(work: Work, plan: Plan, space: Space, vectors: Vectors) -> SnapshotId:
    """Write the plan down as a snapshot under construction, in place of what earlier tries left.

    Always under a new id: a builder that is still at work for a killed worker writes into a folder nobody will look at.
    Raises: StorageError, Stopped when the lease was lost.
    """
    abandoned = unfinished_snapshots(work.db, work.import_id, work.worker)
    drop_unfinished(work.db, abandoned, vectors, now_ms=work.now_ms())
    snapshot_id = new_snapshot_id(work.now_ms())
    new = NewSnapshot(
        snapshot_id=snapshot_id,
        import_id=work.import_id,
        base_snapshot_id=plan.base_snapshot_id,
        members=plan.membership.members,
        failures=plan.membership.failures,
        embedding_version=space.embedding_version,
        dimensions=space.dimensions,
        keyword_version=space.keyword_version,
    )
    if not begin_snapshot(work.db, new, worker=work.worker, now_ms=work.now_ms()):
        abandon_snapshot(work.db, snapshot_id, now_ms=work.now_ms())
        raise Stopped
    return snapshot_id


def drop_unfinished(db: Database, snapshots: Iterable[SnapshotId], vectors: Vectors, *, now_ms: int) -> None:
    """Take away what was begun and will never be published. What a builder still writes to is retention's, when it has ended.

    Decided first, then carried out: a builder that begins in between finds its snapshot abandoned (stages/index.py).
    Raises: StorageError, UpstreamError (a vector server).
    """
    for snapshot_id in snapshots:
        abandon_snapshot(db, snapshot_id, now_ms=now_ms)
        try:
            vectors.drop(snapshot_id)
        except Conflict:
            continue
        finish_removal(db, snapshot_id)


def drop_own(db: Database, snapshot_id: SnapshotId, vectors: Vectors, *, now_ms: int) -> None:
    """`drop_unfinished` for a worker whose builder has just ended without a result.

    Room first: the disk may be too full to write anything down. What can't be done now, retention does.
    """
    try:
        vectors.drop(snapshot_id)
        drop_unfinished(db, [snapshot_id], vectors, now_ms=now_ms)
    except (Conflict, StorageError, UpstreamError) as error:
        _log.warning("snapshot_id=%s unfinished, can't be removed yet: %s", snapshot_id, error.message)


def state_facts(
    snapshot_id: SnapshotId, plan: Plan, built: Built, *, space: Space, chunker_version: str
) -> SnapshotManifest:
    """The manifest: what was checked when the collection was sealed, and is checked again when it is opened."""
    return manifest(
        plan.membership.members,
        snapshot_id=snapshot_id,
        base_snapshot_id=plan.base_snapshot_id,
        failed=len(plan.membership.failures),
        embedding_version=space.embedding_version,
        dimensions=space.dimensions,
        keyword_version=space.keyword_version,
        chunker_version=chunker_version,
        index=space.index,
        collection_files=built.files,
        build_ms=built.build_ms,
    )


def publish(work: Work, facts: SnapshotManifest, *, activate: bool) -> Verdict:
    """One transaction: the snapshot turns ready, the import completed and, when asked, the pointer moves."""
    stated = replace(facts, membership_sha256=membership_sha256(work.db, facts.snapshot_id))
    return publish_snapshot(
        work.db, stated, import_id=work.import_id, worker=work.worker, activate=activate, now_ms=work.now_ms()
    )


def _base(work: Work, base_id: SnapshotId, renamed: Mapping[str, str]) -> Base:
    """A document whose stored text was found changed is never carried over: it becomes a gap that says so.

    renamed: what the base's sources are called now; its gaps know them by the names they had.
    """
    damaged = damaged_members(work.db, base_id)
    gone = {member.doc_id for member in damaged}
    return Base(
        members=[member for member in base_members(work.db, base_id) if member.doc_id not in gone],
        failures=(
            *(
                replace(gap, source_label=renamed.get(gap.source_label, gap.source_label))
                for gap in get_snapshot(work.db, base_id).failed_documents
            ),
            *(_damage(member.source_label, member.key) for member in damaged),
            *(_damage(source_label, key) for source_label, key in lost_members(work.db, base_id)),
        ),
    )


def _damage(source_label: str, key: str) -> FailedDocument:
    return FailedDocument(
        source_label=source_label,
        key=key,
        stage="index",
        code="damaged",
        reason="What is stored of this document is not what was imported. Import it again, or reindex.",
        attempts=1,
        retryable=True,
    )


def _opens(facts: SnapshotManifest, vectors: Vectors) -> bool:
    """Whether its collection is there and whole: else the same documents have to be published anew."""
    try:
        collection = vectors.open(facts.snapshot_id, files=facts.collection_files)
    except CollectionUnavailable:
        return False
    try:
        return collection.count() == facts.blocks
    finally:
        collection.close()


def _is_stated(work: Work, facts: SnapshotManifest, there: Snapshot) -> bool:
    """Whether its rows still say what its collection was made with."""
    row = (there.documents, there.blocks, there.embedding_version, there.dimensions, there.keyword_version)
    stated = (len(facts.documents), facts.blocks, facts.embedding_version, facts.dimensions, facts.keyword_version)
    return row == stated and facts.membership_sha256 in ("", membership_sha256(work.db, facts.snapshot_id))


def _space_of(facts: SnapshotManifest) -> Space:
    return Space(
        embedding_version=facts.embedding_version,
        dimensions=facts.dimensions,
        keyword_version=facts.keyword_version,
        index=facts.index,
    )


def _check_usable(
    request: ImportRequest, items: list[ImportItem], made: list[SnapshotDocument], *, has_base: bool
) -> None:
    if request.mode == "remove":
        if not has_base:
            raise ImportFailed("no_documents", "There is nothing to remove from: nothing has been published yet.")
    elif not items:
        raise ImportFailed("no_documents", "No document was found. To take documents out, use the mode remove.")
    elif all(item.state == "failed" for item in items) or not (made or has_base):
        first = items[0]
        raise ImportFailed(
            "no_usable_document",
            f"None of {len(items)} documents could be imported; the first, {first.key}: {first.failure_reason}",
        )
