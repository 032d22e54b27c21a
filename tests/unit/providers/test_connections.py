"""Connecting providers: what lands in the file, what in the credential store, and who gets to see a key."""

import errno
from pathlib import Path
from typing import Self

import pytest
from msgspec import UNSET, UnsetType

from shared.errors import CiteboundError, StorageError
from shared.providers.connections import Connections, Wanted
from shared.providers.opening import check_opens
from shared.providers.verdict import Part
from shared.settings_file import put_in_place
from shared.settings_load import load_settings
from tests.doubles.credential_store import MemoryStore

KEY = "sk-geheim-4711"
DEEPSEEK = "https://api.deepseek.com/v1"


def connections(folder: Path, store: MemoryStore, **env: str) -> Connections:
    given = {**env, "CITEBOUND_DATA_DIR": str(folder)}
    return Connections(given, in_force=load_settings(given, stored=store.get), store=store, check_opens=check_opens)


def wanted(base_url: str | None = DEEPSEEK, *, api_key: str | UnsetType | None = UNSET) -> Wanted:
    return Wanted(base_url=base_url, model="deepseek-flash", api_key=api_key)


def code(of: Connections, part: Part, what: Wanted) -> str:
    with pytest.raises(CiteboundError) as caught:
        of.save(part, what)
    assert KEY not in caught.value.message
    return caught.value.code


def text(folder: Path) -> str:
    path = folder / "citebound.toml"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def test_a_model_is_connected_with_its_address_in_the_file_and_its_key_in_the_store_alone(tmp_path: Path) -> None:
    store = MemoryStore()
    made = connections(tmp_path, store).save("chat", wanted(api_key=KEY))
    assert (made.chat.base_url, made.chat.model, made.chat.api_key) == (DEEPSEEK, "deepseek-flash", KEY)
    assert store.kept == {"chat.api_key": KEY}
    assert KEY not in text(tmp_path)
    assert load_settings({"CITEBOUND_DATA_DIR": str(tmp_path)}, stored=store.get) == made


def test_what_a_person_wrote_into_the_file_stays(tmp_path: Path) -> None:
    own = "# 我的设置\n[limits]\nmax_tool_calls = 5 # 够用了\n\n[chat]\ntemperature = 0.2\n"
    (tmp_path / "citebound.toml").write_text(own, encoding="utf-8")
    both = connections(tmp_path, MemoryStore())
    both.save("chat", wanted(api_key=None))
    assert text(tmp_path).startswith(own)
    both.save("chat", wanted(None))
    assert text(tmp_path) == own


def test_a_key_that_is_kept_goes_on_to_the_same_server_and_to_no_other(tmp_path: Path) -> None:
    store = MemoryStore()
    one = connections(tmp_path, store)
    one.save("chat", wanted(api_key=KEY))
    assert one.with_wanted("chat", wanted(f"{DEEPSEEK}/beta")).chat.api_key == KEY
    for elsewhere in ("https://evil.example/v1", "http://api.deepseek.com/v1", "https://api.deepseek.com:444/v1"):
        assert code(one, "chat", wanted(elsewhere)) == "invalid_argument"
        with pytest.raises(CiteboundError):
            one.with_wanted("chat", wanted(elsewhere))
    assert one.with_wanted("chat", wanted("https://other.example/v1", api_key=None)).chat.api_key is None
    assert store.kept == {"chat.api_key": KEY}


def test_what_the_environment_sets_can_be_seen_and_not_changed_here(tmp_path: Path) -> None:
    env = {"CITEBOUND_CHAT_BASE_URL": DEEPSEEK, "CITEBOUND_CHAT_MODEL": "m", "CITEBOUND_CHAT_API_KEY": KEY}
    one = connections(tmp_path, MemoryStore(), **env)
    chat = one.overview().connections[0]
    assert (chat.key, set(chat.fixed)) == ("environment", set(env))
    assert code(one, "chat", wanted()) == "conflict"  # another model
    assert code(one, "chat", wanted("https://evil.example/v1")) == "conflict"
    assert code(one, "chat", Wanted(base_url=DEEPSEEK, model="m", api_key="another")) == "conflict"
    assert text(tmp_path) == ""


def test_a_key_of_the_environment_goes_to_no_server_that_was_entered_here(tmp_path: Path) -> None:
    one = connections(tmp_path, MemoryStore(), CITEBOUND_CHAT_API_KEY=KEY)
    for api_key in (UNSET, None, KEY):
        assert code(one, "chat", wanted("https://evil.example/v1", api_key=api_key)) == "conflict"


def test_without_a_store_a_key_is_refused_and_kept_nowhere(tmp_path: Path) -> None:
    one = connections(tmp_path, MemoryStore(name=""))
    assert code(one, "chat", wanted(api_key=KEY)) == "conflict"
    assert text(tmp_path) == ""
    one.save("chat", wanted("http://127.0.0.1:11434/v1", api_key=None))  # a model of one's own wants none
    assert "11434" in text(tmp_path)


@pytest.mark.parametrize(
    ("part", "what"),
    [
        ("chat", Wanted(base_url="deepseek", model="m")),
        ("chat", Wanted(base_url=DEEPSEEK)),
        ("chat", Wanted(base_url=DEEPSEEK, model="m", api_key="zwei Wörter")),
        ("rerank", Wanted(base_url=DEEPSEEK, model=" ")),
        ("rerank", Wanted(base_url=DEEPSEEK, model="m", dimensions=3)),
    ],
)
def test_what_could_not_be_started_with_is_refused_and_changes_nothing(
    part: Part, what: Wanted, tmp_path: Path
) -> None:
    store = MemoryStore()
    assert code(connections(tmp_path, store), part, what) in ("invalid_settings", "invalid_argument")
    assert (text(tmp_path), store.kept, list(tmp_path.iterdir())) == ("", {}, [])


