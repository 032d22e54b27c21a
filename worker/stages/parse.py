"""Bytes into elements, elements into a document version: parse and chunk."""

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Protocol

import msgspec
from msgspec import Struct

from shared.blobs import Blobs
from shared.catalog.documents import (
    add_version,
    content_sha256,
    ensure_document,
    find_parsed,
    find_version,
    next_version,
    remember_parsed,
)
from shared.catalog.items import begin_item, list_items, mark_chunked, mark_failed, mark_parsed, put_back_item
from shared.catalog.sources import get_source
from shared.errors import Conflict, DocumentError, NotFound, StorageError
from shared.types.documents import DocumentVersion
from shared.types.imports import ImportItem, ItemState
from shared.types.snapshots import Stage
from worker.faults import fault_point
from worker.parsers import Parsed
from worker.stages.ahead import ahead
from worker.stages.lineage import Chunking
from worker.stages.work import Stopped, Work

MAX_TRIES = 3  # of one document, each of which ended its worker
AT_ONCE = max(2, min(4, os.cpu_count() or 1))  # documents under way: each has a parser's child of its own
_HELPED_BY_RETRY = frozenset({"parse_timeout", "parse_crashed"})
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Parsed).decode


class Parser(Protocol):
    """Safe to use from several threads."""

    def parse(self, path: Path, *, name: str) -> Parsed: ...


class _Elements(Struct, frozen=True, kw_only=True):
    parsed: Parsed
    artifact_sha256: str | None = None  # of a checkpoint that was made just now


def parse(work: Work, parser: Parser, chunking: Chunking) -> None:
    """Read every pending document in a parser's child process and keep its elements as a checkpoint.

    A document that can't be read fails alone. Raises: StorageError, Stopped.
    """

    def store(item: ImportItem, _: Parsed) -> None:
        fault_point("parse:stored")
        mark_parsed(work.db, work.import_id, work.worker, item.ordinal)

    _each(work, "pending", "parse", store, parser=parser, chunking=chunking)


def chunk(work: Work, parser: Parser, chunking: Chunking) -> None:
    """Make every parsed document a version with sections and blocks, stored whole or not at all.

    Raises: StorageError, Stopped.
    """

    def store(item: ImportItem, parsed: Parsed) -> None:
        version = _version(work, item, parsed, chunking)
        fault_point("chunk:stored")
        mark_chunked(
            work.db,
            work.import_id,
            work.worker,
            item.ordinal,
            doc=version.doc_id,
            version=version.version,
            blocks=version.blocks,
            tokens=version.tokens,
        )

    _each(work, "parsed", "chunk", store, parser=parser, chunking=chunking)


def _each(
    work: Work,
    state: ItemState,
    stage: Stage,
    store: Callable[[ImportItem, Parsed], None],
    *,
    parser: Parser,
    chunking: Chunking,
) -> None:
    """Every item in `state`, each for itself: read on threads, a few ahead, stored on this one in the order of the items.

    A try that ends the worker, or that a bug ends, counts against the documents under way. One that was tried before is therefore tried
    alone, after the others, so that it can't take them along again.
    """
    items = list_items(work.db, work.import_id, state)
    begun = _Begun(work, stage, chunking)
    try:
        for some, at_once in (
            ([item for item in items if item.attempts == 0], AT_ONCE),
            ([item for item in items if item.attempts > 0], 1),
        ):
            with closing(ahead(partial(_read, work.blobs, parser), begun.each(some), at_once=at_once)) as results:
                for (item, _), read in results:
                    with begun.ending(item):
                        elements = read.result()
                        if elements.artifact_sha256 is not None:
                            _remember(work, item, elements.artifact_sha256, chunking)
                        store(item, elements.parsed)
    finally:
        begun.put_back()
    if begun.stopped is not None:
        raise begun.stopped


