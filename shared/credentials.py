"""Secrets: which of them a configuration makes use of, and the credential store of the operating system that may hold them.

keyring speaks to the stores (macOS Keychain, Secret Service, KWallet). It is imported when a store may be there and something is
wanted of it, never before: looking for stores costs up to half a second. Source: decision 0129.
"""

import logging
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from shared.errors import SettingsError
from shared.overdue import Overdue, Patient
from shared.settings import Settings
from shared.settings_listed import list_settings

KEYRING_SERVICE = "citebound"
PATIENCE_S = 45  # for a person who is asked to unlock the store; where nobody can be asked, it would wait for ever
_NAMED = "PYTHON_KEYRING_BACKEND"  # keyring's own variable
_patient = Patient(PATIENCE_S)  # one for the process: a store that is stuck for one is stuck for all
_log = logging.getLogger(__name__)


class StoreState(Struct, frozen=True, kw_only=True):
    """`name`: as the store calls itself; "" = there is none that can be used here."""

    name: str = ""

    @property
    def usable(self) -> bool:
        return bool(self.name)


class CredentialStore(Protocol):
    """Blocking, `PATIENCE_S` at most: a store may ask the person who sits at the machine to unlock it. `name` as in Setting.name."""

    def state(self) -> StoreState: ...
    def get(self, name: str) -> str | None:
        """None when it isn't there, or there is no store, or it stays locked."""
        ...

    def put(self, name: str, secret: str) -> None:
        """Raises: SettingsError when it can't be kept; it is then kept nowhere."""
        ...

    def forget(self, name: str) -> None:
        """Fine when it isn't there. Raises: SettingsError when the store refuses."""
        ...


class SystemStore:
    """The store of whoever runs this process."""

    def __init__(self, env: Mapping[str, str] = os.environ) -> None:
        self._env = env

    def state(self) -> StoreState:
        if not _may_be_there(self._env):
            return StoreState()
        import keyring
        from keyring.backends import fail, null

        backend = keyring.get_keyring()
        return StoreState() if isinstance(backend, fail.Keyring | null.Keyring) else StoreState(name=backend.name)

    def get(self, name: str) -> str | None:
        if not _may_be_there(self._env):
            return None
        import keyring
        from keyring.errors import KeyringError

        try:
            return _patient.call(lambda: keyring.get_password(KEYRING_SERVICE, name))
        except KeyringError:  # none on this machine, or locked: same as not stored, the provider's 401 tells the rest
            return None
        except Overdue:
            _log.warning("%s is not known: the credential store is locked, and nobody opened it", name)
            return None

    def put(self, name: str, secret: str) -> None:
        if not self.state().usable:
            raise SettingsError(
                f"This machine has no credential store that can be used, so {name} was not kept."
                f" Set {variable_of(name)} in the environment instead.",
                field=name,
            )
        import keyring
        from keyring.errors import KeyringError

        try:
            _patient.call(lambda: keyring.set_password(KEYRING_SERVICE, name, secret))
        except (KeyringError, Overdue) as error:
            raise _refused(name, error) from None  # a cause could quote what was to be stored

    def forget(self, name: str) -> None:
        if not self.state().usable:
            return
        import keyring
        from keyring.errors import KeyringError, PasswordDeleteError

        try:
            _patient.call(lambda: keyring.delete_password(KEYRING_SERVICE, name))
        except PasswordDeleteError:
            if self.get(name) is not None:
                raise SettingsError(
                    f"The credential store keeps {name}: remove it there by hand.", field=name
                ) from None
        except (KeyringError, Overdue) as error:
            raise _refused(name, error) from None


def stored_secret(name: str) -> str | None:
    """`name` as in Setting.name, from the OS credential store; None when it isn't there or there is no store.

    Put one in with: citebound settings set-key chat
    """
    return SystemStore().get(name)


def variable_of(name: str) -> str:
    """The environment variable of a setting. `name` as in Setting.name."""
    return next(one.env for one in list_settings() if one.name == name)


def secret_values(settings: Settings) -> list[str]:
    """Values that must stand in no log, trace or reply."""
    values = (getattr(getattr(settings, one.section), one.field) for one in list_settings() if one.secret)
    return [value for value in values if value]


def secrets_of_use(settings: Settings) -> list[str]:
    """Names, as in Setting.name, of the secrets that the other settings make use of; only those are looked up."""
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


def _may_be_there(env: Mapping[str, str]) -> bool:
    """Whether it is worth loading keyring. Every store of a Linux desktop is reached over the session's bus; a server has none.

    A backend that somebody named, in keyring's variable or its file, is believed in.
    """
    if not sys.platform.startswith("linux") or env.get(_NAMED) or env.get("DBUS_SESSION_BUS_ADDRESS"):
        return True
    config = Path(env.get("XDG_CONFIG_HOME") or Path(env.get("HOME") or "/") / ".config")
    bus = Path(env.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}") / "bus"
    return bus.exists() or (config / "python_keyring/keyringrc.cfg").is_file()


def _refused(name: str, error: Exception) -> SettingsError:
    return SettingsError(
        f"The credential store did not take the change of {name} ({type(error).__name__}): unlock it and try again,"
        f" or set {variable_of(name)} in the environment.",
        field=name,
    )
