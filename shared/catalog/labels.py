"""The access labels that are known last for each document: asked of every read of it, whichever snapshot is read. Decision 0060."""

import sqlite3

from shared.ids import SnapshotId


def remember_labels(connection: sqlite3.Connection, snapshot_id: SnapshotId) -> None:
    """Inside the transaction that publishes the snapshot, whether or not it answers from now on.

    A document that is not in it any more keeps what it had, but an open one is closed with its source.
    """
    connection.execute(
        "update documents set access = m.access from snapshot_documents m"
        " where m.snapshot_id = ? and m.doc_id = documents.doc_id and documents.access is not m.access",
        [snapshot_id],
    )
    connection.execute(
        "update documents set access = s.access from sources s"
        " where s.source_id = documents.source_id and documents.access = '[]' and s.access <> '[]'"
        " and not exists (select 1 from snapshot_documents m where m.snapshot_id = ? and m.doc_id = documents.doc_id)",
        [snapshot_id],
    )
