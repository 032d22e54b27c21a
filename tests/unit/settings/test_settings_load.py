"""Settings: which source wins, what is refused, and that no message gives a secret away."""

import os
from pathlib import Path

import pytest

from shared.errors import SettingsError
from shared.settings import ApiSettings, ChatSettings, EmbeddingSettings, Settings
from shared.settings_listed import Setting, list_settings
from shared.settings_load import config_file, data_folder, load_settings
from shared.types.runs import Limits


def load(env: dict[str, str], tmp_path: Path, **stored: str) -> Settings:
    secrets = {name.replace("__", "."): value for name, value in stored.items()}
    return load_settings({"CITEBOUND_DATA_DIR": str(tmp_path), **env}, stored=secrets.get)


def refusal(env: dict[str, str], tmp_path: Path) -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        load(env, tmp_path)
    return caught.value


def write(tmp_path: Path, text: str) -> None:
    (tmp_path / "citebound.toml").write_text(text, encoding="utf-8")


def test_with_nothing_set_every_setting_has_its_default(tmp_path: Path) -> None:
    assert load({"PATH": "/bin"}, tmp_path) == Settings(data_dir=str(tmp_path))


def test_the_environment_wins_over_the_file_and_the_file_over_the_default(tmp_path: Path) -> None:
    write(tmp_path, '[api]\nport = 9000\nhost = "localhost"\n[limits]\nmax_tool_calls = 3\n')
    settings = load({"CITEBOUND_API_PORT": "9001"}, tmp_path)
    assert settings.api == ApiSettings(host="localhost", port=9001)
    assert settings.limits == Limits(max_tool_calls=3)


def test_a_named_file_takes_the_place_of_the_one_in_the_data_folder(tmp_path: Path) -> None:
    write(tmp_path, "[api]\nport = 9000\n")
    other = tmp_path / "设置.toml"
    other.write_text("[api]\nport = 9100\n", encoding="utf-8")
    assert load({"CITEBOUND_CONFIG": str(other)}, tmp_path).api.port == 9100
    assert config_file({"CITEBOUND_DATA_DIR": str(tmp_path)}) == tmp_path / "citebound.toml"


def test_a_named_file_that_is_missing_is_an_error_and_a_missing_default_is_not(tmp_path: Path) -> None:
    assert config_file({"CITEBOUND_DATA_DIR": str(tmp_path)}) is None
    assert refusal({"CITEBOUND_CONFIG": str(tmp_path / "无.toml")}, tmp_path).field == "CITEBOUND_CONFIG"


@pytest.mark.parametrize(
    ("variable", "value", "name", "expected"),
    [
        ("CITEBOUND_CHAT_EXTRA_BODY", '{"enable_thinking": false}', "chat.extra_body", {"enable_thinking": False}),
        ("CITEBOUND_API_IMPORT_ROOTS", "/usr:/tmp", "api.import_roots", ("/usr", "/tmp")),
        ("CITEBOUND_CHAT_TEMPERATURE", "0.5", "chat.temperature", 0.5),
        ("CITEBOUND_EMBEDDING_DIMENSIONS", "384", "embedding.dimensions", 384),
        ("CITEBOUND_TRACE_LEVEL", "full", "trace.level", "full"),
        ("CITEBOUND_EMBEDDING_QUERY_PREFIX", "查询: ", "embedding.query_prefix", "查询: "),
    ],
)
def test_the_environment_is_read_by_the_settings_type(
    variable: str, value: str, name: str, expected: object, tmp_path: Path
) -> None:
    section, field = name.split(".")
    assert getattr(getattr(load({variable: value}, tmp_path), section), field) == expected


