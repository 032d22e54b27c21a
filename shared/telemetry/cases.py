"""Feedback and cases, beside the runs they are about: they hold no word of question or answer, and go when a run is forgotten."""

import sqlite3
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec import Struct, structs

from shared.access import Access
from shared.catalog.db import writing
from shared.errors import InvalidArgument, NotFound
from shared.ids import KeyId, RunId
from shared.telemetry.schema import opened_traces
from shared.types.cases import (
    Case,
    CaseChange,
    CaseStatus,
    EvaluationItem,
    Gold,
    Layer,
    NewFeedback,
    OwnFeedback,
    Said,
    Thumb,
)
from shared.types.runs import RunRecord

_MARK = "case_"
_OWNER = ""  # in the place of a key's id
_NOT_OF_OTHERS = "not exists (select 1 from runs where runs.run_id = cases.run_id and runs.asker is not ?)"  # not written yet: perhaps his


class StoredCase(Struct, frozen=True, kw_only=True):
    run_id: RunId
    layer: Layer | None
    status: CaseStatus
    gold: tuple[int, ...]
    note: str
    made_at_ms: int
    changed_at_ms: int
    said: tuple[tuple[str, Thumb, str, int], ...]  # who, thumb, comment, when


def run_of(case_id: str) -> RunId:
    """The run that a case is of. Raises: NotFound for what has not the form of a case's id."""
    if not case_id.startswith(_MARK):
        raise unknown_case(case_id)
    return RunId("run_" + case_id.removeprefix(_MARK))


def unknown_case(case_id: str) -> NotFound:
    return NotFound("There is no such case, or you may not read it.", field="case_id", ids=[case_id])


class Cases:
    """Who may read a run may say something of it; that is the caller's to check. Blocking. Raises: StorageError."""

    def __init__(self, database: Path) -> None:
        self._database = database

    def say(self, run_id: RunId, given: NewFeedback, *, by: KeyId | None, now_ms: int) -> None:
        """Once for each who speaks, the last word counts. A thumb down opens the run's case; one up closes it when nobody holds it down."""
        with opened_traces(self._database) as db, writing(db) as connection:
            connection.execute(
                "insert or replace into feedback (run_id, by, thumb, comment, at_ms) values (?, ?, ?, ?, ?)",
                [run_id, by or _OWNER, given.thumb, given.comment, now_ms],
            )
            if given.thumb == "down":
                connection.execute(
                    "insert into cases (run_id, layer, status, gold, note, made_at_ms, changed_at_ms)"
                    " values (:run, :layer, 'open', '[]', '', :now, :now) on conflict (run_id) do update"
                    " set layer = coalesce(excluded.layer, layer), status = 'open', changed_at_ms = :now",
                    {"run": run_id, "layer": given.layer, "now": now_ms},
                )
            else:
                connection.execute(
                    "update cases set status = 'closed', changed_at_ms = :now where run_id = :run and status = 'open'"
                    " and not exists (select 1 from feedback where run_id = :run and thumb = 'down')",
                    {"run": run_id, "now": now_ms},
                )

    def change(self, run_id: RunId, wanted: CaseChange, *, now_ms: int) -> None:
        """Raises: NotFound."""
        given = {name: value for name, value in structs.asdict(wanted).items() if value is not None}
        if "gold" in given:
            given["gold"] = msgspec.json.encode(sorted(set(given["gold"]))).decode()
        assigned = ", ".join(f"{name} = :{name}" for name in (*given, "changed_at_ms"))
        with opened_traces(self._database) as db, writing(db) as connection:
            changed = connection.execute(
                f"update cases set {assigned} where run_id = :run_id",
                {**given, "changed_at_ms": now_ms, "run_id": run_id},
            )
            if changed.rowcount != 1:
                raise unknown_case(case_id_of(run_id))

    def get(self, run_id: RunId) -> StoredCase | None:
        with opened_traces(self._database) as db:
            return next(_stored(db.conn, "where run_id = ?", [run_id]), None)

    def own(self, run_id: RunId, *, by: KeyId | None) -> OwnFeedback:
        """What one caller said of a run."""
        with opened_traces(self._database) as db:
            said = db.conn.execute(
                "select thumb, comment from feedback where run_id = ? and by = ?", [run_id, by or _OWNER]
            ).fetchone()
            layer = db.conn.execute("select layer from cases where run_id = ?", [run_id]).fetchone()
        thumb, comment = said or (None, "")
        return OwnFeedback(run_id=run_id, thumb=thumb, comment=comment, layer=layer[0] if layer else None)

    def newest(self, access: Access, *, status: CaseStatus | None) -> list[StoredCase]:
        """The newest first; without those of runs that are known to be somebody else's, where the caller is no admin."""
        given: dict[str, str | None] = {} if status is None else {"status = ?": status}
        if not access.is_admin:
            given[_NOT_OF_OTHERS] = access.key_id
        where = f"where {' and '.join(given)}" if given else ""
        with opened_traces(self._database) as db:
            return list(_stored(db.conn, f"{where} order by run_id desc", list(given.values())))


