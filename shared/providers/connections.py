"""Connections to providers: what is set and from where, and changing it while the program runs.

Addresses and models go into citebound.toml, keys into the credential store of the operating system; what the environment sets
stays as it is. A key is never sent to another server than the one it was entered for. Blocking throughout; safe between threads.
Source: decisions 0129, 0130.
"""

import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import asdict, replace

from shared.credentials import CredentialStore, StoreState, SystemStore, secrets_of_use, variable_of
from shared.errors import Conflict, InvalidArgument, SettingsError, StorageError
from shared.lifeline import PARENT_PIPE
from shared.providers.verdict import PARTS, Part
from shared.settings import Settings
from shared.settings_file import draft, edited, put_in_place, read_text
from shared.settings_listed import list_settings
from shared.settings_load import CONFIG_NAME, config_file, data_folder, load_settings
from shared.settings_shown import HIDDEN_USERINFO, Shown, shown_settings, without_userinfo

KeyOrigin = Literal["none", "environment", "credential_store"]
_FIELDS: dict[Part, tuple[str, ...]] = {
    "chat": ("base_url", "model"),
    "embedding": ("provider", "base_url", "model", "dimensions"),
    "rerank": ("base_url", "model"),
}
Text = Annotated[str, Meta(max_length=500)]


class Wanted(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a part shall be connected. `base_url` None: not at all; the key goes as well.

    `api_key` not said: the stored one stays, which is refused for another server; None: this provider wants none.
    """

    base_url: Text | None
    model: Text | None = None
    dimensions: Annotated[int, Meta(ge=1, le=65_536)] | None = None  # of embeddings alone
    api_key: Text | UnsetType | None = UNSET


class Connection(Struct, frozen=True, kw_only=True):
    """One part as it is now. `fixed`: environment variables that decide over it, which nothing here can change."""

    part: Part
    base_url: str | None
    model: str | None
    dimensions: int | None
    key: KeyOrigin
    fixed: tuple[str, ...]


class Overview(Struct, frozen=True, kw_only=True):
    """`file`: what is written to. `pending`: what is set by now is not what this process was started with."""

    connections: tuple[Connection, ...]
    store: StoreState
    file: str
    writable: bool
    pending: bool
    settings: tuple[Shown, ...]  # in force


class Connections:
    """`env`: what the process was started with. `in_force`: the settings that were read from it then.

    `check_opens`: raises SettingsError for what no process could start with.
    """

    def __init__(
        self,
        env: Mapping[str, str],
        *,
        in_force: Settings,
        store: CredentialStore | None = None,
        check_opens: Callable[[Settings], None] = lambda _: None,
    ) -> None:
        self._env = {**env, "CITEBOUND_DATA_DIR": in_force.data_dir}
        self._in_force = in_force
        self._store = SystemStore(env) if store is None else store
        self._check_opens = check_opens
        self._lock = threading.Lock()

    def overview(self) -> Overview:
        """Raises: SettingsError when what is set by now can't be read."""
        now, path = self.now(), self._path()
        return Overview(
            connections=tuple(self._connection(now, part) for part in PARTS),
            store=self._store.state(),
            file=str(path),
            writable=os.access(path if path.exists() else path.parent, os.W_OK),
            pending=now != self._in_force,
            settings=tuple(one for one in shown_settings(self._in_force, self._env) if not self._is_ours(one)),
        )

    def now(self) -> Settings:
        """As the next start would read them. Raises: SettingsError."""
        return load_settings(self._env, stored=self._store.get)

    def check_start(self) -> Settings:
        """What the processes would start with: one that could not would be gone, and the page with it. Raises: SettingsError."""
        now = self.now()
        self._check_opens(now)
        return now

    def with_wanted(self, part: Part, wanted: Wanted) -> Settings:
        """The settings as they would be, for a check before anything is kept.

        Raises: InvalidArgument, Conflict, SettingsError.
        """
        now = self.now()
        wanted = _as_meant(getattr(now, part).base_url, wanted)
        self._refuse_fixed(now, part, wanted)
        key = self._key_for(now, part, wanted)
        section = getattr(now, part)
        values: dict[str, Any] = {**_values(part, wanted), "api_key": key}
        return replace(now, **{part: replace(section, **values)})

    def save(self, part: Part, wanted: Wanted) -> Settings:
        """Keep it: the file, then the key. It counts from the next start on.

        Raises: InvalidArgument, Conflict, SettingsError, StorageError; then nothing was changed.
        """
        with self._lock:
            wanted = _as_meant(getattr(self.now(), part).base_url, wanted)
            self.with_wanted(part, wanted)
            name, path = f"{part}.api_key", self._path()
            keeps = wanted.api_key is UNSET and wanted.base_url is not None
            key = wanted.api_key if isinstance(wanted.api_key, str) and wanted.base_url is not None else None
            if self._env.get(variable_of(name)):
                keeps, key = True, None  # the environment's is the same, or `with_wanted` had refused
            if key is not None and not self._store.state().usable:
                raise Conflict(
                    "This machine has no credential store that can be used, so the key can't be kept."
                    f" Set {variable_of(name)} in the environment and start Citebound again.",
                    ids=[name],
                )
            drafted = draft(path, edited(read_text(path), part, self._file_values(part, wanted)))
            try:
                made = load_settings(
                    self._env,
                    config=drafted,
                    stored=lambda one: key if one == name and not keeps else self._store.get(one),
                )
                self._check_opens(made)
                before = None if keeps else self._store.get(name)
                if not keeps:
                    self._keep(name, key)
                try:
                    put_in_place(drafted, path)
                except StorageError:  # the new key must not go to the server of before
                    if not keeps:
                        self._keep(name, before)
                    raise
            finally:
                drafted.unlink(missing_ok=True)
            return made

    def _keep(self, name: str, key: str | None) -> None:
        if key is None:
            self._store.forget(name)
        else:
            self._store.put(name, key)

    def _is_ours(self, one: Shown) -> bool:
        """The embedded broker's socket, which the supervisor puts into its children's environment: nobody set that."""
        return one.name == "broker.url" and PARENT_PIPE in self._env and one.value.startswith("unix:")

    def _path(self) -> Path:
        return config_file(self._env) or data_folder(self._env) / CONFIG_NAME

    def _connection(self, now: Settings, part: Part) -> Connection:
        section = getattr(now, part)
        fixed = [one.env for one in list_settings() if one.section == part and self._env.get(one.env)]
        return Connection(
            part=part,
            base_url=None if section.base_url is None else without_userinfo(section.base_url),
            model=section.model,
            dimensions=getattr(section, "dimensions", None),
            key=self._key_origin(now, part),
            fixed=tuple(
                one for one in fixed if one.rpartition(f"{part.upper()}_")[2].lower() in (*_FIELDS[part], "api_key")
            ),
        )

    def _key_origin(self, now: Settings, part: Part) -> KeyOrigin:
        name = f"{part}.api_key"
        if self._env.get(variable_of(name)):
            return "environment"
        looked_up = name in secrets_of_use(now)
        there = getattr(now, part).api_key if looked_up else self._store.get(name)
        return "credential_store" if there else "none"

    def _file_values(self, part: Part, wanted: Wanted) -> dict[str, Any]:
        """What is written: neither a default nor what the environment decides. Raises: SettingsError."""
        values = _values(part, wanted)
        if values["base_url"] and not values["model"]:
            raise SettingsError("No model is named. Choose one from the provider's list.", field=f"{part}.model")
        return {
            name: None if value == "local" else value
            for name, value in values.items()
            if not self._env.get(variable_of(f"{part}.{name}"))
        }

    def _refuse_fixed(self, now: Settings, part: Part, wanted: Wanted) -> None:
        section = asdict(getattr(now, part))
        for field, value in _values(part, wanted).items():
            variable = variable_of(f"{part}.{field}")
            if self._env.get(variable) and section[field] != value:
                raise _decided_by(variable, f"{part}.{field}")
        variable, key = variable_of(f"{part}.api_key"), wanted.api_key
        if not self._env.get(variable) or wanted.base_url is None:
            return
        moves = _server(section["base_url"]) != _server(wanted.base_url)  # its key would go to another server
        if moves or (key is not UNSET and key != section["api_key"]):
            raise _decided_by(variable, f"{part}.api_key")

    def _key_for(self, now: Settings, part: Part, wanted: Wanted) -> str | None:
        """Raises: InvalidArgument when the key that is kept was entered for another server."""
        if wanted.base_url is None:
            return None
        if wanted.api_key is not UNSET:
            key = wanted.api_key
            if key is not None and not (key.isascii() and key.isprintable() and key and " " not in key):
                raise InvalidArgument(
                    "The key holds spaces or characters that no key has. Copy it again.", field="api_key"
                )
            return key
        section = getattr(now, part)
        kept = section.api_key or self._store.get(f"{part}.api_key")
        if kept is not None and _server(section.base_url) != _server(wanted.base_url):
            raise InvalidArgument(
                "The key that is kept was entered for another server and is not sent to this one."
                " Enter this provider's key, or say that it wants none.",
                field="api_key",
            )
        return kept


def _values(part: Part, wanted: Wanted) -> dict[str, Any]:
    """The fields of the part's settings, but for the key. Raises: InvalidArgument."""
    values: dict[str, Any] = {
        "base_url": wanted.base_url.strip() if wanted.base_url else None,
        "model": wanted.model.strip() if wanted.base_url and wanted.model else None,
    }
    if part == "embedding":
        values["provider"] = "openai" if wanted.base_url else "local"
        values["dimensions"] = wanted.dimensions if wanted.base_url else None
    elif wanted.dimensions is not None:
        raise InvalidArgument("Only embeddings have dimensions.", field="dimensions")
    return values


def _as_meant(kept: str | None, wanted: Wanted) -> Wanted:
    """With the user and password that were not shown, where the address of before comes back with the stars in their place.

    Raises: InvalidArgument where there is nothing that the stars could stand for.
    """
    if wanted.base_url is None or HIDDEN_USERINFO not in wanted.base_url:
        return wanted
    if kept is None or HIDDEN_USERINFO not in without_userinfo(kept) or _server(kept) != _server(wanted.base_url):
        raise InvalidArgument("The stars in the address stand for nothing here. Write it whole.", field="base_url")
    userinfo = urlsplit(kept).netloc.rpartition("@")[0]
    return replace(wanted, base_url=wanted.base_url.replace(HIDDEN_USERINFO, f"://{userinfo}@", 1))


def _decided_by(variable: str, name: str) -> Conflict:
    return Conflict(
        f"{variable} is set in the environment and decides. Change it there, or unset it, and start Citebound again.",
        ids=[name],
    )


def _server(base_url: str | None) -> tuple[str, str | None, int | None] | None:
    """Scheme, host and port: who gets to see what is sent there."""
    if base_url is None:
        return None
    try:
        parts = urlsplit(base_url.strip())
        return parts.scheme, parts.hostname, parts.port
    except ValueError:
        return None
