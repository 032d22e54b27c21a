"""What the pinned snapshot lacks, told to those who may know. Pure."""

from collections.abc import Sequence

from api.agent.limiting import limitation
from api.agent.steps import Wording
from api.agent.words import content_terms
from shared.access import Access
from shared.types.runs import Limitation, SnapshotGap
from shared.types.snapshots import FailedDocument, Snapshot

MOST_NAMED = 20
NAME_CHARS = 120


def gap(snapshot: Snapshot, access: Access, *, documents: int) -> SnapshotGap:
    """The gap as this caller may see it: a document that failed has no access labels yet, so only the owner learns names.

    `documents`: how many of the snapshot's the caller may see.
    """
    state = "ready_partial" if snapshot.state == "ready_partial" else "ready"
    failed = snapshot.failed_documents if access.labels is None else ()
    return SnapshotGap(state=state, documents=documents, failed_documents=failed)


def chosen(gap: SnapshotGap, *, question: str, first: bool = True) -> tuple[FailedDocument, ...]:
    """The missing documents worth naming: those whose names touch the question; where `first`, the first when there is none."""
    asked = content_terms(question)
    failed: Sequence[FailedDocument] = [one for one in gap.failed_documents if asked & content_terms(one.key)]
    if first:
        failed = failed or gap.failed_documents[:1]
    return tuple(failed[:MOST_NAMED])


def lines(documents: Sequence[FailedDocument]) -> tuple[str, ...]:
    """For a model: each with its reason's code. A name is a stranger's text: one line of printable characters, cut to `NAME_CHARS`."""
    return tuple(f"{_name(one)} ({one.code})" for one in documents)


def limitations(
    gap: SnapshotGap, *, named: Sequence[FailedDocument], wording: Wording, looked_up: bool = True
) -> tuple[Limitation, ...]:
    """Say how many documents are missing, and those `named` with the reason in words. Nothing where nothing was `looked_up`."""
    if gap.state == "ready" or not looked_up:
        return ()
    count = len(gap.failed_documents)
    names = [{"name": _name(one), "code": one.code} for one in named]
    return (limitation(wording, "snapshot_partial", count=count, names=names),)


def _name(document: FailedDocument) -> str:
    return _one_line(f"{document.source_label}/{document.key}")


def _one_line(name: str) -> str:
    cut = name if len(name) <= NAME_CHARS else f"{name[: NAME_CHARS - 1]}…"
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in cut)
