"""Traces and files of runs for tests."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from msgspec import structs

from shared.ids import BlockId, DocId, SnapshotId
from shared.telemetry import names
from shared.types.runfiles import RunFile
from shared.types.runs import Citation, LedgerEntry, Limits, RunManifest, RunRecord, Usage
from shared.types.traces import Attributes, SpanEvent, SpanNode, Trace
from tests.unit.telemetry.factories import A_CITATION, a_record

MS = 1_000_000
QUERY = '{"query":"住宿费"}'


def a_span(
    name: str,
    *children: SpanNode,
    at_ms: int = 0,
    ms: int = 10,
    events: Sequence[SpanEvent] = (),
    failed: str = "",
    **attributes: Any,
) -> SpanNode:
    """Attributes by the names of constants in names.py, in small letters; `artifacts`: texts by name."""
    said: Attributes = {}
    for name_of, text in attributes.pop("artifacts", {}).items():
        said[f"citebound.artifact.{name_of}.sha256"] = sha256(text)
        said[f"citebound.artifact.{name_of}.bytes"] = len(text.encode())
    said |= {getattr(names, key.upper()): value for key, value in attributes.items()}
    if failed:
        said[names.ERROR_TYPE] = failed
    return SpanNode(
        trace_id="1" * 32,
        span_id=f"{abs(hash((name, at_ms))) % 16**16:016x}",
        parent_id=None,
        name=name,
        start_ns=at_ms * MS,
        end_ns=(at_ms + ms) * MS,
        status="error" if failed else "unset",
        status_message=None,
        attributes=said,
        events=tuple(events),
        children=children,
    )


def an_event(name: str, at_ms: int = 0, **attributes: Any) -> SpanEvent:
    return SpanEvent(name=name, at_ns=at_ms * MS, attributes=attributes)


def an_admission(at_ms: int, *, tokens: int, admitted: bool = True) -> SpanEvent:
    code = "" if admitted else "context_budget_exceeded"
    values = {"tokens": tokens, "used": 1_000, "limit": 8_000, "reserve": 2_000, "admitted": admitted, "code": code}
    return an_event(names.ADMISSION, at_ms, **values)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def a_prompt(*said: tuple[str, str]) -> str:
    return json.dumps([{"role": role, "content": text} for role, text in said], ensure_ascii=False)


def candidates(*ids: str, **more: Sequence[int | None]) -> str:
    listed = [{"block_id": block_id, "rank": n, "score": 1 / n} for n, block_id in enumerate(ids, 1)]
    for key, values in more.items():
        for one, value in zip(listed, values, strict=True):
            one[key] = value  # pyright: ignore[reportArgumentType]
    return json.dumps(listed)


A_MANIFEST = RunManifest(
    app_version="0.1.0",
    loop_version="2",
    protocol="react",
    tool_contract_version="1",
    retrieval_profile="hybrid-scores-v2",
    prompt_bundle="default/1",
    prompt_bundle_sha256="b" * 64,
    model="local/scripted",
    embedding_version="local:e5",
    keyword_version="terms-2",
    snapshot_id=SnapshotId("snap_1"),
    snapshot_manifest_sha256="a" * 64,
    limits=Limits(max_context_tokens=8_000, max_request_tokens=20_000, finalization_reserve_tokens=2_000),
    access_sha256="c" * 64,
)


def an_entry(block_id: str, *, turn: int = 1) -> LedgerEntry:
    return LedgerEntry(
        block_id=BlockId(block_id),
        doc_id=DocId(block_id.partition(".")[0]),
        version=1,
        title="差旅管理办法",
        source_label="制度库",
        section_path="差旅管理办法 › 住宿",
        page_first=None,
        page_last=None,
        trust="internal",
        updated_at_ms=1,
        snapshot_id=SnapshotId("snap_1"),
        turn=turn,
        tool="search_blocks",
        rank=1,
        at_ms=1,
        extent="block",
        seen="住宿费标准为每人每天 300 元。",
        query="住宿费",
    )


def a_citation(block_id: str, **changes: Any) -> Citation:
    return structs.replace(A_CITATION, block_id=BlockId(block_id), **changes)


def a_run(*, read: Sequence[str] = (), cited: Sequence[Citation] = (), calls: int = 1, **changes: Any) -> RunRecord:
    """`changes`: of the answer."""
    record = a_record()
    given = {"citations": tuple(cited), "manifest": A_MANIFEST, "usage": Usage(model_calls=2, tool_calls=calls)}
    answer = structs.replace(record.answer, **{**given, **changes})
    return structs.replace(record, answer=answer, ledger=tuple(an_entry(one) for one in read))


def a_file(record: RunRecord, *spans: SpanNode, contents: Sequence[str] = ()) -> RunFile:
    return RunFile(
        format="citebound-run-1",
        app_version="0.1.0",
        record=record,
        trace=Trace(partial=False, lost_spans=0, lost_artifacts=0, spans=spans),
        contents={sha256(text): text for text in contents},
    )
