"""What a caller with roles is told of snapshots and their faults."""

import pytest

from api.retrieval.contents import ChangedDocument
from api.retrieval.seen import faults_for, seen_document
from shared.access import OWNER, STRANGER, Access, shown_labels
from shared.errors import CollectionUnavailable
from shared.ids import DocId, SnapshotId
from tests.unit.cli.shapes import a_member

STAFF = Access(labels=frozenset({"staff", "hr"}))


def test_a_fault_names_documents_to_whoever_may_read_them_all_only() -> None:
    fault = ChangedDocument(SnapshotId("snap_1"), [(DocId("geheimes"), 3)])
    with pytest.raises(CollectionUnavailable) as told, faults_for(OWNER):
        raise fault
    assert told.value.ids == ("snap_1", "geheimes")
    with pytest.raises(CollectionUnavailable) as told, faults_for(STAFF):
        raise fault
    assert told.value.ids == ("snap_1",)
    assert "geheimes" not in told.value.message


def test_a_fault_of_the_snapshot_itself_is_told_to_everybody() -> None:
    fault = CollectionUnavailable("另一个向量模型", ids=["snap_1"])
    with pytest.raises(CollectionUnavailable) as told, faults_for(STAFF):
        raise fault
    assert told.value is fault


def test_a_document_shows_those_of_its_labels_that_the_reader_holds() -> None:
    assert shown_labels(("staff", "board"), STAFF) == ("staff",)
    assert shown_labels(("staff", "board"), OWNER) == ("staff", "board")
    assert shown_labels(("board",), STRANGER) == ()
    document = a_member("人事.md", doc="aaaaaaaa")
    assert seen_document(document, STAFF) == document
