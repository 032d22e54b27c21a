"""Every error is a problem with a stable code, a field, a remedy; what is inside stays inside."""

import logging
from typing import Any, get_args

import pytest
from httpx import Response

from api.agent.run import RunRequest
from api.problem import problem
from shared.errors import CiteboundError, Conflict, DocumentError, StorageError, UpstreamCode, UpstreamError
from shared.types.runs import RunRecord
from tests.contract.http.site import Site

JSON = {"Content-Type": "application/json"}


def problem_of(response: Response) -> tuple[int, str, str | None]:
    body = response.json()
    assert response.headers["content-type"] == "application/problem+json"
    assert body["type"] == f"urn:citebound:problem:{body['code']}"
    assert body["status"] == response.status_code
    assert body["title"]
    assert body["detail"]
    assert body["remedy"]
    return response.status_code, body["code"], body.get("field")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"{bad", (400, "malformed_json", None)),
        (b"\xff\xfe", (400, "malformed_json", None)),
        (b'{"question":' + b"[" * 2_000 + b"]" * 2_000 + b"}", (400, "malformed_json", None)),
        (b"", (400, "invalid_argument", "body")),
        (b"[]", (400, "invalid_argument", "body")),
        (b"{}", (400, "invalid_argument", "question")),
        (b'{"question":""}', (400, "invalid_argument", "question")),
        ('{"question":" \u3000"}'.encode(), (400, "invalid_argument", "question")),
        (b'{"question":5}', (400, "invalid_argument", "question")),
        (b'{"question":"?","colour":1}', (400, "invalid_argument", "colour")),
        (b'{"question":"?","scope":{"doc_ids":"k3f9a2qd"}}', (400, "invalid_argument", "scope.doc_ids")),
        (b'{"question":"?","budgets":{"max_tool_calls":-1}}', (400, "invalid_argument", "budgets.max_tool_calls")),
        (b'{"question":"?","budgets":{"max_tool_calls":99}}', (400, "invalid_argument", "budgets.max_tool_calls")),
        (
            b'{"question":"?","budgets":{"max_context_tokens":1000}}',
            (400, "invalid_argument", "budgets.max_context_tokens"),
        ),
        (b'{"question":"?","snapshot_id":"snap_unknown"}', (404, "not_found", "snapshot_id")),
        (b'{"question":"?","snapshot_id":""}', (404, "not_found", "snapshot_id")),
        ('{"question":"?","scope":{"tags":["无"]}}'.encode(), (404, "scope_not_found", "scope")),
        (b'{"question":"' + b"?" * 1_100_000 + b'"}', (413, "too_large", None)),
    ],
)
def test_a_question_that_won_t_do_is_refused_with_the_field_that_is_wrong(
    site: Site, body: bytes, expected: tuple[int, str, str | None]
) -> None:
    site.publish()
    with site.client() as client:
        assert problem_of(client.post("/api/runs", content=body, headers=JSON)) == expected


@pytest.mark.parametrize("path", ["/api/runs", "/api/runs/run_1", "/api/keys", "/healthz"])
def test_an_address_names_the_same_methods_to_who_asks_and_to_who_took_a_wrong_one(site: Site, path: str) -> None:
    with site.client() as client:
        asked, wrong = client.options(path), client.put(path)
    assert (asked.status_code, wrong.status_code) == (204, 405)
    assert set(asked.headers["allow"].split(", ")) == set(wrong.headers["allow"].split(", "))


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/nowhere", (404, "not_found", None)),
        ("DELETE", "/api/runs", (405, "method_not_allowed", None)),
        ("GET", "/api/runs?limit=0", (400, "invalid_argument", "limit")),
        ("GET", "/api/runs?limit=many", (400, "invalid_argument", "limit")),
        ("GET", "/api/runs/run_unknown", (404, "not_found", "run_id")),
        ("GET", "/api/runs/run_unknown/trace", (404, "not_found", "run_id")),
        ("GET", "/api/runs/run_unknown/evidence", (404, "not_found", "run_id")),
        ("POST", "/api/runs/run_unknown/cancel", (409, "conflict", None)),
        ("GET", "/api/imports/imp_unknown", (404, "not_found", "import_id")),
        ("GET", "/api/imports/imp_unknown/events", (404, "not_found", "import_id")),
        ("POST", "/api/imports/imp_unknown/pause", (404, "not_found", "import_id")),
        ("POST", "/api/imports/imp_unknown/explode", (404, "not_found", "verb")),
        ("GET", "/api/snapshots/snap_unknown", (404, "not_found", "snapshot_id")),
        ("POST", "/api/snapshots/snap_unknown/activate", (404, "not_found", "snapshot_id")),
        ("GET", "/api/documents", (409, "no_snapshot", None)),
        ("GET", "/api/blocks/k3f9a2qd.v1%230", (404, "not_found", "block_id")),
    ],
)
def test_an_address_that_leads_nowhere_says_so(
    site: Site, method: str, path: str, expected: tuple[int, str, str | None]
) -> None:
    with site.client() as client:
        assert problem_of(client.request(method, path)) == expected


