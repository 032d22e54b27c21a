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
from typing import Any, cast, get_args, get_origin

import msgspec
import platformdirs
from msgspec import Struct
from msgspec.structs import FieldInfo, fields

from shared.errors import SettingsError
from shared.keys import demands_key
from shared.loopback import is_address, is_loopback
from shared.settings import Settings

PREFIX = "CITEBOUND_"
CONFIG = "CITEBOUND_CONFIG"
DATA_DIR = "CITEBOUND_DATA_DIR"
CONFIG_NAME = "citebound.toml"
KEYRING_SERVICE = "citebound"
_NOT_SETTINGS = frozenset({CONFIG, DATA_DIR, "CITEBOUND_URL", "CITEBOUND_PARENT_PIPE", "CITEBOUND_FAULT"})
_TEST_PREFIX = "CITEBOUND_TEST_"
_SECRETS = frozenset({"api_key", "secret_key"})  # names of fields


class Setting(Struct, frozen=True, kw_only=True):
    """One setting as people see it."""

    name: str  # "chat.base_url", as in the file and in the credential store
    env: str  # "CITEBOUND_CHAT_BASE_URL"
    section: str
    field: str
    kind: str  # type, for people
    default: Any
    secret: bool


class _Known(Struct, frozen=True, kw_only=True):
    setting: Setting
    type: Any


def list_settings() -> tuple[Setting, ...]:
    """Every setting but the data folder, in the order of shared/settings.py."""
    return tuple(known.setting for known in _known().values())


def secret_values(settings: Settings) -> list[str]:
    """Values that must stand in no log, trace or reply."""
    values = (getattr(getattr(settings, one.section), one.field) for one in list_settings() if one.secret)
    return [value for value in values if value]


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


def stored_secret(name: str) -> str | None:
    """`name` as in Setting.name, from the OS credential store; None when it isn't there or there is no store.

    Put one in with: python -m keyring set citebound chat.api_key
    """
    import keyring  # 60 ms that only a start which needs a secret should pay
    from keyring.errors import KeyringError

    try:
        return keyring.get_password(KEYRING_SERVICE, name)
    except KeyringError:  # no store on this machine, or locked: same as not stored, the provider's 401 tells the rest
        return None


def load_settings(
    env: Mapping[str, str], *, config: Path | None = None, stored: Callable[[str], str | None] = stored_secret
) -> Settings:
    """Read every setting once.

    env: the process environment, whole; other variables are left alone, an empty value counts as not set.
    config: a settings file that takes the place of CITEBOUND_CONFIG.
    stored: looks a secret up by its name; asked only for secrets that the other settings make use of.
    Raises: invalid_settings
    """
    known = _known()
    path = config_file(env, config=config)
    given = {} if path is None else _from_file(path, known)
    given.update(_from_environment(env, known))
    settings = _build(given, data_dir=str(data_folder(env)))
    wanted = [name for name in _secrets_of_use(settings) if given.get(name) is None]
    secrets = {name: value for name in wanted if (value := stored(name))}
    settings = _build({**given, **secrets}, data_dir=settings.data_dir)
    _check(settings)
    return settings


