"""`settings`, `settings check`, `settings set-key`: what is set, whether it works, and keys that no output and no list of processes holds."""

import io
import json
import os
from collections.abc import Callable, Generator
from pathlib import Path

import keyring
import pytest

from scripts.citebound.supervisor.instance import Instance, write_instance
from shared.layout import Layout
from tests.doubles.credential_store import BACKEND, FILE, FileStore
from tests.doubles.provider import Fault, provider_double
from tests.unit.cli.conftest import Run
from tests.unit.cli.served import Served

KEY = "sk-geheim-1618033"


@pytest.fixture
def store(tmp_path: Path, own_folder: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """The file that stands for the system's credential store."""
    own_folder("")
    kept = tmp_path / "kept.json"
    monkeypatch.setenv(FILE, str(kept))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", BACKEND)
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    before = keyring.get_keyring()
    keyring.set_keyring(FileStore())
    yield kept
    keyring.set_keyring(before)


def typed_in(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


def test_a_key_goes_from_standard_input_into_the_store_and_is_used_from_there(
    run: Run, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed_in(monkeypatch, f"{KEY}\n")
    code, out, err = run("settings", "set-key", "chat")
    assert (code, KEY in out + err) == (0, False)
    with provider_double() as provider:
        (tmp_path / "citebound.toml").write_text(f'[chat]\nbase_url = "{provider.base_url}"\nmodel = "通义"\n', "utf-8")
        code, out, _ = run("settings", "check", "chat")
        assert (code, "连接成功" in out) == (0, True)
        assert provider.requests[-1].headers["authorization"] == f"Bearer {KEY}"
        code, listed, _ = run("settings")
        assert "chat.api_key = (set, hidden) (系统凭据库)" in listed
        assert KEY not in listed
    assert run("settings", "forget-key", "chat")[0] == 0
    assert KEY not in store.read_text(encoding="utf-8")


def test_what_is_wrong_is_said_in_plain_words_and_ends_with_1(
    run: Run, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider_double() as provider:
        (tmp_path / "citebound.toml").write_text(f'[chat]\nbase_url = "{provider.base_url}"\nmodel = "通义"\n', "utf-8")
        provider.script(Fault(status=402), Fault(status=402))
        code, out, _ = run("settings", "check", "chat")
        assert (code, "充值" in out) == (1, True)
        code, out, _ = run("settings", "check", "chat", "--json")
    assert (code, json.loads(out)[0]["verdict"]["code"]) == (1, "no_credit")


def test_what_runs_is_checked_with_its_own_settings_and_not_with_those_of_this_shell(
    run: Run, api: Served, tmp_path: Path
) -> None:
    kept = Layout(root=tmp_path)
    write_instance(kept, Instance(address=api.url, pid=os.getpid(), children={}, started_at_ms=1))
    verdict = {"part": "chat", "code": "wrong_key", "base_url": "https://llm.example/v1", "model": "m"}
    said = {"what": "不接受这个密钥", "remedy": "重新复制"}
    api.give("POST /api/settings/check", [{"verdict": verdict, "said": {"zh": said, "en": said}}])
    code, out, _ = run("settings", "check", "chat")
    assert (code, "✗ chat: 不接受这个密钥" in out) == (1, True)
    assert api.last_body == {"parts": ["chat"]}
    api.refuse("POST /api/settings/check", 401, "unauthorized", "A key is needed.")
    code, out, err = run("settings", "check", "chat")
    assert (code, "✓" in out, "CITEBOUND_API_API_KEY" in err) == (1, False, True)


def test_what_is_not_connected_is_not_ticked(run: Run, store: Path) -> None:
    code, out, _ = run("settings", "check", "chat")
    assert (code, out.startswith("– chat: 尚未连接语言模型")) == (0, True)


@pytest.mark.parametrize("text", ["", "two words\n", "密钥\n"])
def test_what_is_no_key_is_not_kept(text: str, run: Run, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    typed_in(monkeypatch, text)
    assert run("settings", "set-key", "chat")[0] == 2
    assert not store.exists()


def test_a_machine_without_a_store_is_told_which_variable_to_set(
    run: Run, own_folder: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    own_folder("")
    for name in ("DBUS_SESSION_BUS_ADDRESS", "PYTHON_KEYRING_BACKEND"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "XDG_RUNTIME_DIR"):
        monkeypatch.setenv(name, "/nowhere")
    typed_in(monkeypatch, f"{KEY}\n")
    code, out, err = run("settings", "set-key", "rerank")
    assert code == 1
    assert "CITEBOUND_RERANK_API_KEY" in out + err
    assert KEY not in out + err
