"""The doctor: works when nothing runs, names what is broken, gives nothing away."""

import socket
from collections.abc import Iterable
from pathlib import Path

import pytest

from scripts.citebound.commands.doctor import examine
from scripts.citebound.doctor.check import Check
from tests.doubles.provider import Fault, provider_double

pytestmark = pytest.mark.slow


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, str]:
    return {"CITEBOUND_DATA_DIR": str(tmp_path / "资料"), "CITEBOUND_API_PORT": "0"}


def states(checks: Iterable[Check]) -> dict[str, str]:
    return {check.name: check.state for check in checks}


def test_a_fresh_machine_is_missing_things_and_nothing_is_broken(settings: dict[str, str]) -> None:
    assert states(examine(settings, online=False)) == {
        "machine": "ok",
        "settings": "ok",
        "set": "ok",
        "data folder": "missing",
        "disk": "ok",
        "running": "missing",
        "port": "ok",
        "broker": "ok",
        "vectors": "ok",
        "embeddings": "ok",
        "chat model": "note",
        "catalog": "missing",
    }
    assert not Path(settings["CITEBOUND_DATA_DIR"]).exists()


def test_a_wrong_setting_is_broken_and_the_rest_is_still_looked_at(settings: dict[str, str]) -> None:
    found = states(examine({**settings, "CITEBOUND_CHAT_MODLE": "通义"}, online=False))
    assert found["settings"] == "broken"
    assert found["disk"] == "ok"


def test_what_does_not_answer_is_broken_with_a_remedy(settings: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        env = {**settings, "CITEBOUND_API_PORT": str(port)}
    free = port  # nobody listens there any more
    with socket.create_server(("127.0.0.1", 0)) as other:
        env["CITEBOUND_API_PORT"] = str(other.getsockname()[1])
        env["CITEBOUND_BROKER_URL"] = f"redis://127.0.0.1:{free}/0"
        env["CITEBOUND_QDRANT_URL"] = f"http://127.0.0.1:{free}"
        broken = [check for check in examine(env, online=False) if check.state == "broken"]
    assert [check.name for check in broken] == ["port", "broker", "vectors"]
    assert all(check.remedy for check in broken)


def test_a_provider_is_called_only_online_and_its_refusal_is_told_without_the_key(settings: dict[str, str]) -> None:
    with provider_double() as provider:
        env = {
            **settings,
            "CITEBOUND_CHAT_BASE_URL": provider.base_url,
            "CITEBOUND_CHAT_MODEL": "通义",
            "CITEBOUND_CHAT_API_KEY": "sk-geheim",
        }
        assert states(examine(env, online=False))["chat model"] == "note"
        assert provider.requests == []
        assert states(examine(env, online=True))["chat model"] == "ok"
        provider.script(Fault(status=401, code="invalid_api_key", message="wrong key sk-geheim"))
        refused = list(examine(env, online=True))
    assert states(refused)["chat model"] == "broken"
    assert "sk-geheim" not in str(refused)
