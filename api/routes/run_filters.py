"""Which runs a list is to hold, as query parameters."""

from typing import Annotated, Literal

from litestar.params import FromQuery, QueryParameter

from shared.ids import DocId, RunId, SnapshotId
from shared.types.runs import Status
from shared.types.traces import RunFilter, Stop

AtLeast0 = Annotated[int | None, QueryParameter(ge=0, le=2**53)]  # as far as JSON counts, and the store


def run_filter(
    status: FromQuery[Status | None] = None,
    stopped_by: FromQuery[Stop | Literal["any", "none"] | None] = None,
    min_tokens: AtLeast0 = None,
    max_tokens: AtLeast0 = None,
    min_duration_ms: AtLeast0 = None,
    max_duration_ms: AtLeast0 = None,
    snapshot_id: FromQuery[str | None] = None,
    prompt_bundle: FromQuery[str | None] = None,
    doc_id: FromQuery[list[str] | None] = None,
    text: FromQuery[str | None] = None,
    before: FromQuery[str | None] = None,
) -> RunFilter:
    """`doc_id` may be said several times."""
    return RunFilter(
        status=status,
        stopped_by=stopped_by,
        min_tokens=min_tokens,
        max_tokens=max_tokens,
        min_duration_ms=min_duration_ms,
        max_duration_ms=max_duration_ms,
        snapshot_id=None if snapshot_id is None else SnapshotId(snapshot_id),
        prompt_bundle=prompt_bundle,
        doc_ids=tuple(map(DocId, doc_id or ())),
        text=text,
        before=None if before is None else RunId(before),
    )
