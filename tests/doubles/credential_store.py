"""A credential store as keyring's backends are, which keeps secrets in a JSON file: for processes without a desktop.

PYTHON_KEYRING_BACKEND=tests.doubles.credential_store.FileStore  CITEBOUND_TEST_CREDENTIALS=/path/to.json
In a process of tests: MemoryStore, of the port that the program knows.
"""

import json
import os
from pathlib import Path

from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError

from shared.credentials import StoreState

FILE = "CITEBOUND_TEST_CREDENTIALS"
BACKEND = "tests.doubles.credential_store.FileStore"


class FileStore(KeyringBackend):
    priority = 1  # pyright: ignore[reportAssignmentType]  # keyring declares it as a property of the class

    @property
    def name(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]  # as its own backends do
        return "Test Keychain"

    def get_password(self, service: str, username: str) -> str | None:
        return self._all().get(f"{service} {username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        self._write({**self._all(), f"{service} {username}": password})

    def delete_password(self, service: str, username: str) -> None:
        kept = self._all()
        if kept.pop(f"{service} {username}", None) is None:
            raise PasswordDeleteError("not there")
        self._write(kept)

    def _all(self) -> dict[str, str]:
        path = Path(os.environ[FILE])
        return json.loads(path.read_text()) if path.exists() else {}

    def _write(self, kept: dict[str, str]) -> None:
        Path(os.environ[FILE]).write_text(json.dumps(kept))


class MemoryStore:
    """`name` "": there is none that can be used."""

    def __init__(self, *, name: str = "Test Keychain", **kept: str) -> None:
        """`kept`: secrets by name, two underlines for the dot."""
        self.name = name
        self.kept = {key.replace("__", "."): value for key, value in kept.items()}

    def state(self) -> StoreState:
        return StoreState(name=self.name)

    def get(self, name: str) -> str | None:
        return self.kept.get(name)

    def put(self, name: str, secret: str) -> None:
        self.kept[name] = secret

    def forget(self, name: str) -> None:
        self.kept.pop(name, None)
