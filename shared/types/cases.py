"""What readers said of answers, and the cases that operators make of it."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from shared.ids import BlockId, DocId, RunId, SnapshotId
from shared.types.runs import RunManifest, Status

Thumb = Literal["up", "down"]
# where a wrong answer went wrong, as spec/06 names them
Layer = Literal["not_called", "not_recalled", "refused_by_budget", "ignored", "cited_wrongly", "other"]
CaseStatus = Literal["open", "closed"]

Comment = Annotated[str, Meta(max_length=2_000)]
Markers = Annotated[tuple[Annotated[int, Meta(ge=1)], ...], Meta(max_length=200)]


class NewFeedback(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    thumb: Thumb
    comment: Comment = ""
    layer: Layer | None = None  # with a thumb down: what its case begins with


class CaseChange(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """None = as it is."""

    layer: Layer | None = None
    status: CaseStatus | None = None
    gold: Markers | None = None  # of the citations that hold the right answer
    note: Comment | None = None


class Said(Struct, frozen=True, kw_only=True):
    by: Literal["asker", "operator"]
    thumb: Thumb
    comment: str
    at_ms: int


class Case(Struct, frozen=True, kw_only=True):
    """One of a run, with the versions that it was bound to. Question and versions are the run's; when that is forgotten, so is the case."""

    case_id: str
    run_id: RunId
    question: str
    run_status: Status
    termination_reason: str
    layer: Layer | None
    status: CaseStatus
    gold: tuple[int, ...]
    note: str
    said: tuple[Said, ...]  # oldest first
    snapshot_id: SnapshotId | None
    versions: RunManifest | None
    made_at_ms: int
    changed_at_ms: int


class Feedback(Struct, frozen=True, kw_only=True):
    """What was taken down. `case`: of the run, if there is one."""

    run_id: RunId
    thumb: Thumb
    case: Case | None


class OwnFeedback(Struct, frozen=True, kw_only=True):
    """What the caller said last of a run. `layer`: of the run's case, whoever named it."""

    run_id: RunId
    thumb: Thumb | None  # None = nothing yet
    comment: str = ""
    layer: Layer | None = None


class Gold(Struct, frozen=True, kw_only=True):
    quote: str  # verbatim
    block_id: BlockId
    doc_id: DocId
    version: int
    title: str
    source_label: str
    section_path: str


class EvaluationItem(Struct, frozen=True, kw_only=True):
    """A question whose answer was wrong, as a line of an evaluation set."""

    id: str  # the case's
    question: str
    gold: tuple[Gold, ...]  # () = nobody said yet what holds the right answer
    snapshot_id: SnapshotId | None
    layer: Layer | None
    run_id: RunId
    note: str
