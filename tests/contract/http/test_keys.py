"""Keys over HTTP: made, used, limited, revoked."""

from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest
from litestar import Litestar
from litestar.testing import TestClient
from msgspec import structs

from shared.catalog.db import open_database
from shared.catalog.keys import list_keys
from shared.keys import MARK
from shared.settings import Settings
from shared.types.keys import ApiKey, MadeKey
from shared.types.runs import Limits
from tests.contract.http.site import LEAVE, Site, until
from tests.factories import a_document

OWNER = {"Authorization": "Bearer the-owner-s-key"}
TRAVEL = a_document("制度/差旅.md", "出差住宿每晚三百元。\n", title="差旅管理办法", source="财务", access=("finance",))


def bearer(made: MadeKey) -> dict[str, str]:
    return {"Authorization": f"Bearer {made.secret}"}


def make(client: TestClient[Litestar], **wanted: Any) -> MadeKey:
    reply = client.post("/api/keys", json={"name": "助手", **wanted}, headers=OWNER)
    assert reply.status_code == 201, reply.text
    return msgspec.json.decode(reply.content, type=MadeKey)


@pytest.fixture
def keyed(site: Site) -> Site:
    site.with_api(api_key="the-owner-s-key")
    site.with_the_real_agent()
    site.publish(LEAVE, TRAVEL)
    return site


def test_a_secret_is_told_once_and_never_again(keyed: Site) -> None:
    with keyed.client() as client:
        made = make(client, roles=["finance"])
        listed = client.get("/api/keys", headers=OWNER)
    assert msgspec.json.decode(listed.content, type=list[ApiKey]) == [made.key]
    assert made.secret not in listed.text
    assert made.secret.startswith(made.key.prefix + "_")


def test_a_key_reads_what_its_roles_name_and_what_is_for_everyone(keyed: Site) -> None:
    with keyed.client() as client:
        finance, none = make(client, roles=["finance"]), make(client, name="无")
        seen = {
            one.key.name: {document["key"] for document in client.get("/api/documents", headers=bearer(one)).json()}
            for one in (finance, none)
        }
    assert seen == {"助手": {LEAVE.key, TRAVEL.key}, "无": {LEAVE.key}}


def test_a_revoked_key_is_refused_from_the_next_request_on_in_the_words_for_any_wrong_one(keyed: Site) -> None:
    with keyed.client() as client:
        made = make(client)
        assert client.get("/api/runs", headers=bearer(made)).status_code == 200
        assert client.delete(f"/api/keys/{made.key.key_id}", headers=OWNER).json()["revoked_at_ms"]
        revoked = client.get("/api/runs", headers=bearer(made))
        wrong = client.get("/api/runs", headers={"Authorization": f"Bearer {MARK}aaaaaaaa_{'A' * 43}"})
    assert (revoked.status_code, revoked.text) == (401, wrong.text)


def test_a_key_that_ran_out_is_refused(keyed: Site) -> None:
    at_ms = 1_800_000_000_000
    keyed.now_ms = lambda: at_ms
    with keyed.client() as client:
        made = make(client, expires_at_ms=at_ms + 1)
        assert client.get("/v1/models", headers=bearer(made)).status_code == 200
        at_ms += 1
        assert client.get("/v1/models", headers=bearer(made)).status_code == 401


def test_its_last_use_is_written_down(keyed: Site) -> None:
    with keyed.client() as client:
        made = make(client)
        assert made.key.last_used_at_ms is None
        client.get("/api/runs", headers=bearer(made))

        def used() -> object:
            with closing(open_database(keyed.layout.catalog)) as db:
                return list_keys(db)[0].last_used_at_ms

        until(used)


def test_a_key_s_runs_stay_beneath_its_ceilings(keyed: Site) -> None:
    with keyed.client() as client:
        made = make(
            client, limits={"max_tool_calls": 2, "max_request_tokens": 10**9, "finalization_reserve_tokens": 900}
        )
        above = client.post(
            "/api/runs", json={"question": "年假？", "budgets": {"max_tool_calls": 3}}, headers=bearer(made)
        )
        run = client.post("/api/runs", json={"question": "年假？"}, headers=bearer(made)).json()
        chat = {"model": "citebound", "messages": [{"role": "user", "content": "年假？"}]}
        completion = client.post("/v1/chat/completions", json=chat, headers=bearer(made)).json()
        again = client.get(f"/api/runs/{completion['citebound']['run_id']}", headers=bearer(made)).json()
    assert (above.status_code, above.json()["field"]) == (400, "budgets.max_tool_calls")
    expected = structs.replace(Settings(data_dir="").limits, max_tool_calls=2, finalization_reserve_tokens=900)
    assert [msgspec.convert(one["manifest"]["limits"], Limits) for one in (run, again)] == [expected, expected]


def test_a_ceiling_beneath_which_no_run_fits_is_refused_when_the_key_is_made(keyed: Site) -> None:
    with keyed.client() as client:
        reply = client.post("/api/keys", json={"name": "a", "limits": {"max_context_tokens": 10}}, headers=OWNER)
    assert (reply.status_code, reply.json()["field"]) == (400, "limits.max_context_tokens")