def is_text(text: str) -> bool:
    """Whether an argument or variable is UTF-8; what isn't reaches Python as lone surrogates."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _known() -> dict[str, _Known]:
    found: dict[str, _Known] = {}
    for section in fields(Settings):
        if section.name == "data_dir":
            continue
        for field in fields(cast("type[Struct]", section.type)):
            name = f"{section.name}.{field.name}"
            setting = Setting(
                name=name,
                env=f"{PREFIX}{section.name}_{field.name}".upper(),
                section=section.name,
                field=field.name,
                kind=_kind(field.type),
                default=_default(field),
                secret=field.name in _SECRETS,
            )
            found[name] = _Known(setting=setting, type=field.type)
    return found


def _default(field: FieldInfo) -> Any:
    if field.default is not msgspec.NODEFAULT:
        return field.default
    return field.default_factory() if callable(field.default_factory) else None


def _kind(annotation: Any) -> str:
    inner = [part for part in get_args(annotation) if part is not type(None)]
    origin = get_origin(annotation)
    if hasattr(annotation, "__metadata__"):
        return _kind(inner[0])
    if origin is tuple:
        return f"folders, separated by {os.pathsep}"
    if origin is dict:
        return "JSON object"
    if str(origin) == "typing.Literal":
        return " | ".join(str(part) for part in inner)
    if inner:
        return _kind(inner[0])
    return {bool: "true | false", int: "integer", float: "number", str: "text"}[annotation]


def _from_file(path: Path, known: Mapping[str, _Known]) -> dict[str, Any]:
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
                    f" environment or store it with: .venv/bin/python -m keyring set {KEYRING_SERVICE} {name}",
                    field=name,
                )
            given[name] = _converted(value, one, where=f"{path}: {name}", strict=True)
    return given


def _from_environment(env: Mapping[str, str], known: Mapping[str, _Known]) -> dict[str, Any]:
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


def _parsed(text: str, one: _Known) -> Any:
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


def _converted(value: Any, one: _Known, *, where: str, strict: bool) -> Any:
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


def _secrets_of_use(settings: Settings) -> list[str]:
    used = {
        "api.api_key": True,
        "qdrant.api_key": settings.qdrant.url is not None,
        "embedding.api_key": settings.embedding.provider == "openai",
        "rerank.api_key": settings.rerank.base_url is not None,
        "chat.api_key": settings.chat.base_url is not None,
        "otlp.api_key": settings.otlp.endpoint is not None,
        "langfuse.secret_key": settings.langfuse.base_url is not None,
    }
    return [name for name, of_use in used.items() if of_use]


def _check(settings: Settings) -> None:
    """What no field can know alone."""
    chat, embedding, limits, worker = settings.chat, settings.embedding, settings.limits, settings.worker
    if not (is_loopback(settings.api.host) or demands_key(settings.api)):
        raise _refused(
            "api.host",
            f"{settings.api.host} can be reached from other machines, and no key is demanded",
            "set CITEBOUND_API_API_KEY, or CITEBOUND_API_REQUIRE_KEY=true and make keys with ./scripts/run keys add, or bind 127.0.0.1",
        )
    for root in settings.api.import_roots:
        if not Path(root).exists():
            raise _refused(
                "api.import_roots",
                f"there is no folder {root!r}",
                f"correct it; several folders are separated by {os.pathsep!r} in the environment and are a list in the file",
            )
    if chat.base_url is not None and chat.model is None:
        raise _refused("chat.model", "chat.base_url is set but no model is named", "set CITEBOUND_CHAT_MODEL")
    if chat.base_url is None and chat.model is not None:
        raise _refused(
            "chat.base_url",
            f"chat.model is {chat.model!r} but no provider is named",
            "set CITEBOUND_CHAT_BASE_URL, e.g. https://api.deepseek.com/v1",
        )
    if embedding.provider == "openai" and (embedding.base_url is None or embedding.model is None):
        missing = "base_url" if embedding.base_url is None else "model"
        raise _refused(
            f"embedding.{missing}",
            "the openai provider needs it",
            f"set CITEBOUND_EMBEDDING_{missing.upper()}, or use provider local",
        )
    rerank = settings.rerank
    if (rerank.base_url is None) != (rerank.model is None):
        missing = "base_url" if rerank.base_url is None else "model"
        raise _refused(
            f"rerank.{missing}",
            "reranking needs an address and a model's name",
            f"set CITEBOUND_RERANK_{missing.upper()}, or unset the other",
        )
    langfuse = settings.langfuse
    for field in ("public_key", "secret_key"):
        if langfuse.base_url is not None and getattr(langfuse, field) is None:
            raise _refused(
                f"langfuse.{field}", "Langfuse takes nothing without it", f"set CITEBOUND_LANGFUSE_{field.upper()}"
            )
    addresses = {
        "chat.base_url": chat.base_url,
        "embedding.base_url": embedding.base_url,
        "rerank.base_url": rerank.base_url,
        "qdrant.url": settings.qdrant.url,
        "otlp.endpoint": settings.otlp.endpoint,
        "langfuse.base_url": settings.langfuse.base_url,
    }
    for name, url in addresses.items():
        if url is not None and not is_address(url):
            raise _refused(name, f"{url!r} is not a web address", "write it as http://host:port/path or https://…")
    broker = settings.broker.url
    if broker is not None and not (broker.startswith("unix:///") or is_address(broker, schemes=("redis", "rediss"))):
        raise _refused(
            "broker.url", f"{broker!r} is no broker's address", "write it as redis://host:port/0 or unix:///path"
        )
    for secret in (one.setting for one in _known().values() if one.setting.secret):
        value = getattr(getattr(settings, secret.section), secret.field)
        if value is not None and not (value.isascii() and value.isprintable() and " " not in value):
            raise _refused(secret.name, "a key holds ASCII letters, digits and signs, and no spaces", "set it again")
    for field in fields(limits):
        least = 0 if field.name in ("max_tool_calls", "finalization_reserve_tokens") else 1
        if getattr(limits, field.name) < least:
            raise _refused(
                f"limits.{field.name}", f"{getattr(limits, field.name)} is too small", f"give at least {least}"
            )
    if limits.finalization_reserve_tokens >= limits.max_context_tokens:
        raise _refused(
            "limits.finalization_reserve_tokens", "it leaves no room in max_context_tokens", "give a smaller number"
        )
    if worker.block_tokens > worker.block_max_tokens:
        raise _refused("worker.block_tokens", "the target is above block_max_tokens", "give a smaller number")


def _refused(name: str, problem: str, remedy: str) -> SettingsError:
    return SettingsError(f"{name}: {problem}; {remedy}", field=name)


def _nearest(name: str, names: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(names), n=1, cutoff=0.6)
    return f" did you mean {close[0]}? Correct it" if close else " see the settings table in README.md; correct it"
