"""Bytes into elements, elements into a document version: parse and chunk, one document at a time."""

from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Protocol

import msgspec

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
from worker.stages.lineage import Chunking
from worker.stages.work import Stopped, Work

MAX_TRIES = 3  # of one document, each of which ended its worker
_HELPED_BY_RETRY = frozenset({"parse_timeout", "parse_crashed"})
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Parsed).decode


class Parser(Protocol):
    def parse(self, path: Path, *, name: str) -> Parsed: ...


def parse(work: Work, parser: Parser, chunking: Chunking) -> None:
    """Read every pending document in the parser's child process and keep its elements as a checkpoint.

    A document that can't be read fails alone. Raises: StorageError, Stopped.
    """

    def one(item: ImportItem) -> None:
        _elements(work, item, parser, chunking)
        fault_point("parse:stored")
        mark_parsed(work.db, work.import_id, work.worker, item.ordinal)

    _each(work, "pending", "parse", one)


def chunk(work: Work, parser: Parser, chunking: Chunking) -> None:
    """Make every parsed document a version with sections and blocks, stored whole or not at all.

    Raises: StorageError, Stopped.
    """

    def one(item: ImportItem) -> None:
        version = _version(work, item, _elements(work, item, parser, chunking), chunking)
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

    _each(work, "parsed", "chunk", one)


def _each(work: Work, state: ItemState, stage: Stage, do: Callable[[ImportItem], None]) -> None:
    """Every item in `state`, each for itself. A try that ends the worker, or that a bug ends, counts against the document."""
    for item in list_items(work.db, work.import_id, state):
        work.check()
        if begin_item(work.db, work.import_id, work.worker, item.ordinal) > MAX_TRIES:
            reason = f"{MAX_TRIES} tries to {stage} this file ended the worker process."
            _failed(work, item, stage, DocumentError("parse_crashed", reason))
            continue
        try:
            do(item)
        except DocumentError as error:
            _failed(work, item, stage, error)
        except (StorageError, Stopped):
            put_back_item(work.db, work.import_id, work.worker, item.ordinal)
            raise


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


def _elements(work: Work, item: ImportItem, parser: Parser, chunking: Chunking) -> Parsed:
    """From the checkpoint; without one, or with one that can't be read any more, from the original."""
    sha256, name = str(item.original_sha256), PurePosixPath(item.key).name
    kept = find_parsed(work.db, sha256, name=name, lineage=chunking.parser_version)
    if kept is not None:
        try:
            return _decode(work.blobs.read(kept))
        except (NotFound, msgspec.MsgspecError):
            pass  # checkpoints may be thrown away at any time
    try:
        original = work.blobs.sound(sha256)
    except NotFound as error:
        reason = "The stored original is missing or was changed. Import the file again."
        raise DocumentError("unreadable", reason) from error
    parsed = parser.parse(original, name=name)
    fault_point("parse:read")
    artifact = work.blobs.put(_encode(parsed), lasting=False)
    remember_parsed(work.db, sha256, name=name, lineage=chunking.parser_version, artifact_sha256=artifact)
    return parsed


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
