"""Files on this machine as documents: which of a folder are some, and under which key each is known."""

import os
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path, PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from shared.errors import StorageError
from shared.text.unseen import shown

_LEFT_BEHIND = frozenset({"desktop.ini", "thumbs.db", "__macosx", "$recycle.bin", "system volume information"})


class Found(Struct, frozen=True, kw_only=True):
    path: Path
    key: str
    refused: str | None = None  # why it can't be taken in


def files_under(root: Path) -> Iterator[Found]:
    """Every document of a folder, those of one folder in sorted order before its folders; keys are relative to `root`.

    Hidden files and what systems and office programs leave behind are passed over. Links are not followed: inside the folder
    their target is found under its own name, and one that leads outside is refused. However deep folders lie in one another,
    only what the system can't name any more (4,096 bytes on Linux) is refused. No two have the same key: names that differ only
    in their Unicode form, or in bytes that are no Unicode, get a number.
    Raises: StorageError when the folder itself can't be read; a folder in it that can't be read is refused.
    """
    taken: set[str] = set()
    for found in _walk(root):
        key = next(key for key in numbered(found.key) if key not in taken)
        taken.add(key)
        yield found if key == found.key else replace(found, key=key)


def is_junk(name: str) -> bool:
    """Whether a file or folder of that name, or anything in a relative path, is nobody's document."""
    return any(
        part.startswith((".", "~$")) or part.endswith("~") or part.lower() in _LEFT_BEHIND
        for part in PurePosixPath(name).parts
    )


def document_key(name: str) -> str:
    """A relative path with forward slashes, in one Unicode form: a Mac and a Linux machine name the same file alike.

    Names keep a replacement character for each byte that is no Unicode and each character that no reader sees.
    """
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace").replace("\\", "/")
    parts = [
        part for part in PurePosixPath(unicodedata.normalize("NFC", shown(text))).parts if part not in ("/", "..", ".")
    ]
    return "/".join(parts) or "unnamed"


def numbered(key: str) -> Iterator[str]:
    """The key itself, then with 2, 3 … before its suffix: a.md, a (2).md …"""
    yield key
    path = PurePosixPath(key)
    for number in count(2):
        yield str(path.with_name(f"{path.stem} ({number}){path.suffix}"))


def _walk(root: Path) -> Iterator[Found]:
    inside = Path(os.path.realpath(root))
    waiting = [root]  # a stack of our own: os.walk calls itself for each level
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                there = sorted((entry for entry in entries if not is_junk(entry.name)), key=lambda entry: entry.name)
            documents = list(_documents(there, root, inside))
            folders = [folder / entry.name for entry in there if entry.is_dir(follow_symlinks=False)]
        except OSError as error:
            if folder == root:
                raise StorageError(f"{root} can't be read: {error.strerror}. Mend that and go on.") from error
            yield _found(folder, root, refused=f"The folder can't be read: {error.strerror}.")
        else:
            yield from documents
            waiting += reversed(folders)


def _documents(entries: Iterable[os.DirEntry[str]], root: Path, inside: Path) -> Iterator[Found]:
    for entry in entries:
        path = Path(entry.path)
        if entry.is_symlink():
            if not Path(os.path.realpath(path)).is_relative_to(inside):  # Path.resolve raises for a link to itself
                yield _found(path, root, refused="The link leads outside the folder.")
        elif entry.is_file(follow_symlinks=False):  # no pipes, sockets, devices
            yield _found(path, root)


def _found(path: Path, root: Path, *, refused: str | None = None) -> Found:
    return Found(path=path, key=document_key(path.relative_to(root).as_posix()), refused=refused)