def test_an_import_root_that_is_not_there_is_refused_with_what_separates_several(tmp_path: Path) -> None:
    for name in ("制度", "docs"):
        (tmp_path / name).mkdir()
    both = [str(tmp_path / "制度"), str(tmp_path / "docs")]

    refused = refusal({"CITEBOUND_API_IMPORT_ROOTS": ",".join(both)}, tmp_path)

    assert refused.field == "api.import_roots"
    assert repr(os.pathsep) in refused.message
    assert load({"CITEBOUND_API_IMPORT_ROOTS": os.pathsep.join(both)}, tmp_path).api.import_roots == tuple(both)


def test_an_empty_variable_counts_as_not_set(tmp_path: Path) -> None:
    assert load({"CITEBOUND_CHAT_MODEL": "", "CITEBOUND_API_PORT": ""}, tmp_path) == Settings(data_dir=str(tmp_path))


@pytest.mark.parametrize(
    ("env", "field"),
    [
        ({"CITEBOUND_API_PORT": "八千"}, "CITEBOUND_API_PORT"),
        ({"CITEBOUND_API_PORT": "70000"}, "CITEBOUND_API_PORT"),
        ({"CITEBOUND_TRACE_LEVEL": "loud"}, "CITEBOUND_TRACE_LEVEL"),
        ({"CITEBOUND_CHAT_EXTRA_BODY": "{"}, "CITEBOUND_CHAT_EXTRA_BODY"),
        ({"CITEBOUND_CHAT_EXTRA_BODY": "[1]"}, "CITEBOUND_CHAT_EXTRA_BODY"),
        ({"CITEBOUND_API_HOST": "0.0.0.0"}, "api.host"),
        ({"CITEBOUND_API_HOST": "0.0.0.0", "CITEBOUND_API_REQUIRE_KEY": "false"}, "api.host"),
        ({"CITEBOUND_API_REQUIRE_KEY": "please"}, "CITEBOUND_API_REQUIRE_KEY"),
        ({"CITEBOUND_CHAT_BASE_URL": "https://llm.example/v1"}, "chat.model"),
        ({"CITEBOUND_CHAT_MODEL": "deepseek-chat"}, "chat.base_url"),
        ({"CITEBOUND_CHAT_BASE_URL": "llm.example", "CITEBOUND_CHAT_MODEL": "m"}, "chat.base_url"),
        ({"CITEBOUND_RERANK_BASE_URL": "https://rerank.example/v1"}, "rerank.model"),
        ({"CITEBOUND_RERANK_MODEL": "bge-reranker-v2-m3"}, "rerank.base_url"),
        ({"CITEBOUND_RERANK_BASE_URL": "rerank.example", "CITEBOUND_RERANK_MODEL": "m"}, "rerank.base_url"),
        ({"CITEBOUND_RERANK_DEPTH": "0"}, "CITEBOUND_RERANK_DEPTH"),
        ({"CITEBOUND_EMBEDDING_PROVIDER": "openai"}, "embedding.base_url"),
        ({"CITEBOUND_QDRANT_URL": "qdrant:6333"}, "qdrant.url"),
        ({"CITEBOUND_LIMITS_MAX_CONTEXT_TOKENS": "-1"}, "limits.max_context_tokens"),
        ({"CITEBOUND_LIMITS_FINALIZATION_RESERVE_TOKENS": "100000"}, "limits.finalization_reserve_tokens"),
        ({"CITEBOUND_WORKER_BLOCK_TOKENS": "500"}, "worker.block_tokens"),
        ({"CITEBOUND_CHAT_TEMPERATURE": "nan"}, "CITEBOUND_CHAT_TEMPERATURE"),
        ({"CITEBOUND_CHAT_TEMPERATURE": "-inf"}, "CITEBOUND_CHAT_TEMPERATURE"),
        ({"CITEBOUND_CHAT_EXTRA_BODY": '{"a":' * 5_000 + "1" + "}" * 5_000}, "CITEBOUND_CHAT_EXTRA_BODY"),
        ({"CITEBOUND_CHAT_BASE_URL": "http://[", "CITEBOUND_CHAT_MODEL": "m"}, "chat.base_url"),
        ({"CITEBOUND_QDRANT_URL": "http://qdrant:sechs"}, "qdrant.url"),
        ({"CITEBOUND_BROKER_URL": "redis://["}, "broker.url"),
        ({"CITEBOUND_BROKER_URL": "127.0.0.1:6379"}, "broker.url"),
        ({"CITEBOUND_API_API_KEY": "钥匙"}, "api.api_key"),
        ({"CITEBOUND_API_API_KEY": "two words\n"}, "api.api_key"),
        ({"CITEBOUND_CHAT_MODEL": "m\udcff"}, "CITEBOUND_CHAT_MODEL"),
        ({"CITEBOUND_DATA_DIR": "/tmp/" + "长" * 300}, "CITEBOUND_DATA_DIR"),
        ({"CITEBOUND_DATA_DIR": "/tmp" + "/d" * 3_000}, "CITEBOUND_DATA_DIR"),
        ({"CITEBOUND_DATA_DIR": "~nobody-of-that-name/x"}, "CITEBOUND_DATA_DIR"),
        ({"CITEBOUND_DATA_DIR": "/tmp/\udcff"}, "CITEBOUND_DATA_DIR"),
    ],
)
def test_a_value_that_cannot_work_is_refused_by_name(env: dict[str, str], field: str, tmp_path: Path) -> None:
    error = refusal(env, tmp_path)
    assert (error.code, error.field) == ("invalid_settings", field)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("CITEBOUND_CHAT_BASEURL", "CITEBOUND_CHAT_BASE_URL"),
        ("CITEBOUND_DATADIR", "CITEBOUND_DATA_DIR"),
        ("CITEBOUND_API_KEY", "CITEBOUND_API_API_KEY"),
    ],
)
def test_an_unknown_variable_is_refused_with_the_nearest_name(typed: str, meant: str, tmp_path: Path) -> None:
    error = refusal({typed: "x"}, tmp_path)
    assert error.field == typed
    assert meant in error.message


