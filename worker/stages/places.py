"""Which source a path or an upload belongs to, and under which key. Pure but for looking at the sources there are."""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from shared.catalog.db import Database
from shared.catalog.sources import ensure_source, find_source, list_sources
from shared.files import document_key, numbered
from shared.ids import SourceId
from shared.source_spec import MAX_CHARACTERS
from shared.text.unseen import shown
from shared.types.documents import Source
from shared.types.imports import ImportRequest, SourceSpec, Upload

UPLOADS = "uploads"  # label of the source of uploads for which none was named


class Place(Struct, frozen=True, kw_only=True):
    """A part of a source: everything (prefix ""), a folder in it, or one document."""

    source: Source
    prefix: str = ""
    path: Path | None = None  # on this machine; None for uploads

    def covers(self, source_id: SourceId, key: str) -> bool:
        return source_id == self.source.source_id and (
            not self.prefix or key == self.prefix or key.startswith(f"{self.prefix}/")
        )


def uploads_source(db: Database, spec: SourceSpec, *, now_ms: int) -> Source:
    root = spec.label or UPLOADS
    return ensure_source(db, spec, kind="upload", root=root, label=root, now_ms=now_ms)


def path_place(db: Database, path: Path, spec: SourceSpec, *, is_file: bool, now_ms: int) -> Place:
    """`path`: absolute and resolved; for a file the place's prefix is its key.

    Inside a known source it belongs to that source: importing docs/ and later docs/a.md means the same document twice. When the
    importer says something about the source, it becomes one of its own: labels given for one file never fall on its neighbours.
    """
    if spec != SourceSpec():
        return _place(_made(db, path, spec, now_ms=now_ms), path, is_file=is_file)
    owner = _owner(list_sources(db), path)
    return _place(owner or _made(db, path.parent if is_file else path, spec, now_ms=now_ms), path, is_file=is_file)


def requested_places(db: Database, request: ImportRequest) -> list[Place]:
    """What a request is about, as far as its sources are known; the disk is not looked at."""
    found: list[Place] = []
    uploads = find_source(db, kind="upload", root=request.source.label or UPLOADS)
    if request.uploads and uploads is not None:
        names = [""] if request.mode == "sync" else [key for key, _ in upload_keys(request.uploads)]
        found += [Place(source=uploads, prefix=name) for name in names]
    sources = list_sources(db)
    for path in (Path(text) for text in request.paths):
        owner = _owner(sources, path)
        if owner is not None:
            found.append(_place(owner, path, is_file=False))
    return found


def upload_keys(uploads: Sequence[Upload]) -> list[tuple[str, Upload]]:
    """A key for each upload, in order. Two files of one name are two documents: the later one gets a number."""
    taken: dict[str, Upload] = {}
    for upload in uploads:
        keys = numbered(document_key(upload.name))
        taken.setdefault(next(key for key in keys if taken.get(key, upload).sha256 == upload.sha256), upload)
    return list(taken.items())


def _made(db: Database, root: Path, spec: SourceSpec, *, now_ms: int) -> Source:
    label = shown(root.name or root.as_posix())[:MAX_CHARACTERS]
    return ensure_source(db, spec, kind="folder", root=root.as_posix(), label=label, now_ms=now_ms)


def _owner(sources: Sequence[Source], path: Path) -> Source | None:
    """The innermost source that is `path` or holds it."""
    holding = [source for source in sources if source.kind == "folder" and path.is_relative_to(source.root)]
    return max(holding, key=lambda source: len(source.root), default=None)


def _place(source: Source, path: Path, *, is_file: bool) -> Place:
    relative = path.relative_to(source.root).as_posix()
    if relative == ".":  # the source's root: a folder, or the one file that is the source
        return Place(source=source, prefix=document_key(path.name) if is_file else "", path=path)
    return Place(source=source, prefix=document_key(relative), path=path)
