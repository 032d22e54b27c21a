"""Who is let in. The decision alone, then at the routes."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from api.callers import Callers
from api.links import BlockLinks
from api.parts import CatalogDoor
from api.routes.edge import check_binding, check_way
from api.sessions import Sessions
from shared.access import OWNER
from shared.clock import now_ms
from shared.errors import Forbidden, SettingsError
from shared.settings import ApiSettings, Settings
from tests.contract.http.site import ORIGIN, Site

LOCAL = ApiSettings()
KEYED = ApiSettings(host="0.0.0.0", api_key="钥匙-of-the-owner")
NAMED = ApiSettings(host="192.168.1.5", api_key="key")


def let_in(settings: ApiSettings, headers: Mapping[str, str], *, method: str = "POST") -> None:
    """The owner came by a way that is his own."""
    check_way(settings, method=method, headers={"host": "127.0.0.1:8765", **headers})
    callers = Callers(
        Settings(data_dir="", api=settings),
        CatalogDoor(Path("nowhere")),
        BlockLinks(None, owner_key=None),
        Sessions(None, owner_key=None),
        now_ms=now_ms,
    )
    caller = asyncio.run(callers.with_key(headers))
    assert caller is not None
    assert caller.access == OWNER


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.8.8"])
def test_loopback_may_be_bound_without_a_key(host: str) -> None:
    check_binding(ApiSettings(host=host))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org"])
def test_any_other_address_without_a_key_is_refused_at_start(host: str) -> None:
    with pytest.raises(SettingsError) as refused:
        check_binding(ApiSettings(host=host))
    assert refused.value.field == "api.host"
    check_binding(ApiSettings(host=host, api_key="key"))
    check_binding(ApiSettings(host=host, require_key=True))


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:1", "[::1]:8765", "LOCALHOST"])
def test_the_machine_s_own_names_are_answered_for(host: str) -> None:
    let_in(LOCAL, {"host": host})


@pytest.mark.parametrize("host", ["[", "localhost:x", "docs.example:-1", "docs.example:99999"])
def test_what_is_no_host_is_answered_for_by_nobody(host: str) -> None:
    for settings in (LOCAL, KEYED):
        with pytest.raises(Forbidden):
            let_in(settings, {"host": host, "authorization": f"Bearer {KEYED.api_key}"})


@pytest.mark.parametrize("host", ["evil.example:8765", "127.0.0.1.evil.example", "", "[", "192.168.1.5:8765"])
def test_a_name_that_merely_resolves_here_is_not_answered_for(host: str) -> None:
    with pytest.raises(Forbidden):
        let_in(LOCAL, {"host": host})


def test_a_bound_address_is_answered_for_and_behind_a_wildcard_any_name_that_brings_the_key() -> None:
    let_in(NAMED, {"host": "192.168.1.5:8765", "authorization": "Bearer key"})
    with pytest.raises(Forbidden):
        let_in(NAMED, {"host": "other.example", "authorization": "Bearer key"})
    let_in(KEYED, {"host": "docs.example", "authorization": f"bearer {KEYED.api_key}"})


@pytest.mark.parametrize(
    "authorization", ["", "Bearer", "Bearer wrong", "Basic 钥匙-of-the-owner", "钥匙-of-the-owner"]
)
@pytest.mark.parametrize("path", ["/api/runs", "/v1/models", "/openapi", "/openapi/openapi.json"])
def test_with_a_key_set_nothing_comes_in_without_it(site: Site, authorization: str, path: str) -> None:
    site.with_api(api_key=KEYED.api_key)
    with site.client() as client:
        reply = client.get(path, headers={b"Authorization": authorization.encode()})
        assert (reply.status_code, client.get("/healthz").status_code) == (401, 200)


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "http://["},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "cors"},
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_pages_of_other_origins_are_refused(headers: dict[str, str], method: str) -> None:
    with pytest.raises(Forbidden):
        let_in(LOCAL, headers, method=method)


def test_our_own_pages_and_programs_and_followed_links_come_in() -> None:
    let_in(LOCAL, {"origin": ORIGIN, "sec-fetch-site": "same-origin"})
    let_in(LOCAL, {})
    let_in(LOCAL, {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, method="GET")
    with pytest.raises(Forbidden):
        let_in(LOCAL, {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, method="POST")


def test_a_refusal_is_a_problem_in_the_protocol_s_own_shape(site: Site) -> None:
    site.with_api(api_key="the-key-of-this-test")
    with site.client() as client:
        native, openai = client.get("/api/runs"), client.get("/v1/models")
        assert (native.status_code, native.json()["code"]) == (401, "unauthorized")
        assert native.headers["content-type"] == "application/problem+json"
        assert native.headers["www-authenticate"] == "Bearer"
        assert (openai.status_code, openai.json()["error"]["code"]) == (401, "unauthorized")
        assert openai.json()["error"]["type"] == "authentication_error"
        key = {"Authorization": "Bearer the-key-of-this-test"}
        assert client.get("/api/runs", headers=key).json() == []
        assert client.get("/openapi/openapi.json").status_code == 401
        assert client.get("/healthz").json() == {"status": "ok"}


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/healthz", {}, 200),
        ("/api/runs/run_unknown", {}, 404),
        ("/nothing/here", {}, 404),
        ("/api/runs", {"Host": "evil.example"}, 403),
        ("/api/runs", {"Origin": "http://["}, 403),
        ("/api/runs", {"Host": "localhost:-1"}, 403),
        ("/v1/models", {"Host": "["}, 403),
        ("/nothing/here", {"Host": "[:x"}, 404),
        ("/api/runs?limit=0", {}, 400),
        ("/v1/models/none", {}, 404),
    ],
)
def test_every_reply_carries_the_headers_of_caution(
    site: Site, path: str, headers: dict[str, str], status: int
) -> None:
    with site.client() as client:
        reply = client.get(path, headers=headers)
    assert reply.status_code == status
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["referrer-policy"] == "no-referrer"
    assert "default-src 'none'" in reply.headers["content-security-policy"]
