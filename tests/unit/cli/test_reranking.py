"""What the doctor says of reranking."""

from pathlib import Path

from scripts.citebound.doctor.check import Check
from scripts.citebound.doctor.reranking import reranker
from shared.settings_load import load_settings
from tests.doubles.provider import Fault, provider_double


def examined(tmp_path: Path, base_url: str | None, *, online: bool = True) -> Check:
    env = {"CITEBOUND_DATA_DIR": str(tmp_path)}
    if base_url is not None:
        env |= {"CITEBOUND_RERANK_BASE_URL": base_url, "CITEBOUND_RERANK_MODEL": "bge-reranker-v2-m3"}
    return reranker(load_settings(env, stored=lambda name: None), online=online)


def test_off_is_sound(tmp_path: Path) -> None:
    assert examined(tmp_path, None).state == "ok"


def test_a_reranker_is_called_only_when_that_was_asked_for(tmp_path: Path) -> None:
    with provider_double() as provider:
        unasked = examined(tmp_path, provider.base_url, online=False)
        assert (unasked.state, provider.requests) == ("note", [])
        assert "bge-reranker-v2-m3, the first 20" in unasked.detail
        assert examined(tmp_path, provider.base_url).state == "ok"


def test_a_reranker_that_refuses_the_key_is_broken_and_so_is_every_search(tmp_path: Path) -> None:
    with provider_double() as provider:
        provider.script_rerank(Fault(status=401))
        found = examined(tmp_path, provider.base_url)
    assert found.state == "broken"
    assert "wrong_key" in found.detail
    assert "searches fail" in found.detail
