"""Where the settings come from: defaults < citebound.toml < environment; secrets from the environment or the OS credential store.

The file is CITEBOUND_CONFIG, or citebound.toml in the data folder if it is there. Every mistake is a SettingsError that names the
setting, the problem and the remedy; nothing is ignored, so a misspelt name can't pass for a default. No message shows a secret's value.
"""

import difflib
import errno
import json
import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, cast, get_origin

import msgspec
import platformdirs
from msgspec import Struct
from msgspec.structs import fields

from shared.credentials import KEYRING_SERVICE, secrets_of_use, stored_secret
from shared.errors import SettingsError
from shared.settings import Settings
from shared.settings_check import check
from shared.settings_listed import PREFIX, Known, known_settings

CONFIG = "CITEBOUND_CONFIG"
DATA_DIR = "CITEBOUND_DATA_DIR"
CONFIG_NAME = "citebound.toml"
_NOT_SETTINGS = frozenset({CONFIG, DATA_DIR, "CITEBOUND_URL", "CITEBOUND_PARENT_PIPE", "CITEBOUND_FAULT"})
_TEST_PREFIX = "CITEBOUND_TEST_"


def data_folder(env: Mapping[str, str]) -> Path:
    """CITEBOUND_DATA_DIR, or the platform's folder for a person's application data; absolute, not necessarily there.

    Raises: SettingsError when the system can't name such a folder.
    """
    named = env.get(DATA_DIR)
    if not named:
        return Path(platformdirs.user_data_dir("citebound", appauthor=False))
    if not is_text(named):
        raise SettingsError(f"{DATA_DIR}: {named!r} is not UTF-8; choose a folder whose name is", field=DATA_DIR)
    try:
        folder = Path(named).expanduser().absolute()
    except RuntimeError as error:  # ~nobody
        raise SettingsError(
            f"{DATA_DIR}: {named!r} can't be resolved ({error}); write the whole path", field=DATA_DIR
        ) from error
    try:
        folder.stat()
    except OSError as error:  # one that is not there yet is made, and what else is wrong is told by who needs it
        if error.errno in (errno.ENAMETOOLONG, errno.ELOOP):
            raise SettingsError(
                f"{DATA_DIR}: {named[:60]!r}… can't be a folder ({error.strerror}); choose another one", field=DATA_DIR
            ) from error
    return folder


def config_file(env: Mapping[str, str], *, config: Path | None = None) -> Path | None:
    """The settings file that counts, or None when there is none.

    Raises: SettingsError when one is named and isn't there.
    """
    named = config if config is not None else (Path(env[CONFIG]).expanduser() if env.get(CONFIG) else None)
    if named is None:
        found = data_folder(env) / CONFIG_NAME
        return (
            found if os.path.isfile(found) else None
        )  # a folder that can't be looked into is reported by who needs it
    if not os.path.isfile(named):
        raise SettingsError(f"{CONFIG}: there is no settings file {named}; correct the path or unset it", field=CONFIG)
    return named.absolute()


def load_settings(
    env: Mapping[str, str], *, config: Path | None = None, stored: Callable[[str], str | None] = stored_secret
) -> Settings:
    """Read every setting once.

    env: the process environment, whole; other variables are left alone, an empty value counts as not set.
    config: a settings file that takes the place of CITEBOUND_CONFIG.
    stored: looks a secret up by its name; asked only for secrets that the other settings make use of.
    Raises: invalid_settings
    """
    known = known_settings()
    path = config_file(env, config=config)
    given = {} if path is None else _from_file(path, known)
    given.update(_from_environment(env, known))
    settings = _build(given, data_dir=str(data_folder(env)))
    wanted = [name for name in secrets_of_use(settings) if given.get(name) is None]
    secrets = {name: value for name in wanted if (value := stored(name))}
    settings = _build({**given, **secrets}, data_dir=settings.data_dir)
    check(settings)
    return settings


