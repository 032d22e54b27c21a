"""The credential store of the operating system, through keyring, with a backend that keeps a file."""

import os
import shutil
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import keyring
import pytest

from shared.credentials import SystemStore
from shared.errors import SettingsError
from tests.doubles.credential_store import BACKEND, FILE, FileStore
from tests.patience import PATIENCE_S

ROOT = Path(__file__).resolve().parents[3]
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


@pytest.mark.skipif(
    shutil.which("dbus-run-session") is None or shutil.which("gnome-keyring-daemon") is None,
    reason="no Secret Service here: apt-get install dbus-daemon gnome-keyring",
)
def test_a_real_secret_service_keeps_and_forgets(tmp_path: Path) -> None:
    """On a session bus of its own, with a keyring of its own that a password opened."""
    use = (
        "from shared.credentials import SystemStore; one = SystemStore(); name = 'chat.api_key'; assert one.get(name) is None;"
        " one.put(name, 'sk-密'); assert one.get(name) == 'sk-密'; one.forget(name); assert one.get(name) is None;"
        " print(one.state().name)"
    )
    unlock = "printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null"
    done = subprocess.run(
        ["dbus-run-session", "--", "sh", "-c", f'{unlock} && exec "$0" -c "$1"', sys.executable, use],
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "PYTHONPATH": str(ROOT),
            "XDG_RUNTIME_DIR": str(tmp_path),
        },
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "SecretService Keyring"), done.stderr
