"""What a query may see: the condition that stands in every one of them."""

import json
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from shared.ids import DocId, SnapshotId


class Within(Struct, frozen=True, kw_only=True):
    """One snapshot, under a caller's labels, inside a scope. None = no restriction.

    labels: must do in `snapshot_id`, as they are known last for the document and, if it is in `today` as well, there too.
    """

    snapshot_id: SnapshotId
    labels: frozenset[str] | None
    today: SnapshotId | None = None  # the active snapshot: what it closes is closed in the others
    doc_ids: frozenset[DocId] | None = None


def visible(within: Within) -> tuple[str, dict[str, Any]]:
    """The condition on snapshot_documents `d`, with its parameters."""
    where, parameters = "d.snapshot_id = :snapshot_id", {"snapshot_id": str(within.snapshot_id)}
    if within.labels is not None:
        where += (
            f" and {_readable('d')} and exists (select 1 from documents k"
            f" where k.doc_id = d.doc_id and (k.access = d.access or {_readable('k')}))"
        )
        parameters["labels"] = array(within.labels)
        if within.today not in (None, within.snapshot_id):
            where += (
                " and not exists (select 1 from snapshot_documents t"
                f" where t.snapshot_id = :today and t.doc_id = d.doc_id and not {_readable('t')})"
            )
            parameters["today"] = str(within.today)
    if within.doc_ids is not None:
        where += " and d.doc_id in (select value from json_each(:doc_ids))"
        parameters["doc_ids"] = array(within.doc_ids)
    return where, parameters


def array(values: Iterable[str | int]) -> str:
    """For `json_each`."""
    return json.dumps(list(values))


def _readable(member: str) -> str:
    return (
        f"(json_array_length({member}.access) = 0 or exists (select 1 from json_each({member}.access) a"
        " where a.value in (select value from json_each(:labels))))"
    )