def test_too_many_requests_are_told_when_to_come_again(keyed: Site) -> None:
    with keyed.client() as client:
        made, other = make(client, requests_per_minute=2), make(client, name="另一把", requests_per_minute=2)
        replies = [client.get("/v1/models", headers=bearer(made)) for _ in range(3)]
        assert client.get("/v1/models", headers=bearer(other)).status_code == 200
        native = client.get("/api/runs", headers=bearer(made))
    assert [reply.status_code for reply in replies] == [200, 200, 429]
    assert replies[2].json()["error"]["type"] == "rate_limit_error"
    assert (native.json()["code"], native.json()["retryable"]) == ("rate_limited", True)
    assert 1 <= int(native.headers["retry-after"]) <= 31


def test_a_run_is_its_asker_s_and_an_admin_s(keyed: Site) -> None:
    with keyed.client() as client:
        mine, alike, admin = (
            make(client, roles=["finance"]),
            make(client, name="同权", roles=["finance"]),
            make(client, name="管理", permission="admin"),
        )
        run_id = client.post("/api/runs", json={"question": "住宿标准？"}, headers=bearer(mine)).json()["run_id"]
        seen = {
            one.key.name: (
                client.get(f"/api/runs/{run_id}", headers=bearer(one)).status_code,
                len(client.get("/api/runs", headers=bearer(one)).json()),
            )
            for one in (mine, alike, admin)
        }
    assert seen == {"助手": (200, 1), "同权": (404, 0), "管理": (200, 1)}


def test_a_link_opens_what_the_key_that_asked_may_read_and_ends_with_it(keyed: Site) -> None:
    with keyed.client() as client:
        made = make(client, roles=["finance"])
        chat = {"model": "citebound", "messages": [{"role": "user", "content": "出差住宿每晚多少元？"}]}
        reply = client.post("/v1/chat/completions", json=chat, headers=bearer(made)).json()
        link: str = next(one["url"] for one in reply["citebound"]["citations"] if one["title"] == TRAVEL.title)
        parts = urlsplit(link)
        path = f"{parts.path}?{parts.query}"
        opened = client.get(path, headers={"Accept": "text/html"})
        assert (opened.status_code, f"key={made.key.key_id}" in path) == (200, True)
        keyed.publish(LEAVE, structs.replace(TRAVEL, access=("board",)))
        assert client.get(path).status_code == 404
        client.delete(f"/api/keys/{made.key.key_id}", headers=OWNER)
        assert client.get(path).status_code == 401


def test_on_loopback_without_a_demanded_key_the_owner_needs_none_and_a_key_is_only_what_it_is(site: Site) -> None:
    site.publish(LEAVE, TRAVEL)
    with site.client() as client:
        made = make(client)
        assert len(client.get("/api/documents").json()) == 2
        assert len(client.get("/api/documents", headers=bearer(made)).json()) == 1
        assert client.get("/api/keys", headers=bearer(made)).status_code == 403
        client.delete(f"/api/keys/{made.key.name}")
        assert client.get("/api/documents", headers=bearer(made)).status_code == 401
        assert client.get("/v1/models", headers={"Authorization": "Bearer sk-anything"}).status_code == 200


def test_where_keys_are_demanded_nobody_is_the_owner_by_being_here(site: Site) -> None:
    with site.client() as client:
        admin = make(client, permission="admin")
    site.reopen_telemetry()
    site.with_api(require_key=True)
    with site.client() as client:
        assert client.get("/api/runs").status_code == 401
        assert client.get("/api/keys", headers=bearer(admin)).status_code == 200
        assert client.get("/readyz").json().keys() == {"ready", "parts"}
        assert "runs" in client.get("/readyz", headers=bearer(admin)).json()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": ""}, "name"),
        ({"name": "a", "permission": "root"}, "permission"),
        ({"name": "a", "permission": "write", "roles": ["hr"]}, "roles"),
        ({"name": "a", "roles": ["*"]}, "roles"),
        ({"name": "a", "limits": {"max_wall_hours": 1}}, "max_wall_hours"),
        ({"name": "a", "expires_at_ms": 1}, "expires_at_ms"),
        ({"name": "a", "expires_at_ms": 9 * 10**18}, "expires_at_ms"),
        ({"name": "a", "expires_at_ms": 10**30}, "expires_at_ms"),
        ({"name": "a", "requests_per_minute": 10**24}, "requests_per_minute"),
        ({"name": "a", "limits": {"max_wall_seconds": 10**30}}, "max_wall_seconds"),
        ({"name": "组/助手"}, "name"),
        ({"name": "a", "secret": "mine"}, "secret"),
    ],
)
def test_a_wrong_wish_names_its_field(site: Site, body: dict[str, Any], field: str) -> None:
    with site.client() as client:
        reply = client.post("/api/keys", json=body)
    assert reply.status_code == 400
    assert field in reply.text
    assert reply.json()["remedy"]
