"""Settings as anybody may see them hold no secret, wherever somebody put it."""

import pytest

from shared.settings_shown import plain_value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("chat.api_key", "geheim"),
        ("chat.extra_body", {"密钥": "geheim"}),
        ("qdrant.url", "https://anna:geheim@qdrant.example:6333/x"),
        ("broker.url", "rediss://broker.example:6379/0?password=geheim"),
        ("otlp.endpoint", "https://collector.example/v1/traces?api_key=geheim"),
    ],
)
def test_no_value_shows_a_secret(name: str, value: object) -> None:
    shown = plain_value(name, value, secret=name.endswith("api_key"))
    assert shown
    assert "geheim" not in shown


@pytest.mark.parametrize("value", ["https://api.deepseek.com/v1", "问？", "what? nothing", 8765, True])
def test_whatever_holds_none_is_shown_as_it_is(value: object) -> None:
    assert plain_value("chat.model", value, secret=False) == str(value)
