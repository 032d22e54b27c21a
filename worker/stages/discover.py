"""What is there to import: every document's bytes into the originals store, one item each; and which of them are nothing new."""

from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from shared.catalog.building import base_members, choose_base
from shared.catalog.documents import (
    ensure_document,
    find_version,
    get_version,
    is_as_imported,
    is_damaged,
    mark_damaged,
)
from shared.catalog.items import add_item, list_items, mark_chunked, mark_unchanged
from shared.catalog.sources import get_source
from shared.errors import StorageError
from shared.files import Found, files_under
from shared.ids import DocId, SourceId
from shared.types.documents import Source
from shared.types.imports import ImportRequest
from shared.types.snapshots import SnapshotDocument
from worker.stages.intake import Intake
from worker.stages.places import Place, path_place, upload_keys, uploads_source
from worker.stages.work import ImportFailed, Work

Lineage: TypeAlias = Callable[[Source], str]


def discover(work: Work, request: ImportRequest, *, max_bytes: int, lineage: Lineage) -> None:
    """Write down the import's items. What an earlier try has written down is not looked at again.

    Raises: StorageError when a path isn't there (an unmounted folder is no empty folder), Stopped; ImportFailed when a folder that
    had documents has none at all: a disk that isn't mounted leaves an empty one behind.
    """
    if request.mode == "remove":
        return
    if request.mode == "reindex":
        _take_members(work)
    else:
        if request.uploads:
            _take_uploads(work, request, max_bytes=max_bytes)
        for text in request.paths:
            _take_path(work, Path(text), request, max_bytes=max_bytes)
    _carry_over(work, lineage, look=request.mode == "reindex")


def _take_uploads(work: Work, request: ImportRequest, *, max_bytes: int) -> None:
    source = uploads_source(work.db, request.source, now_ms=work.now_ms())
    intake = Intake(work, source, max_bytes=max_bytes)
    for key, upload in upload_keys(request.uploads):
        intake.take_stored(key, sha256=upload.sha256, size_bytes=upload.size_bytes)


def _take_path(work: Work, path: Path, request: ImportRequest, *, max_bytes: int) -> None:
    if not path.exists():
        raise StorageError(f"{path} isn't there. Mount or restore it and resume the import, or cancel it.")
    place = path_place(work.db, path, request.source, is_file=path.is_file(), now_ms=work.now_ms())
    intake = Intake(work, place.source, max_bytes=max_bytes)
    if path.is_file():
        intake.take_files([Found(path=path, key=place.prefix)])
    else:
        found = _under(files_under(path), place.prefix)
        first = next(found, None)
        if first is not None:
            intake.take_files(chain([first], found))
        elif request.mode == "sync":
            _check_never_filled(work, path, place)


def _check_never_filled(work: Work, path: Path, place: Place) -> None:
    """Raises: ImportFailed when an empty folder would take out what the library has from there."""
    there = sum(place.covers(document.source_id, document.key) for document in _base(work).values())
    if there:
        raise ImportFailed(
            "no_documents",
            f"{path} holds no document any more, and the library has {there} from there. A disk that isn't mounted looks just so;"
            " nothing was taken out. Mount it and retry; or, if they are to go, import the folder in the mode remove.",
        )


def _take_members(work: Work) -> None:
    """Reindex: every document of the active snapshot, from its stored original."""
    for document in _base(work).values():
        made = get_version(work.db, document.doc_id, document.version)
        add_item(
            work.db,
            work.import_id,
            work.worker,
            document.source_id,
            document.key,
            original_sha256=made.original_sha256,
            size_bytes=made.size_bytes,
        )


def _carry_over(work: Work, lineage: Lineage, *, look: bool) -> None:
    """Same bytes, same lineage: what the base holds is unchanged, what only the catalog holds needn't be chunked again.

    look: read what is stored, and make anew what somebody changed. Else only what is known to be changed is made anew.
    """
    base = _base(work)
    wanted: dict[SourceId, str] = {}
    for item in list_items(work.db, work.import_id, "pending"):
        work.check()
        if item.source_id not in wanted:
            source = get_source(work.db, item.source_id)
            assert source is not None
            wanted[item.source_id] = lineage(source)
        doc = ensure_document(work.db, item.source_id, item.key, now_ms=work.now_ms())
        sha256, way = str(item.original_sha256), wanted[item.source_id]
        member = base.get(doc)
        if member is not None:
            there = get_version(work.db, doc, member.version)
            if look and not is_as_imported(work.db, doc, there.version):
                mark_damaged(work.db, doc, there.version)
            same = (there.original_sha256, there.lineage) == (sha256, way)
            if same and not is_damaged(work.db, doc, there.version):
                mark_unchanged(work.db, work.import_id, work.worker, item.ordinal, doc=doc, version=there.version)
                continue
        made = find_version(work.db, doc, original_sha256=sha256, lineage=way)
        if made is not None:
            mark_chunked(
                work.db,
                work.import_id,
                work.worker,
                item.ordinal,
                doc=doc,
                version=made.version,
                blocks=made.blocks,
                tokens=made.tokens,
            )


def _base(work: Work) -> dict[DocId, SnapshotDocument]:
    active = choose_base(work.db, work.import_id, work.worker)
    return {} if active is None else {document.doc_id: document for document in base_members(work.db, active)}


def _under(found: Iterator[Found], prefix: str) -> Iterator[Found]:
    for file in found:
        yield file if not prefix else Found(path=file.path, key=f"{prefix}/{file.key}", refused=file.refused)
