"""The documents of a snapshot, under a caller's access."""

import json
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import structs

from shared.catalog.documents import get_version
from shared.catalog.reads import PUBLISHED, Reads, json_object, reading
from shared.catalog.within import Within, array, visible
from shared.ids import DocId, SnapshotId
from shared.text.fold import fold
from shared.types.snapshots import SnapshotDocument

_LISTS = ("aliases", "access", "tags")  # stored as JSON
DOCUMENT = json_object(
    {name: f"json(d.{name})" if name in _LISTS else f"d.{name}" for name in SnapshotDocument.__struct_fields__}
)
_documents = msgspec.json.Decoder(SnapshotDocument)
_ids = msgspec.json.Decoder(DocId)
_words = msgspec.json.Decoder(str)


class DocumentReads(Reads):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._hidden_at: int | None = None  # a state of the catalog; what was found in it
        self._hidden: dict[Within, frozenset[DocId]] = {}

    def documents(
        self,
        within: Within,
        *,
        source: str | None = None,
        lang: str | None = None,
        title_contains: str | None = None,
        tag: str | None = None,
    ) -> list[SnapshotDocument]:
        """Those that meet every condition given, by source label, title, doc_id (code points).

        source: a label or alias; title_contains: part of the title; both without regard to case. tag: exact.
        """
        where, parameters = visible(within)
        if source is not None:
            where += (
                " and (fold(d.source_label) = :source"
                " or exists (select 1 from json_each(d.aliases) where fold(value) = :source))"
            )
            parameters["source"] = fold(source)
        if lang is not None:
            where += " and lower(d.lang) = :lang"
            parameters["lang"] = lang.lower()
        if title_contains is not None:
            where += " and instr(fold(d.title), :title) > 0"
            parameters["title"] = fold(title_contains)
        if tag is not None:
            where += " and exists (select 1 from json_each(d.tags) where value = :tag)"
            parameters["tag"] = tag
        in_order = f"snapshot_documents d where {where} order by d.source_label, d.title, d.doc_id"
        return self.listed(DOCUMENT, in_order, parameters, _documents)

    def documents_by_id(self, within: Within, doc_ids: Iterable[DocId]) -> dict[DocId, SnapshotDocument]:
        """Without those that are not within."""
        where, parameters = visible(within)
        named = f"snapshot_documents d where {where} and d.doc_id in (select value from json_each(:wanted))"
        found = self.listed(DOCUMENT, named, parameters | {"wanted": array(doc_ids)}, _documents)
        return {document.doc_id: document for document in found}

    def unknown(self, within: Within, doc_ids: Iterable[DocId]) -> set[DocId]:
        """Which of these are not within."""
        where, parameters = visible(within)
        others = (
            "json_each(:wanted) w"
            f" where not exists (select 1 from snapshot_documents d where d.doc_id = w.value and {where})"
        )
        return set(self.listed("json_quote(w.value)", others, parameters | {"wanted": array(doc_ids)}, _ids))

    def languages(self, within: Within) -> frozenset[str]:
        """Of the documents, without regions: "zh" for zh-Hant."""
        where, parameters = visible(within)
        found = self.listed("distinct json_quote(d.lang)", f"snapshot_documents d where {where}", parameters, _words)
        return frozenset(lang.lower().split("-")[0] for lang in found)

    def counts(self, within: Within) -> tuple[int, int]:
        """Documents and blocks."""
        where, parameters = visible(within)
        row = self.row(
            f"select count(*), coalesce(sum(d.blocks), 0) from snapshot_documents d where {where}", parameters
        )
        assert row is not None
        return row[0], row[1]

    def has_blocks(self, within: Within) -> bool:
        where, parameters = visible(structs.replace(within, doc_ids=None))
        documents = "snapshot_documents d"
        if within.doc_ids is not None:  # one after the other: nearly always the first has some
            documents = f"json_each(:doc_ids) w cross join {documents} on d.doc_id = w.value"
            parameters["doc_ids"] = array(within.doc_ids)
        return self.row(f"select 1 from {documents} where {where} and d.blocks > 0 limit 1", parameters) is not None

    def hidden(self, within: Within) -> frozenset[DocId]:
        """Documents of the snapshot whose labels differ in another place that is looked at, and that are not within, whatever the scope.

        A collection knows the labels of its day only: those it lets pass, less these, are the ones within.
        """
        if (state := self.state()) != self._hidden_at:
            self._hidden_at, self._hidden = state, {}
        caller = structs.replace(within, doc_ids=None)
        if caller not in self._hidden:
            where, parameters = visible(caller)
            closed = (
                "snapshot_documents d left join documents k on k.doc_id = d.doc_id"
                " left join snapshot_documents t on t.snapshot_id = :today and t.doc_id = d.doc_id"
                " where d.snapshot_id = :snapshot_id and (k.access is not d.access or t.access <> d.access)"
                f" and not ({where})"
            )
            found = self.listed("json_quote(d.doc_id)", closed, parameters | {"today": within.today}, _ids)
            self._hidden[caller] = frozenset(found)
        return self._hidden[caller]

    # one document, wherever it is

    def snapshots_of(self, doc_id: DocId, version: int) -> list[SnapshotId]:
        """Published snapshots that hold that version of a document, newest first."""
        rows = self.rows(
            "select n.snapshot_id from snapshot_documents d join snapshots n on n.snapshot_id = d.snapshot_id"
            f" where d.doc_id = ? and d.version = ? and n.state in {PUBLISHED}"
            " order by n.published_at_ms desc, n.snapshot_id desc",
            (doc_id, version),
        )
        return [row[0] for row in rows]

    def original_sha256(self, doc_id: DocId, version: int) -> str:
        """Of the file that a version was made of; the version is known to be there."""
        with reading():
            return get_version(self.db, doc_id, version).original_sha256

    def last_labels(self, doc_id: DocId) -> tuple[str, ...] | None:
        """Those that are known last for a document, wherever it was published; None = it never was, here."""
        row = self.row("select access from documents where doc_id = ? and access is not null", (doc_id,))
        return None if row is None else tuple(json.loads(row[0]))
