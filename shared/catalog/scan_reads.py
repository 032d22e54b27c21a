"""Every block of a snapshot that has a literal string, under a caller's access; each text is compared with the hash it was published with."""

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from msgspec import Struct

from shared.catalog.block_reads import BLOCKS, changed, is_published
from shared.catalog.document_reads import DocumentReads
from shared.catalog.reads import reading
from shared.catalog.scan_index import index_fault, is_complete
from shared.catalog.scanning import Ids, Places, candidates, in_order, places
from shared.catalog.within import Within, array, visible
from shared.ids import BlockId, DocId
from shared.text.grams import is_gram
from shared.types.documents import Trust

# nullif: most Chinese texts are their own fold, read once; blob: hashed as it is stored
_COLUMNS = (
    "b.block_id, b.doc_id, b.version, s.path, b.page_first, b.page_last, b.span_start, b.flags, cast(b.text as blob),"
    " nullif(b.folded, b.text), d.title, d.source_label, d.trust, d.updated_at_ms, b.sha256"
)
_NAMED = (
    "json_each(:ids) w cross join blocks b on b.id = w.value"
    " cross join snapshot_documents d on d.doc_id = b.doc_id and d.version = b.version"
    " cross join sections s on s.doc_id = b.doc_id and s.version = b.version and s.ordinal = b.section_ordinal"
)
_BATCH = 1_000  # blocks read by their ids at once
_SOON_READ = 10_000  # blocks: reading them through takes some 15 ms


class ScannedBlock(Struct, frozen=True, gc=False):
    """A block that has the term, with what a hit tells of its document. Not tracked by the collector: there may be 100,000 of them."""

    block_id: BlockId
    doc_id: DocId
    version: int
    section_path: str
    page_first: int | None
    page_last: int | None
    span_start: int
    flags: str  # JSON array
    utf8: bytes  # the text
    folded: str | None  # None = the text is its own fold
    title: str
    source_label: str
    trust: Trust
    updated_at_ms: int
    sha256: str


class Scan(Struct, frozen=True, kw_only=True):
    """`blocks`: by doc_id, then document order; read while they are taken."""

    blocks: Iterator[ScannedBlock]
    ceiling: (
        int | None
    )  # blocks that may have the term, others' included, so not to be told; None = the index doesn't say
    at_most: Callable[[], int]  # those within of them; counted when it is asked for
    is_exact: bool = False  # that many they are


class ScanReads(DocumentReads):
    """Raises: CollectionUnavailable when a block's text is not what was published."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._complete: tuple[int | None, bool] = (None, False)  # a state of the catalog; whether its index of grams is
        self._places: tuple[tuple[int, Within], Places] | None = None  # of the last caller who had many candidates

    def scan(self, within: Within, folded_term: str) -> Scan:
        """Every block whose folded text contains the folded term.

        What few documents hold is read through; in the rest, the index of grams says which blocks are worth reading.
        """
        where, parameters = visible(within)
        parameters["term"] = folded_term
        is_soon_read = within.doc_ids is not None and self.counts(within)[1] <= _SOON_READ
        found = None if is_soon_read else self.candidates(folded_term)
        if found is None:
            every = self._scanned(BLOCKS, f"{where} order by d.doc_id, b.block_index", parameters)
            return Scan(blocks=every, ceiling=None, at_most=lambda: 0)
        is_exact, ceiling = is_gram(folded_term), len(found)
        if ceiling <= _BATCH:
            parameters["ids"] = array(found.tolist())
            some = self._scanned(_NAMED, f"{where} order by b.doc_id, b.block_index", parameters)
            return Scan(
                blocks=some, ceiling=ceiling, at_most=lambda: len(self.placed(within, found)), is_exact=is_exact
            )
        there = self.placed(within, found)
        some = self._in_batches(within, folded_term, there)
        return Scan(blocks=some, ceiling=ceiling, at_most=lambda: len(there), is_exact=is_exact)

    def placed(self, within: Within, ids: Ids) -> Ids:
        """Rows of blocks that are within, by doc_id and block index."""
        key = self.state(), within
        if self._places is None or self._places[0] != key:
            where, parameters = visible(within)
            with reading():
                self._places = key, places(self.db.conn, where=where, parameters=parameters)
        return in_order(self._places[1], ids)

    def candidates(self, folded_term: str) -> Ids | None:
        """Rows of blocks that may have the term, in all snapshots; None = the index doesn't say, or lacks blocks."""
        with reading():
            return candidates(self.db.conn, folded_term) if self._is_indexed() else None

    def scan_index_fault(self) -> str | None:
        """What is wrong with the index of grams, of all snapshots; None = it has every block. Raises: StorageError."""
        return index_fault(self.path)

    def _is_indexed(self) -> bool:
        state = self.state()
        if self._complete[0] != state:
            self._complete = (state, is_complete(self.db.conn))
        return self._complete[1]

    def _in_batches(self, within: Within, folded_term: str, ids: Ids) -> Iterator[ScannedBlock]:
        """`ids`: of blocks that are within."""
        parameters = {"snapshot_id": within.snapshot_id, "term": folded_term}
        batches = (array(ids[at : at + _BATCH].tolist()) for at in range(0, len(ids), _BATCH))
        return chain.from_iterable(
            self._scanned(_NAMED, "d.snapshot_id = :snapshot_id", parameters | {"ids": batch}) for batch in batches
        )

    def _scanned(self, tables: str, where: str, parameters: Mapping[str, Any]) -> Iterator[ScannedBlock]:
        sql = f"select {_COLUMNS} from {tables} where instr(b.folded, :term) > 0 and {where}"
        with reading():
            for row in self.db.conn.execute(sql, parameters):
                block = ScannedBlock(*row)
                if not is_published(block.utf8, block.sha256):
                    raise changed(block.block_id)
                yield block
