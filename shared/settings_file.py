"""Writing citebound.toml without losing what a person wrote into it: comments, order, what is set elsewhere.

The only writer of that file besides a person's editor. Blocking throughout. Source: decision 0130.
"""

import errno
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Table

from shared.errors import SettingsError, StorageError

_HEADER = "Settings of Citebound. What the environment sets wins over this file; keys are not read from here."


def edited(text: str | None, section: str, values: Mapping[str, Any]) -> str:
    """The file's text with these values in that section; None takes a value out. `text` None: there is no file yet. Pure.

    Raises: SettingsError when the text is not TOML.
    """
    try:
        document = tomlkit.document() if text is None else tomlkit.parse(text.removeprefix("\ufeff"))
    except TOMLKitError as error:
        raise SettingsError(f"The settings file is not valid TOML: {error}. Correct that line first.") from error
    if text is None:
        document.add(tomlkit.comment(_HEADER))
    if section not in document:
        document.add(section, tomlkit.table())
    table = document[section]
    if not isinstance(table, Table):
        raise SettingsError(f"[{section}] in the settings file is not a section. Correct that line first.")
    for name, value in values.items():
        if value is not None:
            table[name] = value
        elif name in table:
            table.remove(name)
    if not table:
        document.remove(section)
    return tomlkit.dumps(document)


def read_text(path: Path) -> str | None:
    """None when there is no such file. Raises: SettingsError, StorageError."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} is not UTF-8. Save it as UTF-8 first.") from error
    except OSError as error:
        raise StorageError(f"{path} can't be read: {error.strerror}.") from error


def draft(path: Path, text: str) -> Path:
    """The text in a file beside `path`, on the disk: whether it will do can be tried before it counts. Raises: StorageError."""
    meant = _meant(path)
    beside = meant.with_name(f".{meant.name}.new")
    try:
        with beside.open("w", encoding="utf-8", newline="\n") as file:
            os.chmod(beside, meant.stat().st_mode & 0o777 if meant.exists() else 0o600)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise StorageError(f"{path} can't be written: {error.strerror}.") from error
    return beside


def put_in_place(drafted: Path, path: Path) -> None:
    """In one step. Raises: StorageError."""
    try:
        drafted.replace(_meant(path))
    except OSError as error:
        if error.errno == errno.EBUSY:
            raise StorageError(
                f"{path} can't be replaced, because it is mounted as a single file. Mount the folder it lies in instead."
            ) from error
        raise StorageError(f"{path} can't be written: {error.strerror}.") from error


def _meant(path: Path) -> Path:
    """The file itself where `path` is a link, which stays one."""
    return Path(os.path.realpath(path))
