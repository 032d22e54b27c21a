"""What comes of carrying out a run's tool calls again."""

from typing import Literal

from msgspec import Struct

from shared.ids import BlockId, RunId, SnapshotId
from shared.types.runs import Fingerprint

Outcome = Literal["same", "different", "impossible"]
CallOutcome = Literal["same", "different", "impossible", "skipped"]  # skipped: nothing was seen then
# What is missing for a replay. Of a run: not_recorded … nothing_to_compare; of a call: the others.
Reason = Literal[
    "not_recorded",  # the run is older than this record
    "snapshot_gone",
    "snapshot_unusable",  # damaged, or on an engine that doesn't answer
    "snapshot_differs",  # another one under the same id
    "access_reduced",  # the run could see more than the caller may now
    "scope_gone",  # labels of its documents were tightened
    "nothing_to_compare",  # no call that had seen anything
    "embedding_differs",  # this process can't ask this snapshot
    "keywords_differ",  # nor this one, for its keyword encoder
    "profile_differs",  # searched in a way that this process can't
    "upstream_failed",  # tried, and failed on the way: again later
    "arguments_removed",  # they held a secret, which is not kept
    "failed_then",  # nothing was seen, so there is nothing to compare
    "unfinished_then",
]


class Gained(Struct, frozen=True, kw_only=True):
    block_id: BlockId
    rank: int  # 1.., now


class Lost(Struct, frozen=True, kw_only=True):
    block_id: BlockId
    rank: int  # then
    visible: bool  # it is there and the caller may read it: another order; else labels were tightened, or it is gone


class Moved(Struct, frozen=True, kw_only=True):
    block_id: BlockId
    then: int
    now: int


class Changed(Struct, frozen=True, kw_only=True):
    """Other text was shown of the same block."""

    block_id: BlockId
    then: str | None  # None: not kept; what entered the model's context is
    now: str


class Difference(Struct, frozen=True, kw_only=True):
    """`payload`: lines of both payloads as a unified diff; () where the run's was not kept (trace level metadata), or is large."""

    gained: tuple[Gained, ...] = ()
    lost: tuple[Lost, ...] = ()
    moved: tuple[Moved, ...] = ()
    changed: tuple[Changed, ...] = ()
    error_then: str | None = None
    error_now: str | None = None
    payload: tuple[str, ...] = ()


class ReplayedCall(Struct, frozen=True, kw_only=True):
    turn: int
    tool: str
    arguments: str
    outcome: CallOutcome
    reason: Reason | None = None
    detail: str | None = None  # for people
    then: Fingerprint | None = None
    now: Fingerprint | None = None
    difference: Difference | None = None


class VersionChange(Struct, frozen=True, kw_only=True):
    """Something that took part in the run and is another one now: a cause of differences, no reason not to try."""

    what: Literal["app_version", "app_build", "tool_contract_version"]
    then: str
    now: str


class Replay(Struct, frozen=True, kw_only=True):
    """`outcome`: different if any call is; else impossible if the run or any call is, or if nothing was compared; else same."""

    run_id: RunId
    snapshot_id: SnapshotId | None
    retrieval_profile: str | None
    outcome: Outcome
    reason: Reason | None = None
    detail: str | None = None
    since: tuple[VersionChange, ...] = ()
    calls: tuple[ReplayedCall, ...] = ()
    embedding_tokens: int = 0  # what the replay cost
    rerank_tokens: int = 0
