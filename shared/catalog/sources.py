"""Sources: where documents come from, and the labels that hold for all documents of one."""

from typing import Any

import msgspec
from msgspec import UNSET
from sqlite_utils import Database

from shared.catalog.db import writing
from shared.catalog.rows import Row, from_json, one, rows, to_json
from shared.ids import SourceId, source_id
from shared.types.documents import Source, SourceKind
from shared.types.imports import SourceSpec

_SEEN = ", ".join(Source.__struct_fields__)
_SAYABLE = ("aliases", "trust", "access", "lang_hint", "tags")


def ensure_source(db: Database, spec: SourceSpec, *, kind: SourceKind, root: str, label: str, now_ms: int) -> Source:
    """The source at `root`, made if it is new, changed in what `spec` says.

    label: of a new source when `spec` names none. A label is unique among sources whatever its case: a taken one gets a number.
    What `spec` leaves out stays as it is: an import that forgets the access labels opens nothing up, one that says there are none does.
    """
    found_id = source_id(kind, root)
    with writing(db) as connection:
        known = get_source(db, found_id)
        wanted = spec.label or (known.label if known else label)
        source = Source(
            source_id=found_id,
            kind=kind,
            root=root,
            label=wanted if known and known.label == wanted else _free_label(db, wanted, found_id),
            **(_kept(known) | _said(spec)),
        )
        if source != known:
            connection.execute(
                "insert into sources (source_id, kind, root, label, aliases, trust, access, lang_hint, tags, created_at_ms)"
                " values (:source_id, :kind, :root, :label, :aliases, :trust, :access, :lang_hint, :tags, :now)"
                " on conflict (source_id) do update set label = excluded.label, aliases = excluded.aliases,"
                " trust = excluded.trust, access = excluded.access, lang_hint = excluded.lang_hint, tags = excluded.tags",
                _row(source) | {"now": now_ms},
            )
    return source


def get_source(db: Database, wanted: SourceId) -> Source | None:
    row = one(db, f"select {_SEEN} from sources where source_id = :id", id=wanted)
    return None if row is None else _source(row)


def find_source(db: Database, *, kind: SourceKind, root: str) -> Source | None:
    return get_source(db, source_id(kind, root))


def list_sources(db: Database) -> list[Source]:
    return [_source(row) for row in rows(db, f"select {_SEEN} from sources order by label")]


def _kept(known: Source | None) -> dict[str, Any]:
    return {} if known is None else {name: getattr(known, name) for name in _SAYABLE}


def _said(spec: SourceSpec) -> dict[str, Any]:
    return {name: value for name in _SAYABLE if (value := getattr(spec, name)) is not UNSET}


def _free_label(db: Database, wanted: str, owner: SourceId) -> str:
    taken = {row["label"].lower() for row in rows(db, "select label from sources where source_id <> :id", id=owner)}
    label, number = wanted, 2
    while label.lower() in taken:
        label, number = f"{wanted} ({number})", number + 1
    return label


def _row(source: Source) -> Row:
    plain: Row = msgspec.structs.asdict(source)
    return plain | {name: to_json(plain[name]) for name in ("aliases", "access", "tags")}


def _source(row: Row) -> Source:
    return msgspec.convert(from_json(row, "aliases", "access", "tags"), Source)