def test_variables_of_the_machinery_are_no_settings(tmp_path: Path) -> None:
    names = ("CITEBOUND_PARENT_PIPE", "CITEBOUND_FAULT", "CITEBOUND_TEST_QDRANT_URL", "CITEBOUND_URL")
    assert load(dict.fromkeys(names, "1"), tmp_path) == Settings(data_dir=str(tmp_path))


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("[chat]\nmodle = 'm'\n", "chat.modle"),
        ("[聊天]\n", "CITEBOUND_CONFIG"),  # not TOML: bare keys are ASCII
        ("[caht]\n", "caht"),
        ("api = 3\n", "api"),
        ("data_dir = '/x'\n", "data_dir"),
        ("[api\n", "CITEBOUND_CONFIG"),
        ("[chat]\napi_key = 'sk-geheim'\n", "chat.api_key"),
        ("[chat]\ntemperature = nan\n", "chat.temperature"),
        ("[chat.extra_body]\nseit = 2026-11-30\n", "chat.extra_body"),
        ("[chat.extra_body]\np = inf\n", "chat.extra_body"),
        ("[chat]\nextra_body = " + "{a = " * 3_000 + "1" + "}" * 3_000, "CITEBOUND_CONFIG"),
    ],
)
def test_a_mistake_in_the_file_is_refused_by_name(text: str, field: str, tmp_path: Path) -> None:
    write(tmp_path, text)
    error = refusal({}, tmp_path)
    assert error.field == field
    assert "sk-geheim" not in error.message


def test_a_number_in_the_file_is_not_a_text(tmp_path: Path) -> None:
    write(tmp_path, "[api]\nport = '9000'\n")
    assert "api.port" in refusal({}, tmp_path).message


def test_a_file_that_begins_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    (tmp_path / "citebound.toml").write_bytes("[api]\nport = 9000 # 端口\n".encode("utf-8-sig"))
    assert load({}, tmp_path).api.port == 9000