def test_a_broken_file_is_not_written_over(tmp_path: Path) -> None:
    one = connections(tmp_path, MemoryStore())
    (tmp_path / "citebound.toml").write_text("[chat\n", encoding="utf-8")
    assert code(one, "chat", wanted(api_key=None)) == "invalid_settings"
    assert text(tmp_path) == "[chat\n"


def test_disconnecting_takes_the_key_along(tmp_path: Path) -> None:
    store = MemoryStore()
    one = connections(tmp_path, store)
    one.save("embedding", Wanted(base_url=DEEPSEEK, model="bge-m3", dimensions=1024, api_key=KEY))
    assert 'provider = "openai"' in text(tmp_path)
    one.save("embedding", Wanted(base_url=None))
    assert ("embedding" in text(tmp_path), store.kept) == (False, {})


def test_the_overview_tells_where_everything_comes_from_and_no_secret(tmp_path: Path) -> None:
    store = MemoryStore(chat__api_key=KEY)
    (tmp_path / "citebound.toml").write_text(f'[chat]\nbase_url = "{DEEPSEEK}"\nmodel = "m"\n', encoding="utf-8")
    one = connections(tmp_path, store, CITEBOUND_API_PORT="9000")
    seen = one.overview()
    told = {each.name: (each.value, each.origin) for each in seen.settings}
    assert told["api.port"] == ("9000", "environment")
    assert told["chat.model"] == ("m", "file")
    assert told["chat.api_key"] == ("(set, hidden)", "credential_store")
    assert told["limits.max_tool_calls"][1] == "default"
    assert KEY not in repr(seen)
    assert not seen.pending
    one.save("chat", wanted(None))
    assert one.overview().pending


def test_what_no_process_could_start_with_is_not_kept(tmp_path: Path) -> None:
    """It would end the whole instance at the next start, the page that could mend it included."""
    one = connections(tmp_path, MemoryStore())
    unknown = Wanted(base_url="https://example.com/v1", model="nobody-knows-it", api_key=None)
    assert code(one, "embedding", unknown) == "invalid_settings"
    assert text(tmp_path) == ""
    one.check_start()
    (tmp_path / "citebound.toml").write_text(
        '[embedding]\nprovider = "openai"\nbase_url = "https://example.com/v1"\nmodel = "nobody-knows-it"\n'
    )
    with pytest.raises(CiteboundError) as caught:
        one.check_start()
    assert caught.value.code == "invalid_settings"


def test_a_user_and_a_password_in_an_address_come_back_though_the_page_shows_stars(tmp_path: Path) -> None:
    (tmp_path / "citebound.toml").write_text(
        '[chat]\nbase_url = "https://anna:geheim@example.com/v1"\nmodel = "a"\n', encoding="utf-8"
    )
    one = connections(tmp_path, MemoryStore())
    [shown] = [found.base_url for found in one.overview().connections if found.part == "chat"]
    assert shown == "https://***@example.com/v1"
    assert one.save("chat", Wanted(base_url=shown, model="b")).chat.base_url == "https://anna:geheim@example.com/v1"
    assert (
        code(one, "chat", Wanted(base_url="https://***@other.example/v1", model="b", api_key=None))
        == "invalid_argument"
    )


def test_where_the_file_can_not_be_replaced_the_key_of_before_stays(tmp_path: Path) -> None:
    store = MemoryStore()
    one = connections(tmp_path, store)
    one.save("chat", wanted(api_key="sk-before"))
    (tmp_path / "citebound.toml").rename(tmp_path / "moved.toml")
    (tmp_path / "citebound.toml").mkdir()
    (tmp_path / "citebound.toml" / "in the way").touch()
    assert code(one, "chat", wanted(api_key=KEY)) == "storage_unavailable"
    assert store.kept == {"chat.api_key": "sk-before"}


def test_a_file_that_is_linked_is_written_where_it_lies(tmp_path: Path) -> None:
    kept = tmp_path / "kept" / "own.toml"
    kept.parent.mkdir()
    kept.write_text("# mine\n", encoding="utf-8")
    kept.chmod(0o640)
    (tmp_path / "citebound.toml").symlink_to(Path("kept", "own.toml"))
    connections(tmp_path, MemoryStore()).save("chat", wanted(api_key=None))
    assert (tmp_path / "citebound.toml").is_symlink()
    assert kept.read_text(encoding="utf-8").startswith("# mine\n")
    assert "deepseek-flash" in kept.read_text(encoding="utf-8")
    assert kept.stat().st_mode & 0o777 == 0o640
    assert list(kept.parent.iterdir()) == [kept]


class _OnAMount(type(Path())):
    """What the system answers where the other file is a mount of its own."""

    def replace(self, target: object) -> Self:
        raise OSError(errno.EBUSY, "Device or resource busy", str(target))


def test_a_file_that_is_mounted_alone_is_told_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="Mount the folder"):
        put_in_place(_OnAMount(tmp_path / ".citebound.toml.new"), tmp_path / "citebound.toml")
