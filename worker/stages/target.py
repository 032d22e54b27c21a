"""What the next snapshot will hold: a pure function of the base, of what the import made, and of its mode."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from shared.ids import DocId, SourceId
from shared.types.imports import ImportItem, ImportMode
from shared.types.snapshots import FailedDocument, SnapshotDocument

Covers: TypeAlias = Callable[[SourceId, str], bool]  # is the import about this document (source, key)?


class Base(Struct, frozen=True, kw_only=True):
    """The snapshot to start from; empty when there is none."""

    members: Sequence[SnapshotDocument] = ()  # labels as their sources have them now
    failures: Sequence[FailedDocument] = ()


class Membership(Struct, frozen=True, kw_only=True):
    members: tuple[SnapshotDocument, ...]  # by doc_id
    failures: tuple[FailedDocument, ...]  # the import's own, then those carried over


def membership(
    base: Base,
    *,
    mode: ImportMode,
    made: Sequence[SnapshotDocument],
    items: Sequence[ImportItem],
    covers: Covers,
    labels: Mapping[SourceId, str],
) -> Membership:
    """Decide the members of the next snapshot and the gaps it has.

    made: the import's complete documents, unchanged ones included. items: all of the import's, in order.
    covers: what the request is about; counts in modes sync and remove.
    labels: of every source, by which the base's failures name theirs.

    A document that failed keeps the version the base holds, if any, and is listed as a failure as well: a file that was saved
    broken once doesn't vanish from the answers.
    Source: spec/03 "What an import is given".
    """
    leaving = _leaving(base, mode=mode, items=items, covers=covers)
    kept = {member.doc_id: member for member in base.members if member.doc_id not in leaving}
    members = kept | {member.doc_id: member for member in made}
    own = [failure(item, labels) for item in items if item.state == "failed"]
    touched = {(labels.get(item.source_id), item.key) for item in items}
    sources = {label: source_id for source_id, label in labels.items()}

    def carried(gap: FailedDocument) -> bool:
        source_id = sources.get(gap.source_label)
        gone = mode in ("sync", "remove") and source_id is not None and covers(source_id, gap.key)
        return not gone and (gap.source_label, gap.key) not in touched

    return Membership(
        members=tuple(members[doc] for doc in sorted(members)),
        failures=(*own, *(gap for gap in base.failures if carried(gap))),
    )


def failure(item: ImportItem, labels: Mapping[SourceId, str]) -> FailedDocument:
    return FailedDocument(
        source_label=labels.get(item.source_id, item.source_id),
        key=item.key,
        stage=item.failed_stage or "discover",
        code=item.failure_code or "unreadable",
        reason=item.failure_reason or "",
        attempts=item.attempts,
        retryable=item.retryable,
    )


def same_content(target: Membership, base: Base, stored: Sequence[SnapshotDocument]) -> bool:
    """Whether publishing `target` would change nothing. `stored`: the base's members as they were published."""
    return target.members == tuple(stored) and _gaps(target.failures) == _gaps(base.failures)


def _leaving(base: Base, *, mode: ImportMode, items: Sequence[ImportItem], covers: Covers) -> set[DocId]:
    if mode not in ("sync", "remove"):
        return set()
    there = {(item.source_id, item.key) for item in items}
    # a folder that couldn't be read says nothing about what is in it
    unread = tuple((item.source_id, f"{item.key}/") for item in items if item.failed_stage == "discover")
    return {
        member.doc_id
        for member in base.members
        if covers(member.source_id, member.key)
        and (member.source_id, member.key) not in there
        and not any(member.source_id == source and member.key.startswith(folder) for source, folder in unread)
    }


def _gaps(failures: Sequence[FailedDocument]) -> set[tuple[str, str, str, str]]:
    return {(gap.source_label, gap.key, gap.stage, gap.code) for gap in failures}
