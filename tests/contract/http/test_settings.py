"""Settings over HTTP: what is told of them, connecting a provider, trying it, starting again. And no character of any key."""

from collections.abc import Generator
from typing import Any

import pytest

from tests.contract.http.site import Site
from tests.doubles.credential_store import MemoryStore
from tests.doubles.provider import Fault, Provider, provider_double

KEY = "sk-geheim-2718281828"


@pytest.fixture(scope="module")
def provider() -> Generator[Provider]:
    with provider_double() as one:
        yield one


def wanted(provider: Provider, **more: Any) -> dict[str, Any]:
    return {"base_url": provider.base_url, "model": "通义", "api_key": KEY, **more}


def chat_of(view: dict[str, Any]) -> dict[str, Any]:
    return next(one for one in view["overview"]["connections"] if one["part"] == "chat")


def test_a_model_is_tried_then_kept_then_started_with(site: Site, provider: Provider) -> None:
    with site.client() as client:
        tried = client.post("/api/settings/check", json={"parts": ["chat"], "wanted": wanted(provider)})
        assert tried.status_code == 200
        [one] = tried.json()
        assert (one["verdict"]["code"], one["verdict"]["answered_by"]) == ("works", "通义")
        assert provider.requests[-1].headers["authorization"] == f"Bearer {KEY}"
        assert site.store.kept == {}  # trying keeps nothing
        kept = client.put("/api/settings/chat", json=wanted(provider))
        assert kept.status_code == 200, kept.text
        assert chat_of(kept.json())["key"] == "credential_store"
        assert kept.json()["overview"]["pending"]
        assert client.post("/api/settings/restart").status_code == 202
        again = client.post("/api/settings/check", json={"parts": ["chat"]})
        assert again.json()[0]["verdict"]["code"] == "works"
        for reply in (tried, kept, again, client.get("/api/settings")):
            assert KEY not in reply.text
            assert KEY[-4:] not in reply.text
    assert site.restarts == 1
    assert site.store.kept == {"chat.api_key": KEY}
    assert all(KEY not in path.read_text("utf-8", "replace") for path in site.layout.root.rglob("*") if path.is_file())


def test_what_is_wrong_is_said_in_both_languages_and_quotes_no_key(site: Site, provider: Provider) -> None:
    provider.script(Fault(status=401, message=f"Incorrect API key provided: {KEY}"))
    with site.client() as client:
        reply = client.post("/api/settings/check", json={"parts": ["chat"], "wanted": wanted(provider)})
    [one] = reply.json()
    assert one["verdict"]["code"] == "wrong_key"
    assert "密钥" in one["said"]["zh"]["what"]
    assert "key" in one["said"]["en"]["what"]
    assert KEY not in reply.text


def test_with_nothing_set_all_three_are_off_and_that_is_fine(site: Site) -> None:
    with site.client() as client:
        found = client.post("/api/settings/check", json={}).json()
    assert [one["verdict"]["code"] for one in found] == ["off", "off", "off"]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"base_url": "http://127.0.0.1:9/v1", "model": "m", "api_key": KEY}, 409, "conflict"),
        ({"base_url": "deepseek", "model": "m", "api_key": None}, 400, "invalid_settings"),
        ({"base_url": "http://127.0.0.1:9/v1", "api_key": None}, 400, "invalid_settings"),
        (
            {"base_url": "http://127.0.0.1:9/v1", "model": "m", "api_key": KEY, "temperature": 1},
            400,
            "invalid_argument",
        ),
        ({"base_url": "http://127.0.0.1:9/v1", "model": 7, "api_key": KEY}, 400, "invalid_argument"),
    ],
)
def test_what_can_not_be_kept_is_refused_without_a_word_of_the_key(
    body: dict[str, Any], status: int, code: str, site: Site
) -> None:
    site.store = MemoryStore(name="")  # a server without a credential store
    with site.client() as client:
        reply = client.put("/api/settings/chat", json=body)
    assert (reply.status_code, reply.json()["code"]) == (status, code), reply.text
    assert KEY not in reply.text
    assert not (site.layout.root / "citebound.toml").exists()


def test_a_part_that_is_none_is_not_found(site: Site, provider: Provider) -> None:
    with site.client() as client:
        assert client.put("/api/settings/weather", json=wanted(provider)).status_code in (400, 404)


def test_a_process_that_was_started_by_itself_says_so_instead_of_going(site: Site) -> None:
    site.start_again = None
    with site.client() as client:
        assert not client.get("/api/settings").json()["can_restart"]
        reply = client.post("/api/settings/restart")
    assert (reply.status_code, reply.json()["code"]) == (409, "conflict")


@pytest.mark.parametrize(
    ("text", "code"),
    [("[chat]\nmodel = 7\n", "invalid_settings"), ('[prompts]\nbundle = "none/1"\n', "invalid_argument")],
)
def test_settings_that_could_not_be_started_with_start_nothing(site: Site, text: str, code: str) -> None:
    (site.layout.root / "citebound.toml").write_text(text)
    with site.client() as client:
        reply = client.post("/api/settings/restart")
    assert (reply.status_code, reply.json()["code"]) == (400, code)
    assert site.restarts == 0
