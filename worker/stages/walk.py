"""The documents of a folder on this machine."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from msgspec import Struct

from shared.errors import StorageError
from worker.stages.places import document_key

_LEFT_BEHIND = frozenset({"desktop.ini", "thumbs.db", "__macosx", "$recycle.bin", "system volume information"})


class Found(Struct, frozen=True, kw_only=True):
    path: Path
    key: str
    refused: str | None = None  # why it can't be taken in


def files_under(root: Path) -> Iterator[Found]:
    """Every document of a folder in sorted order; keys are relative to `root`.

    Hidden files and what systems and office programs leave behind are passed over. Links are not followed: inside the folder
    their target is found under its own name, and one that leads outside is refused.
    Raises: StorageError when the folder itself can't be read; a folder in it that can't be read is refused.
    """
    inside = root.resolve()
    unreadable: list[OSError] = []
    for folder, names, files in os.walk(root, onerror=unreadable.append):
        names[:] = sorted(name for name in names if not is_junk(name))
        links = [name for name in names if (Path(folder) / name).is_symlink()]
        for name in sorted([*(file for file in files if not is_junk(file)), *links]):
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


def is_junk(name: str) -> bool:
    """Whether a file or folder of that name, or anything in a relative path, is nobody's document."""
    return any(
        part.startswith((".", "~$")) or part.endswith("~") or part.lower() in _LEFT_BEHIND
        for part in PurePosixPath(name).parts
    )