def test_a_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / "citebound.toml").write_bytes("[chat]\nmodel = '通义'\n".encode("gbk"))
    assert refusal({}, tmp_path).field == "CITEBOUND_CONFIG"


def test_secrets_come_from_the_environment_first_and_then_from_the_credential_store(tmp_path: Path) -> None:
    env = {"CITEBOUND_CHAT_BASE_URL": "https://llm.example/v1", "CITEBOUND_CHAT_MODEL": "通义"}
    stored = load(env, tmp_path, chat__api_key="from-store")
    assert stored.chat == ChatSettings(base_url="https://llm.example/v1", model="通义", api_key="from-store")
    both = load({**env, "CITEBOUND_CHAT_API_KEY": "from-env"}, tmp_path, chat__api_key="from-store")
    assert both.chat.api_key == "from-env"


def test_the_credential_store_is_not_asked_for_secrets_that_nothing_would_use(tmp_path: Path) -> None:
    asked: list[str] = []
    load_settings({"CITEBOUND_DATA_DIR": str(tmp_path)}, stored=lambda name: asked.append(name))
    assert asked == ["api.api_key"]


def test_a_key_from_the_store_is_enough_to_bind_another_address(tmp_path: Path) -> None:
    settings = load({"CITEBOUND_API_HOST": "0.0.0.0"}, tmp_path, api__api_key="geheim")
    assert settings.api == ApiSettings(host="0.0.0.0", api_key="geheim")


def test_any_address_may_be_bound_when_keys_are_demanded(tmp_path: Path) -> None:
    settings = load({"CITEBOUND_API_HOST": "0.0.0.0", "CITEBOUND_API_REQUIRE_KEY": "true"}, tmp_path)
    assert settings.api == ApiSettings(host="0.0.0.0", require_key=True)


def test_every_setting_is_listed_with_its_variable_type_and_default() -> None:
    listed = {setting.name: setting for setting in list_settings()}
    assert listed["chat.base_url"] == Setting(
        name="chat.base_url",
        env="CITEBOUND_CHAT_BASE_URL",
        section="chat",
        field="base_url",
        kind="text",
        default=None,
        secret=False,
    )
    assert listed["api.port"].kind == "integer"
    assert listed["embedding.provider"].kind == "local | openai"
    assert listed["chat.extra_body"].default == {}
    assert [name for name, setting in listed.items() if setting.secret] == [
        "api.api_key",
        "qdrant.api_key",
        "embedding.api_key",
        "rerank.api_key",
        "chat.api_key",
        "otlp.api_key",
        "langfuse.secret_key",
    ]


WITH_DEFAULT = [setting for setting in list_settings() if setting.default not in (None, (), {}, "")]


@pytest.mark.parametrize("setting", WITH_DEFAULT, ids=lambda setting: setting.name)
def test_a_default_written_into_the_environment_changes_nothing(setting: Setting, tmp_path: Path) -> None:
    assert load({setting.env: str(setting.default)}, tmp_path) == Settings(data_dir=str(tmp_path))


def test_the_data_folder_is_the_platforms_unless_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert data_folder({"CITEBOUND_DATA_DIR": "资料"}) == tmp_path / "资料"
    assert data_folder({}).name == "citebound"


def test_embedding_over_http_needs_its_address_and_model(tmp_path: Path) -> None:
    env = {
        "CITEBOUND_EMBEDDING_PROVIDER": "openai",
        "CITEBOUND_EMBEDDING_BASE_URL": "http://127.0.0.1:1/v1",
        "CITEBOUND_EMBEDDING_MODEL": "text-embedding-v4",
    }
    assert load(env, tmp_path, embedding__api_key="k").embedding == EmbeddingSettings(
        provider="openai", base_url="http://127.0.0.1:1/v1", model="text-embedding-v4", api_key="k"
    )