MISSING: tuple[tuple[str, str, dict[str, str] | None, str], ...] = (
    ("GET", "/api/runs/run_unknown", None, "GET /api/runs lists"),
    ("GET", "/api/cases/case_unknown", None, "GET /api/cases lists"),
    ("GET", "/api/conversations/conv_unknown", None, "GET /api/conversations lists"),
    ("DELETE", "/api/conversations/conv_unknown", None, "GET /api/conversations lists"),
    ("POST", "/api/runs", {"question": "？", "conversation_id": "conv_unknown"}, "GET /api/conversations lists"),
    ("POST", "/api/runs", {"question": "？", "snapshot_id": "snap_unknown"}, "GET /api/snapshots lists"),
    ("GET", "/api/snapshots/snap_unknown", None, "GET /api/snapshots lists"),
    ("GET", "/api/imports/imp_unknown", None, "GET /api/imports lists"),
    ("GET", "/api/documents/k3f9a2qz", None, "GET /api/documents lists"),
    ("GET", "/api/documents/k3f9a2qz/original", None, "GET /api/documents lists"),
    ("GET", "/api/blocks/k3f9a2qz.v1%230", None, "or GET /api/documents/{doc_id}/blocks"),
    ("POST", "/api/tools/none", {}, "GET /api/tools lists"),
    ("DELETE", "/api/keys/none", None, "GET /api/keys lists"),
    ("GET", "/api/prompts/none/1", None, "GET /api/prompts lists"),
    ("GET", "/nowhere", None, "/openapi/openapi.json lists"),
)


def test_what_is_not_there_comes_with_the_list_of_what_is(site: Site) -> None:
    site.publish()
    with site.client() as client:
        replies = [(path, client.request(method, path, json=body), listed) for method, path, body, listed in MISSING]
    wrong = [
        path for path, reply, listed in replies if reply.status_code != 404 or listed not in reply.json()["remedy"]
    ]
    assert wrong == []


def test_a_question_before_any_import_is_told_what_to_do(site: Site) -> None:
    with site.client() as client:
        reply = client.post("/api/runs", json={"question": "年假几天？"})
        assert problem_of(reply) == (409, "no_snapshot", None)
        assert "./scripts/run import" in reply.json()["remedy"]


def test_what_to_do_before_any_import_is_said_once(site: Site) -> None:
    with site.client() as client:
        told = client.get("/api/documents").json()
        assert ("mport" in told["remedy"], "mport" in told["detail"]) == (True, False)


class Broken(Exception):
    pass


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (Conflict("…", ids=["imp_1"]), 409, "conflict"),
        (StorageError("…"), 503, "storage_unavailable"),
        (UpstreamError("provider_rate_limited", "…", retry_after_s=7.2), 502, "provider_rate_limited"),
    ],
)
def test_an_error_of_ours_keeps_its_code_status_ids_and_retry_after(
    site: Site, error: CiteboundError, status: int, code: str
) -> None:
    site.publish()
    site.agent = raising(error)
    with site.client() as client:
        reply = client.post("/api/runs", json={"question": "?"})
        assert problem_of(reply)[:2] == (status, code)
        assert reply.json().get("ids", []) == list(error.ids)
        assert reply.json().get("retryable", False) == error.retryable
        assert reply.headers.get("retry-after") == ("7" if code == "provider_rate_limited" else None)


def test_an_unexpected_error_tells_only_an_id_that_the_log_knows(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    site.publish()
    site.agent = raising(Broken("a detail of the inside"))
    with caplog.at_level(logging.ERROR), site.client() as client:
        reply = client.post("/api/runs", json={"question": "?"})
        assert problem_of(reply) == (500, "internal_error", None)
        assert "inside" not in reply.text.replace("broke inside", "")
        assert reply.json()["error_id"] in caplog.text
        assert "a detail of the inside" in caplog.text


def raising(error: Exception) -> Any:
    """An agent that gets no further than its first line."""

    async def run_agent(request: RunRequest, **parts: object) -> RunRecord:
        raise error

    return run_agent


def every_error(kind: type[CiteboundError] = CiteboundError) -> list[type[CiteboundError]]:
    return [kind, *(below for one in kind.__subclasses__() for below in every_error(one))]


CODES = {one.code for one in every_error() if one not in (CiteboundError, DocumentError, UpstreamError)} | set(
    get_args(UpstreamCode)
)


@pytest.mark.parametrize("code", sorted(CODES))
def test_every_code_has_a_title_and_a_remedy(code: str) -> None:
    told = problem(code, "?", status=400)
    assert told.remedy
    assert told.title != code or code.startswith("provider_")


@pytest.mark.parametrize(
    "headers",
    [
        {"Accept": "text/html;q=1e999"},
        {"Accept": "text/html;q=nan, */*;q=-1e999"},
        {"Accept": ";;,,=;q="},
        {"Accept": "a" * 5_000},
        {"Accept-Language": "zh;q=1e999, en;q=nan"},
        {"Content-Length": "9" * 5_000},
        {"Content-Type": "multipart/form-data; boundary=\x80"},
        {"Content-Type": "application/json; charset=klingon"},
        {"Authorization": "Bearer cbk_\xff"},
        {"Authorization": "Bearer"},
        {"Authorization": ""},
        {"Cookie": "=;=;\xff"},
        {"Range": "bytes=9-1"},
        {"If-None-Match": "*"},
        {"Origin": "null"},
    ],
    ids=str,
)
def test_no_header_breaks_a_route(site: Site, headers: dict[str, str]) -> None:
    raw = {name.encode(): value.encode("latin-1") for name, value in headers.items()}
    with site.client() as client:
        for path in (
            "/",
            "/readyz",
            "/api/runs",
            "/api/imports",
            "/api/blocks/zzzzzzzz.v1%230",
            "/v1/models/none",
            "/none",
        ):
            for method in ("GET", "POST"):
                assert client.request(method, path, headers=raw).status_code < 500, (method, path)
