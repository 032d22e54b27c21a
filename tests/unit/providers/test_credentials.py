"""The credential store of the operating system, through keyring, with a backend that keeps a file."""

from collections.abc import Generator
from pathlib import Path

import keyring
import pytest

from shared.credentials import SystemStore
from shared.errors import SettingsError
from tests.doubles.credential_store import BACKEND, FILE, FileStore

HEADLESS = {"HOME": "/nowhere", "XDG_RUNTIME_DIR": "/nowhere"}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[SystemStore]:
    monkeypatch.setenv(FILE, str(tmp_path / "kept.json"))
    before = keyring.get_keyring()
    keyring.set_keyring(FileStore())
    yield SystemStore({"PYTHON_KEYRING_BACKEND": BACKEND})
    keyring.set_keyring(before)


def test_what_is_put_is_got_until_it_is_forgotten(store: SystemStore) -> None:
    assert store.state().name == "Test Keychain"
    assert store.get("chat.api_key") is None
    store.put("chat.api_key", "sk-密")
    assert store.get("chat.api_key") == "sk-密"
    store.forget("chat.api_key")
    store.forget("chat.api_key")
    assert store.get("chat.api_key") is None


def test_a_machine_without_a_store_says_so_and_keeps_nothing() -> None:
    store = SystemStore(HEADLESS)
    assert not store.state().usable
    assert store.get("chat.api_key") is None
    with pytest.raises(SettingsError) as caught:
        store.put("chat.api_key", "sk-geheim")
    assert "CITEBOUND_CHAT_API_KEY" in caught.value.message
    assert "sk-geheim" not in caught.value.message
    store.forget("chat.api_key")
