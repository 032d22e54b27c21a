"""What the API answers, in the smallest form that says something."""

from typing import Any

from msgspec.structs import replace

from shared.ids import BlockId, DocId, ImportId, RunId, SnapshotId, SourceId, source_id
from shared.types.documents import Block
from shared.types.imports import Import, Progress
from shared.types.runs import Answer, Citation, Usage
from shared.types.snapshots import FailedDocument, Snapshot, SnapshotDocument

NEW, OLD = SnapshotId("snap_02"), SnapshotId("snap_01")
BROKEN = FailedDocument(
    source_label="论文", key="坏.pdf", stage="parse", code="corrupt", reason="…", attempts=1, retryable=False
)


def a_member(key: str, *, doc: str, title: str | None = None, root: str = "/资料", **more: Any) -> SnapshotDocument:
    given: dict[str, Any] = {
        "source_id": SourceId(source_id("folder", root)),
        "source_label": "资料",
        "aliases": (),
        "lang": "zh",
        "trust": "user_upload",
        "access": (),
        "tags": (),
        "media_type": "text/markdown",
        "updated_at_ms": 0,
        "sections": 1,
        "blocks": 2,
        "tokens": 20,
        "artifact_sha256": "0" * 64,
        **more,
    }
    return SnapshotDocument(doc_id=DocId(doc), version=2, title=title or key, key=key, **given)


PUMP = a_member("水泵/手册.md", doc="aaaaaaaa", title="水泵使用手册", tags=("设备",))
LEAVE = a_member("leave.md", doc="bbbbbbbb", title="Leave policy", source_label="HR", aliases=("人事",))


def a_snapshot(snapshot_id: SnapshotId = NEW, **more: Any) -> Snapshot:
    given: dict[str, Any] = {
        "state": "ready",
        "import_id": ImportId("imp_01"),
        "base_snapshot_id": None,
        "created_at_ms": 0,
        "published_at_ms": 0,
        "documents": 2,
        "blocks": 4,
        "embedding_version": "e",
        "dimensions": 3,
        "keyword_version": "k",
        "manifest_sha256": None,
        "failure": None,
        **more,
    }
    return Snapshot(snapshot_id=snapshot_id, **given)


def an_import(state: Any = "completed", failed: tuple[FailedDocument, ...] = (), **more: Any) -> Import:
    progress = Progress(
        total=2,
        by_state={"indexed": 2 - len(failed), "failed": len(failed)},
        blocks=3,
        blocks_embedded=3,
        tokens=100,
        provider_tokens=0,
        elapsed_ms=10,
        blocks_per_s=1.0,
        remaining_s=None,
    )
    given: dict[str, Any] = {
        "mode": "add",
        "stage": None,
        "base_snapshot_id": None,
        "snapshot_id": NEW,
        "pause_reason": None,
        "failure_code": None,
        "failure_reason": None,
        "created_at_ms": 0,
        "updated_at_ms": 0,
        "finished_at_ms": None,
        "progress": progress,
        **more,
    }
    return Import(import_id=ImportId("imp_01"), state=state, failed_documents=failed, **given)


A_CITATION = Citation(
    marker=1,
    block_id=BlockId("aaaaaaaa.v2#1"),
    doc_id=DocId("aaaaaaaa"),
    version=2,
    snapshot_id=NEW,
    title="水泵使用手册",
    source_label="资料",
    section_path="/",
    page_first=None,
    page_last=None,
    span_start=0,
    span_end=5,
    quote="每年更换。",
    trust="user_upload",
    verdict="supported",
)


def an_answer(**more: Any) -> Answer:
    plain = Answer(
        run_id=RunId("run_01"),
        status="complete",
        text="每年更换。[1]",
        citations=(A_CITATION,),
        limitations=(),
        termination_reason="finished",
        extractive=True,
        usage=Usage(tool_calls=1, chat_input_tokens=30),
        snapshot_id=NEW,
        snapshot=None,
        manifest=None,
        question="水泵多久更换一次？",
        started_at_ms=0,
        duration_ms=1200,
    )
    return replace(plain, **more)


def a_block() -> Block:
    return Block(
        block_id=BlockId("aaaaaaaa.v2#1"),
        doc_id=DocId("aaaaaaaa"),
        version=2,
        index=1,
        section_ordinal=0,
        section_path="/",
        text="每年更换。",
        span_start=0,
        span_end=5,
        tokens=5,
        sha256="0" * 64,
    )
