"""Folders on this machine: what of them is sent as uploads, and what of the library is no longer in them."""

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from scripts.citebound.console import count, note, words
from scripts.citebound.failure import USAGE, CommandFailed
from shared.files import document_key, files_under
from shared.ids import DocId, source_id
from shared.types.snapshots import SnapshotDocument

_MOST_UPLOADS: Final = 500  # files in one request: each is held open while it is sent


def files_to_send(paths: Iterable[Path]) -> list[tuple[str, Path]]:
    """Every document there with the name it gets, which begins with that of the folder given; what can't be read is told.

    Raises: CommandFailed (USAGE), StorageError.
    """
    files: list[tuple[str, Path]] = []
    for path in paths:
        if path.is_dir():
            for found in files_under(path):
                if found.refused is None:
                    files.append((f"{path.resolve().name}/{found.key}", found.path))
                else:
                    note(
                        words(f"not sent: {found.path}: {found.refused}", f"未发送：{found.path}：{found.refused}"),
                        "yellow",
                    )
        elif path.is_file():
            files.append((document_key(path.name), path))
        else:
            raise CommandFailed(
                f"{path} is neither a file nor a folder", remedy="name a file or a folder", code=USAGE, error="usage"
            )
    if not 1 <= len(files) <= _MOST_UPLOADS:
        raise CommandFailed(
            f"{len(files)} files there; an upload takes 1 to {_MOST_UPLOADS}",
            remedy="name fewer, or import the folder by its path on the machine where Citebound runs",
            code=USAGE,
            error="usage",
        )
    return files


def tell_vanished(there: Iterable[SnapshotDocument], paths: Sequence[Path]) -> None:
    """A hint at what a sync of these folders would take out: adding never does."""
    documents = list(there)
    gone = {doc for path in paths if path.is_dir() for doc in _vanished(documents, path.resolve())}
    if not gone:
        return
    folder = " ".join(shlex.quote(str(path)) for path in paths)
    note(
        words(
            f"{count(len(gone), 'document')} of this folder {'is' if len(gone) == 1 else 'are'} no longer there and"
            f" still {'answers' if len(gone) == 1 else 'answer'}; this takes them out:",
            f"该文件夹中有 {len(gone)} 份文档已不存在，但仍会被引用；移除它们：",
        ),
        "yellow",
    )
    note(f"./scripts/run import --mode sync {folder}", "yellow")


def _vanished(documents: Iterable[SnapshotDocument], folder: Path) -> Iterable[DocId]:
    """folder: absolute, links resolved. Its documents may belong to it or to any folder around it."""
    sources = {
        source_id("folder", root.as_posix()): folder.relative_to(root).parts for root in (folder, *folder.parents)
    }
    keys: frozenset[str] | None = None
    for one in documents:
        within = sources.get(one.source_id)
        if within is None:
            continue
        parts = PurePosixPath(one.key).parts
        start = PurePosixPath(document_key("/".join(within))).parts if within else ()
        if parts[: len(start)] != start:
            continue
        if keys is None:
            keys = frozenset(found.key for found in files_under(folder))
        # what was in a zip has the zip's key before its own
        inner = PurePosixPath(*parts[len(start) :])
        if not any(str(key) in keys for key in (inner, *inner.parents)):
            yield one.doc_id
