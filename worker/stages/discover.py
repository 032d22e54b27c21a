"""What is there to import: every document's bytes into the originals store, one item each; and which of them are nothing new."""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct

from shared.catalog.building import base_members
from shared.catalog.documents import ensure_document, find_version, get_version
from shared.catalog.items import add_failed_item, add_item, known_keys, list_items, mark_chunked, mark_unchanged
from shared.catalog.snapshots import active_snapshot_id
from shared.catalog.sources import get_source
from shared.errors import StorageError
from shared.ids import DocId, SourceId
from shared.types.documents import Source
from shared.types.imports import ImportRequest
from shared.types.snapshots import SnapshotDocument
from worker.faults import fault_point
from worker.stages.places import document_key, path_place, uploads_source
from worker.stages.work import Work

_JUNK = frozenset({"desktop.ini", "thumbs.db", "__macosx", "$recycle.bin", "system volume information"})
_EXCEEDED = "The file has {size} bytes; at most {limit} are taken."

Lineage = Callable[[Source], str]  # how documents of a source are parsed and chunked: equal lineage, equal result


class Found(Struct, frozen=True, kw_only=True):
    path: Path
    key: str
    refused: str | None = None  # why it can't be taken in


def discover(work: Work, request: ImportRequest, *, max_bytes: int, lineage: Lineage) -> None:
    """Write down the import's items. What an earlier try has written down is not looked at again.

    Raises: StorageError when a path isn't there (an unmounted folder is no empty folder), Stopped.
    """
    if request.mode == "remove":
        return
    if request.mode == "reindex":
        _take_members(work)
    else:
        _take_uploads(work, request, max_bytes=max_bytes)
        for text in request.paths:
            _take_path(work, Path(text), request, max_bytes=max_bytes)
    _carry_over(work, lineage)


def files_under(root: Path) -> Iterator[Found]:
    """Every document of a folder in sorted order; keys are relative to `root`.

    Hidden files and what systems and office programs leave lying about are passed over. Links are not followed: inside the
    folder their target is found under its own name, and one that leads outside is refused.
    """
    inside = root.resolve()
    unreadable: list[OSError] = []
    for folder, names, files in os.walk(root, onerror=unreadable.append):
        names[:] = sorted(name for name in names if not _is_junk(name))
        links = [name for name in names if (Path(folder) / name).is_symlink()]
        for name in sorted([*(file for file in files if not _is_junk(file)), *links]):
            path = Path(folder) / name
            key = document_key(path.relative_to(root).as_posix())
            if path.is_symlink():
                if not path.resolve().is_relative_to(inside):
                    yield Found(path=path, key=key, refused="The link leads outside the folder.")
            elif stat.S_ISREG(path.lstat().st_mode):  # no pipes, sockets, devices
                yield Found(path=path, key=key)
    for error in unreadable:
        folder = Path(str(error.filename))
        if folder == root:
            raise StorageError(f"{root} can't be read: {error.strerror}. Mend that and resume the import.") from error
        key = document_key(folder.relative_to(root).as_posix())
        yield Found(path=folder, key=key, refused=f"The folder can't be read: {error.strerror}.")


def _take_uploads(work: Work, request: ImportRequest, *, max_bytes: int) -> None:
    if not request.uploads:
        return
    source = uploads_source(work.db, request.source, now_ms=work.now_ms())
    for upload in request.uploads:
        key = document_key(upload.name)
        if upload.size_bytes > max_bytes:
            _too_large(work, source.source_id, key, size_bytes=upload.size_bytes, max_bytes=max_bytes)
        else:
            add_item(
                work.db,
                work.import_id,
                source.source_id,
                key,
                original_sha256=upload.sha256,
                size_bytes=upload.size_bytes,
            )


def _take_path(work: Work, path: Path, request: ImportRequest, *, max_bytes: int) -> None:
    if not path.exists():
        raise StorageError(f"{path} isn't there. Mount or restore it and resume the import, or cancel it.")
    place = path_place(work.db, path, request.source, is_file=path.is_file(), now_ms=work.now_ms())
    source_id = place.source.source_id
    known = known_keys(work.db, work.import_id, source_id)
    if path.is_file():
        found: Iterator[Found] = iter([Found(path=path, key=place.prefix)])
    else:
        found = _under(files_under(path), place.prefix)
    for file in found:
        work.check()
        if file.key not in known:
            _take_file(work, source_id, file, max_bytes=max_bytes)
            fault_point("discover:stored")


def _take_file(work: Work, source_id: SourceId, file: Found, *, max_bytes: int) -> None:
    def refuse(reason: str, *, retryable: bool) -> None:
        add_failed_item(
            work.db,
            work.import_id,
            source_id,
            file.key,
            code="unreadable",
            reason=reason,
            retryable=retryable,
            size_bytes=0,
        )

    if file.refused is not None:
        refuse(file.refused, retryable=False)
        return
    try:
        size_bytes = file.path.stat().st_size
        if size_bytes > max_bytes:
            _too_large(work, source_id, file.key, size_bytes=size_bytes, max_bytes=max_bytes)
            return
        sha256, size_bytes = work.blobs.put_file(file.path)
    except OSError as error:  # of this file; the store's own come as StorageError
        refuse(f"The file can't be read: {error.strerror or type(error).__name__}.", retryable=True)
        return
    add_item(work.db, work.import_id, source_id, file.key, original_sha256=sha256, size_bytes=size_bytes)


def _too_large(work: Work, source_id: SourceId, key: str, *, size_bytes: int, max_bytes: int) -> None:
    add_failed_item(
        work.db,
        work.import_id,
        source_id,
        key,
        code="too_large",
        reason=_EXCEEDED.format(size=size_bytes, limit=max_bytes),
        retryable=False,
        size_bytes=size_bytes,
    )


def _take_members(work: Work) -> None:
    """Reindex: every document of the active snapshot, from its stored original."""
    for document in _base(work).values():
        made = get_version(work.db, document.doc_id, document.version)
        add_item(
            work.db,
            work.import_id,
            document.source_id,
            document.key,
            original_sha256=made.original_sha256,
            size_bytes=made.size_bytes,
        )


def _carry_over(work: Work, lineage: Lineage) -> None:
    """Same bytes, same lineage: what the base holds is unchanged, what only the catalog holds needn't be chunked again."""
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
            if (there.original_sha256, there.lineage) == (sha256, way):
                mark_unchanged(work.db, work.import_id, item.ordinal, doc=doc, version=there.version)
                continue
        made = find_version(work.db, doc, original_sha256=sha256, lineage=way)
        if made is not None:
            mark_chunked(
                work.db,
                work.import_id,
                item.ordinal,
                doc=doc,
                version=made.version,
                blocks=made.blocks,
                tokens=made.tokens,
            )


def _base(work: Work) -> dict[DocId, SnapshotDocument]:
    active = active_snapshot_id(work.db)
    return {} if active is None else {document.doc_id: document for document in base_members(work.db, active)}


def _under(found: Iterator[Found], prefix: str) -> Iterator[Found]:
    for file in found:
        yield file if not prefix else Found(path=file.path, key=f"{prefix}/{file.key}", refused=file.refused)


def _is_junk(name: str) -> bool:
    return name.startswith((".", "~$")) or name.endswith("~") or name.lower() in _JUNK
