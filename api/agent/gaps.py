"""What the pinned snapshot lacks, told to those who may know. Pure."""

from collections.abc import Sequence

from api.agent.steps import Wording
from api.agent.words import content_terms
from shared.access import Access
from shared.types.runs import Limitation, SnapshotGap
from shared.types.snapshots import FailedDocument, Snapshot

NAMED = 5  # up to so many missing documents are all named
MOST_NAMED = 20  # of more, those whose names touch the question


def gap(snapshot: Snapshot, access: Access, *, documents: int) -> SnapshotGap:
    """The gap as this caller may see it: a document that failed has no access labels yet, so only the owner learns names.

    `documents`: how many of the snapshot's the caller may see.
    """
    state = "ready_partial" if snapshot.state == "ready_partial" else "ready"
    failed = snapshot.failed_documents if access.labels is None else ()
    return SnapshotGap(state=state, documents=documents, failed_documents=failed)


def names(failed: Sequence[FailedDocument]) -> list[str]:
    return [f"{one.source_label}/{one.key} ({one.code})" for one in failed]


def limitations(gap: SnapshotGap, *, question: str, wording: Wording) -> tuple[Limitation, ...]:
    """Say what is missing: every document if they are few, else how many and those whose names touch the question."""
    if gap.state == "ready":
        return ()
    failed = gap.failed_documents
    if len(failed) > NAMED:
        asked = content_terms(question)
        failed = [one for one in failed if asked & content_terms(one.key)][:MOST_NAMED]
    count = len(gap.failed_documents)
    text = wording.render("limitation", code="snapshot_partial", count=count, names=names(failed))
    return (Limitation(code="snapshot_partial", text=text),)