def is_text(text: str) -> bool:
    """Whether an argument or variable is UTF-8; what isn't reaches Python as lone surrogates."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _from_file(path: Path, known: Mapping[str, Known]) -> dict[str, Any]:
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8-sig"))  # editors on Windows begin files with a mark
    except RecursionError as error:
        raise SettingsError(f"{path}: its values are nested too deeply; write them flat", field=CONFIG) from error
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} can't be read ({error}); make it readable UTF-8", field=CONFIG) from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} is not valid TOML: {error}; correct that line", field=CONFIG) from error
    if "data_dir" in tables:
        raise SettingsError(
            f"{path}: data_dir can't be set in the file; set {DATA_DIR} in the environment", field="data_dir"
        )
    sections = {one.setting.section for one in known.values()}
    given: dict[str, Any] = {}
    for section, table in tables.items():
        if section not in sections or not isinstance(table, dict):
            raise SettingsError(f"{path}: [{section}] is not a section;{_nearest(section, sections)}", field=section)
        for key, value in cast("dict[str, Any]", table).items():
            name = f"{section}.{key}"
            one = known.get(name)
            if one is None:
                raise SettingsError(f"{path}: {name} is not a setting;{_nearest(name, known)}", field=name)
            if one.setting.secret:
                raise SettingsError(
                    f"{path}: {name} is a secret and is not read from files; remove the line, then set {one.setting.env} in the"
                    f" environment, or put it into the system's credential store: keyring set {KEYRING_SERVICE} {name}",
                    field=name,
                )
            given[name] = _converted(value, one, where=f"{path}: {name}", strict=True)
    return given


def _from_environment(env: Mapping[str, str], known: Mapping[str, Known]) -> dict[str, Any]:
    by_env = {one.setting.env: one for one in known.values()}
    given: dict[str, Any] = {}
    for variable in sorted(env):
        if not variable.startswith(PREFIX) or variable in _NOT_SETTINGS or variable.startswith(_TEST_PREFIX):
            continue
        one = by_env.get(variable)
        if one is None:
            raise SettingsError(
                f"{variable} is not a setting;{_nearest(variable, [*by_env, *_NOT_SETTINGS])} or unset it",
                field=variable,
            )
        if not is_text(env[variable]):
            shown = "its value" if one.setting.secret else f"{env[variable]!r}"
            raise SettingsError(f"{variable}: {shown} is not UTF-8; set it again", field=variable)
        if env[variable]:
            given[one.setting.name] = _converted(_parsed(env[variable], one), one, where=variable, strict=False)
    return given


def _parsed(text: str, one: Known) -> Any:
    """An environment value, before its type is checked."""
    origin = get_origin(one.type)
    if origin is tuple:
        return [part for part in text.split(os.pathsep) if part]
    if origin is dict:
        try:
            return msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError) as error:
            raise SettingsError(
                f'{one.setting.env} is not JSON ({error}); write an object such as {{"key": "value"}}',
                field=one.setting.env,
            ) from error
    return text


def _converted(value: Any, one: Known, *, where: str, strict: bool) -> Any:
    """A value that every client can send on: JSON knows no nan, no infinity and no dates."""
    try:
        converted = msgspec.convert(value, one.type, strict=strict)
        json.dumps(converted, allow_nan=False)
        return converted
    except (msgspec.ValidationError, ValueError, TypeError, RecursionError) as error:
        shown = "" if one.setting.secret else f" {value!r}"
        raise SettingsError(
            f"{where}:{shown} won't do ({error}); expected: {one.setting.kind}, default {one.setting.default!r}",
            field=where.rpartition(": ")[2],
        ) from error


def _build(given: Mapping[str, Any], *, data_dir: str) -> Settings:
    sections: dict[str, Struct] = {}
    for section in fields(Settings):
        if section.name != "data_dir":
            start = f"{section.name}."
            values = {name.removeprefix(start): value for name, value in given.items() if name.startswith(start)}
            sections[section.name] = cast("type[Struct]", section.type)(**values)
    return Settings(data_dir=data_dir, **cast("dict[str, Any]", sections))


def _nearest(name: str, names: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(names), n=1, cutoff=0.6)
    return f" did you mean {close[0]}? Correct it" if close else " see the settings table in README.md; correct it"