class _Begun:
    """Items whose try is counted and has not ended."""

    def __init__(self, work: Work, stage: Stage, chunking: Chunking) -> None:
        self.stopped: Stopped | None = None  # no further item is begun then; those under way are finished
        self._work = work
        self._stage: Stage = stage
        self._chunking = chunking
        self._under_way: dict[int, ImportItem] = {}

    def each(self, items: Iterable[ImportItem]) -> Iterator[tuple[ImportItem, str | None]]:
        """Begin one after the other; each with the SHA-256 of its checkpoint."""
        work = self._work
        for item in items:
            try:
                work.check()
            except Stopped as stopped:
                self.stopped = stopped
                return
            if begin_item(work.db, work.import_id, work.worker, item.ordinal) > MAX_TRIES:
                reason = f"{MAX_TRIES} tries to {self._stage} this file ended the worker process."
                _failed(work, item, self._stage, DocumentError("parse_crashed", reason))
                continue
            self._under_way[item.ordinal] = item
            name = PurePosixPath(item.key).name
            yield (
                item,
                find_parsed(work.db, str(item.original_sha256), name=name, lineage=self._chunking.parser_version),
            )

    @contextmanager
    def ending(self, item: ImportItem) -> Generator[None]:
        try:
            yield
        except DocumentError as error:
            _failed(self._work, item, self._stage, error)
        except (StorageError, Stopped):
            raise  # no fault of the document: to be put back
        except BaseException:
            del self._under_way[item.ordinal]  # a bug: its try stays counted
            raise
        del self._under_way[item.ordinal]

    def put_back(self) -> None:
        """Tries that were interrupted don't count."""
        for ordinal in self._under_way:
            put_back_item(self._work.db, self._work.import_id, self._work.worker, ordinal)


def _failed(work: Work, item: ImportItem, stage: Stage, error: DocumentError) -> None:
    retryable = error.code in _HELPED_BY_RETRY
    mark_failed(
        work.db,
        work.import_id,
        work.worker,
        item.ordinal,
        stage=stage,
        code=error.code,
        reason=error.message,
        retryable=retryable,
    )


def _read(blobs: Blobs, parser: Parser, begun: tuple[ImportItem, str | None]) -> _Elements:
    """From the checkpoint; without one, or with one that can't be read any more, from the original. On any thread."""
    item, kept = begun
    if kept is not None:
        with suppress(NotFound, msgspec.MsgspecError):  # checkpoints may be thrown away at any time
            return _Elements(parsed=_decode(blobs.read(kept)))
    try:
        original = blobs.sound(str(item.original_sha256))
    except NotFound as error:
        reason = "The stored original is missing or was changed. Import the file again."
        raise DocumentError("unreadable", reason) from error
    parsed = parser.parse(original, name=PurePosixPath(item.key).name)
    fault_point("parse:read")
    return _Elements(parsed=parsed, artifact_sha256=blobs.put(_encode(parsed), lasting=False))


def _remember(work: Work, item: ImportItem, artifact_sha256: str, chunking: Chunking) -> None:
    remember_parsed(
        work.db,
        str(item.original_sha256),
        name=PurePosixPath(item.key).name,
        lineage=chunking.parser_version,
        artifact_sha256=artifact_sha256,
    )


def _version(work: Work, item: ImportItem, parsed: Parsed, chunking: Chunking) -> DocumentVersion:
    source = get_source(work.db, item.source_id)
    assert source is not None
    doc = ensure_document(work.db, item.source_id, item.key, now_ms=work.now_ms())
    lineage, sha256 = chunking.lineage(source), str(item.original_sha256)
    while True:
        made = find_version(work.db, doc, original_sha256=sha256, lineage=lineage)
        if made is not None:  # by an earlier try, or by another import of the same file
            return made
        number = next_version(work.db, doc)
        content = chunking.cut(parsed, doc, number, source)
        version = DocumentVersion(
            doc_id=doc,
            version=number,
            title=content.title,
            lang=content.lang,
            media_type=content.media_type,
            size_bytes=item.size_bytes,
            original_sha256=sha256,
            lineage=lineage,
            artifact_sha256=content_sha256(content),
            pages=content.pages,
            sections=len(content.sections),
            blocks=len(content.blocks),
            tokens=sum(block.tokens for block in content.blocks),
            created_at_ms=work.now_ms(),
        )
        try:
            add_version(work.db, version, content)
        except Conflict:  # another import took the number meanwhile
            continue
        return version
