"""Every block of a snapshot that has a literal string, under a caller's access; each text is compared with the hash it was published with."""

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from shared.catalog.block_reads import BLOCKS, changed, is_published
from shared.catalog.document_reads import DocumentReads
from shared.catalog.reads import Parameters, reading
from shared.catalog.scan_index import index_fault, is_complete
from shared.catalog.scanning import Ids, Places, candidates, in_order, places
from shared.catalog.within import Within, array, visible
from shared.ids import BlockId, DocId
from shared.text.grams import is_gram
from shared.types.documents import BlockFlag, Trust

# of a ScannedBlock; nullif: most Chinese texts are their own fold, read once
_SCANNED = (
    "json_array(b.block_id, b.doc_id, b.version, s.path, b.page_first, b.page_last, b.span_start, json(b.flags), b.text,"
    " nullif(b.folded, b.text), d.title, d.source_label, d.trust, d.updated_at_ms, b.sha256)"
)
_NAMED = (
    "json_each(:ids) w cross join blocks b on b.id = w.value"
    " cross join snapshot_documents d on d.doc_id = b.doc_id and d.version = b.version"
    " cross join sections s on s.doc_id = b.doc_id and s.version = b.version and s.ordinal = b.section_ordinal"
)
_PAGE = 64  # blocks read at once: some 200 KB of JSON
_MANY = 1_000  # candidates: what is within is looked up for all of the snapshot then, and remembered
_SOON_READ = 10_000  # blocks: reading them through takes some 15 ms
_id = msgspec.json.Decoder(int)


class ScannedBlock(Struct, frozen=True, gc=False, array_like=True):
    """A block that has the term, with what a hit tells of its document. Not tracked by the collector: there may be 100,000 of them."""

    block_id: BlockId
    doc_id: DocId
    version: int
    section_path: str
    page_first: int | None
    page_last: int | None
    span_start: int
    flags: tuple[BlockFlag, ...]
    text: str
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
        where = f"instr(b.folded, :term) > 0 and {where}"
        parameters["term"] = folded_term
        is_soon_read = within.doc_ids is not None and self.counts(within)[1] <= _SOON_READ
        found = None if is_soon_read else self.candidates(folded_term)
        if found is None:
            every = self._rows(f"{BLOCKS} where {where} order by d.doc_id, b.block_index", parameters)
            return Scan(blocks=self._pages(within, folded_term, every), ceiling=None, at_most=lambda: 0)
        named = f"{_NAMED} where {where} order by b.doc_id, b.block_index"
        if len(found) > _MANY:
            there = self.placed(within, found).tolist()
            blocks, at_most = self._pages(within, folded_term, there), lambda: len(there)
        else:
            parameters["ids"] = array(found.tolist())
            if len(found) <= _PAGE:
                blocks = self._scanned(named, parameters)
            else:
                blocks = self._pages(within, folded_term, self._rows(named, parameters))
            at_most = lambda: len(self.placed(within, found))  # noqa: E731
        return Scan(blocks=blocks, ceiling=len(found), at_most=at_most, is_exact=is_gram(folded_term))

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

    def _rows(self, tables: str, parameters: Parameters) -> list[int]:
        return self.listed("b.id", tables, parameters, _id)

    def _pages(self, within: Within, folded_term: str, ids: list[int]) -> Iterator[ScannedBlock]:
        """`ids`: of blocks that are within."""
        tables = f"{_NAMED} where instr(b.folded, :term) > 0 and d.snapshot_id = :snapshot_id"
        parameters = {"snapshot_id": within.snapshot_id, "term": folded_term}
        for at in range(0, len(ids), _PAGE):
            yield from self._scanned(tables, parameters | {"ids": array(ids[at : at + _PAGE])})

    def _scanned(self, tables: str, parameters: Parameters) -> Iterator[ScannedBlock]:
        for block in self.listed(_SCANNED, tables, parameters, _blocks):
            if not is_published(block.text.encode(), block.sha256):
                raise changed(block.block_id)
            yield block


_blocks = msgspec.json.Decoder(ScannedBlock)
