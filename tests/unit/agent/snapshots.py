"""Snapshots as the agent sees them."""

from shared.ids import ImportId
from shared.types.snapshots import FailedDocument, Snapshot
from tests.factories import NOW_MS
from tests.unit.agent.playing import SNAPSHOT


def a_snapshot(*, failed: tuple[FailedDocument, ...] = ()) -> Snapshot:
    return Snapshot(
        snapshot_id=SNAPSHOT,
        state="ready_partial" if failed else "ready",
        import_id=ImportId("imp_of_a_test"),
        base_snapshot_id=None,
        created_at_ms=NOW_MS,
        published_at_ms=NOW_MS,
        documents=3,
        blocks=9,
        embedding_version="fake:words:256",
        dimensions=256,
        keyword_version="terms-1",
        manifest_sha256="0" * 64,
        failure=None,
        failed_documents=failed,
    )
