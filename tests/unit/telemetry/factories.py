"""Runs for tests."""

from typing import Literal

from shared.ids import BlockId, DocId, RunId, SnapshotId
from shared.telemetry import names
from shared.types.runfiles import RunFile
from shared.types.runs import Answer, Citation, RunRecord, Usage
from shared.types.traces import Attributes, SpanNode, Trace

A_CITATION = Citation(
    marker=1,
    block_id=BlockId("k3f9a2qd.v2#17"),
    doc_id=DocId("k3f9a2qd"),
    version=2,
    snapshot_id=SnapshotId("snap_1"),
    title="差旅管理办法",
    source_label="制度库",
    section_path="第三章 › 住宿",
    page_first=4,
    page_last=4,
    span_start=120,
    span_end=141,
    quote="住宿费标准为每人每天 300 元。",
    trust="internal",
    verdict="supported",
)


def a_record(
    *,
    run_id: str = "run_1",
    question: str = "住宿费标准是多少？",
    text: str = "每人每天 300 元。[1]",
    status: Literal["complete", "partial", "failed"] = "complete",
    access: tuple[str, ...] | None = None,
) -> RunRecord:
    return RunRecord(
        answer=Answer(
            run_id=RunId(run_id),
            status=status,
            text=text,
            citations=(A_CITATION,),
            limitations=(),
            termination_reason="finished",
            extractive=False,
            usage=Usage(chat_input_tokens=900, chat_output_tokens=40, model_calls=2, tool_calls=1, embedding_tokens=9),
            snapshot_id=SnapshotId("snap_1"),
            snapshot=None,
            manifest=None,
            question=question,
            started_at_ms=1_000,
            duration_ms=250,
        ),
        ledger=(),
        access=access,
    )


def a_saved_run(attributes: Attributes, contents: dict[str, str], *, end_ns: int = 5) -> RunFile:
    """With one span of the run."""
    span = SpanNode(
        trace_id="0" * 32,
        span_id="1" * 16,
        parent_id=None,
        name=names.RUN,
        start_ns=0,
        end_ns=end_ns,
        status="ok",
        status_message=None,
        attributes=attributes,
        events=(),
    )
    return RunFile(
        format="citebound-run-1",
        app_version="0.1.0",
        record=a_record(),
        trace=Trace(partial=False, lost_spans=0, lost_artifacts=0, spans=(span,)),
        contents=contents,
    )
