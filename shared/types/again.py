"""Which of the four kinds of "again" a run still allows, and what came of asking it again."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from shared.ids import DocId, RunId, SnapshotId
from shared.types.replays import Reason, VersionChange
from shared.types.runs import RunManifest, Status

Kind = Literal["audit", "evidence", "replay", "rerun"]
Missing = (
    Reason
    | Literal[
        "never_began",  # it failed before there was a manifest
        "trace_gone",
        "trace_partial",
        "contents_not_kept",  # trace level metadata
        "conversation",  # it leaned on what was said before, which a run alone does not hold
        "model_differs",
        "bundle_differs",
    ]
)


class Possible(Struct, frozen=True, kw_only=True):
    """`detail`: why not, or what to know of it all the same."""

    kind: Kind
    possible: bool
    reason: Missing | None = None
    detail: str | None = None


class Audit(Struct, frozen=True, kw_only=True):
    """`versions`: which took part. `since`: what is another version now, which a replay or rerun would run under."""

    run_id: RunId
    rerun_of: RunId | None
    versions: RunManifest | None
    since: tuple[VersionChange, ...]
    again: tuple[Possible, ...]


class RerunWanted(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`expected_quote`: what must stand in the answer or in a quote of it; None = it must end as the run did and cite the same documents."""

    times: Annotated[int, Meta(ge=1, le=10)] = 3
    expected_quote: Annotated[str, Meta(min_length=1, max_length=2_000, pattern=r"\S")] | None = None


Failure = Literal["run_failed", "other_status", "other_documents", "quote_missing"]


class Once(Struct, frozen=True, kw_only=True):
    run_id: RunId  # an ordinary run
    status: Status
    termination_reason: str
    documents: tuple[DocId, ...]  # that it cites, sorted
    passed: bool
    failure: Failure | None
    chat_tokens: int
    duration_ms: int


class Rerun(Struct, frozen=True, kw_only=True):
    """`flips`: how often one passed and the next did not, or the other way round. The same distribution is promised, the same words are not."""

    run_id: RunId
    snapshot_id: SnapshotId | None
    criterion: Literal["same_status_and_documents", "expected_quote"]
    possible: bool
    reason: Missing | None = None
    detail: str | None = None
    passed: int = 0
    pass_rate: float | None = None
    flips: int = 0
    failures: dict[Failure, int] = {}
    runs: tuple[Once, ...] = ()
    since: tuple[VersionChange, ...] = ()