def case_id_of(run_id: RunId) -> str:
    return _MARK + run_id.removeprefix("run_")


def case_of(stored: StoredCase, record: RunRecord) -> Case:
    """As people see it. Pure."""
    answer = record.answer
    return Case(
        case_id=case_id_of(stored.run_id),
        run_id=stored.run_id,
        question=answer.question,
        run_status=answer.status,
        termination_reason=answer.termination_reason,
        layer=stored.layer,
        status=stored.status,
        gold=stored.gold,
        note=stored.note,
        said=tuple(
            Said(
                by="asker" if who == (record.asker or _OWNER) else "operator", thumb=thumb, comment=comment, at_ms=at_ms
            )
            for who, thumb, comment, at_ms in stored.said
        ),
        snapshot_id=answer.snapshot_id,
        versions=answer.manifest,
        made_at_ms=stored.made_at_ms,
        changed_at_ms=stored.changed_at_ms,
    )


def check_gold(wanted: CaseChange, record: RunRecord) -> None:
    """Raises: InvalidArgument for a marker that the answer has not."""
    there = {citation.marker for citation in record.answer.citations}
    missing = sorted(set(wanted.gold or ()) - there)
    if missing:
        known = ", ".join(map(str, sorted(there))) or "none"
        raise InvalidArgument(
            f"The answer has no citation [{missing[0]}]; it has {known}. Name the markers that stand in its text.",
            field="gold",
        )


def item_of(case: Case, record: RunRecord) -> EvaluationItem:
    """Pure."""
    return EvaluationItem(
        id=case.case_id,
        question=case.question,
        gold=tuple(
            Gold(
                quote=one.quote,
                block_id=one.block_id,
                doc_id=one.doc_id,
                version=one.version,
                title=one.title,
                source_label=one.source_label,
                section_path=one.section_path,
            )
            for one in record.answer.citations
            if one.marker in case.gold
        ),
        snapshot_id=case.snapshot_id,
        layer=case.layer,
        run_id=case.run_id,
        note=case.note,
    )


def _stored(connection: sqlite3.Connection, where: str, values: Sequence[str | None]) -> Generator[StoredCase]:
    names = ("run_id", "layer", "status", "gold", "note", "made_at_ms", "changed_at_ms")
    for row in connection.execute(f"select {', '.join(names)} from cases {where}", values).fetchall():
        found = cast("Mapping[str, Any]", dict(zip(names, row, strict=True)))
        said = connection.execute(
            "select by, thumb, comment, at_ms from feedback where run_id = ? order by at_ms, by", [found["run_id"]]
        ).fetchall()
        yield msgspec.convert({**found, "gold": msgspec.json.decode(found["gold"]), "said": said}, StoredCase)
