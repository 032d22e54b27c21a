from pathlib import Path

import pytest

from shared.embeddings.local import LocalEmbedder, check_weights, weights_path
from shared.embeddings.open import open_embedder, warm_up
from shared.embeddings.text import clean
from shared.errors import SettingsError
from shared.settings import EmbeddingSettings


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [("泵房\0巡检", "泵房 巡检"), ("half \ud83d a pair", "half ? a pair"), ("完整 🙂 text", "完整 🙂 text"), ("", "")],
)
def test_only_what_breaks_an_embedder_is_taken_out(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


def test_a_ligature_that_outgrows_the_tokenizers_buffer_is_spelt_out() -> None:
    assert len(clean("\ufdfa")) == 18


def test_opening_loads_nothing_and_asks_nobody() -> None:
    settings = EmbeddingSettings(provider="openai", base_url="http://127.0.0.1:9/v1", model="bge-m3")
    embedder = open_embedder(settings, threads=1)
    warm_up(embedder)  # a provider is left in peace
    assert embedder.dimensions == 1024
    embedder.close()


def test_the_version_names_the_weights() -> None:
    embedder = LocalEmbedder(threads=1)
    assert embedder.version == "local:multilingual-e5-small-q4:384:1571fc98"
    embedder.close()


def test_other_weights_than_the_versions_are_refused(tmp_path: Path) -> None:
    check_weights(weights_path())
    damaged = tmp_path / "weights.bin"
    damaged.write_bytes(b"NE5\0")
    for path in (damaged, tmp_path / "missing.bin"):
        with pytest.raises(SettingsError) as caught:
            check_weights(path)
        assert str(path) in caught.value.message
