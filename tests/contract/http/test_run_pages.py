"""Cases, two runs beside each other, and a run out of a file, as pages."""

from typing import Any

import msgspec
import pytest
from litestar import Litestar
from litestar.testing import TestClient
from markupsafe import escape
from msgspec import structs

from api.web.open_run import MAX_FILE_BYTES
from api.web.words import WORDS
from shared.types.again import Missing
from shared.types.cases import Layer
from shared.types.runfiles import RunFile
from tests.contract.http.leaking import a_key
from tests.contract.http.site import ORIGIN, Site
from tests.contract.http.test_reading import BROWSER

QUESTION = {"question": "员工有几天年假？"}
FORM = {**BROWSER, "Origin": ORIGIN}
HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(2)">\'"&{{ 7*7 }}'


@pytest.fixture
def asked(site: Site) -> Site:
    site.publish()
    site.with_the_real_agent()
    return site


def a_run(client: TestClient[Litestar], headers: dict[str, str] | None = None, **more: Any) -> str:
    return client.post("/api/runs", json={**QUESTION, **more}, headers=headers or {}).json()["run_id"]


def a_case(client: TestClient[Litestar], **said: str) -> str:
    run_id = a_run(client)
    assert client.post(f"/api/runs/{run_id}/feedback", json={"thumb": "down", **said}).status_code == 200
    return run_id.replace("run_", "case_")


def a_file(client: TestClient[Litestar], **more: Any) -> bytes:
    return client.get(f"/api/runs/{a_run(client, **more)}/export").content


def opened(client: TestClient[Litestar], data: bytes, name: str = "run_1.json") -> tuple[int, str]:
    reply = client.post("/traces/open", files={"file": (name, data)}, headers=FORM)
    return reply.status_code, reply.text


def test_a_case_is_found_judged_and_settled_without_a_script(asked: Site) -> None:
    with asked.client() as client:
        case_id = a_case(client, comment=HOSTILE)
        listed = client.get("/cases", headers=BROWSER).text
        page = client.get(f"/cases/{case_id}", headers=BROWSER).text
        form = {"layer": "ignored", "gold": "1", "note": "应为五天\r\n见制度", "status": "closed"}
        saved = client.post(f"/cases/{case_id}", data=form, headers=FORM)
        case = client.get(f"/api/cases/{case_id}").json()
        lists = [
            client.get("/cases", params={"status": one}, headers=BROWSER).text for one in ("open", "closed", "all")
        ]
        item = client.get(f"/api/cases/{case_id}/item").json()
        client.post(f"/cases/{case_id}", data={"layer": "other", "note": "", "status": "open"}, headers=FORM)
        again = client.get(f"/api/cases/{case_id}").json()
    assert f'href="/cases/{case_id}"' in listed
    assert str(escape(HOSTILE)) in page
    assert HOSTILE not in page
    assert saved.status_code == 200
    assert 'role="status"' in saved.text
    assert (case["layer"], case["gold"], case["note"], case["status"]) == ("ignored", [1], "应为五天\n见制度", "closed")
    assert [f'href="/cases/{case_id}"' in one for one in lists] == [False, True, True]
    assert len(item["gold"]) == 1
    assert (again["layer"], again["gold"], again["note"], again["status"]) == ("other", [], "", "open")


@pytest.mark.parametrize(
    "form", [{"layer": "nonsense"}, {"status": "gone"}, {"gold": "x"}, {"gold": "99"}, {"note": "字" * 2_001}]
)
def test_a_form_that_makes_no_sense_changes_nothing(asked: Site, form: dict[str, str]) -> None:
    with asked.client() as client:
        case_id = a_case(client)
        before = client.get(f"/api/cases/{case_id}").json()
        assert client.post(f"/cases/{case_id}", data=form, headers=FORM).status_code == 400
        assert client.get(f"/api/cases/{case_id}").json() == before


def test_two_runs_are_compared_by_ticking_them_and_only_by_who_may_read_both(asked: Site) -> None:
    mine = {"Authorization": f"Bearer {a_key(asked, 'reader', ())}"}
    with asked.client() as client:
        first, second = a_run(client, mine), a_run(client, mine, budgets={"max_tool_calls": 3})
        foreign = a_run(client)
        ticked = client.get("/traces/compare", params={"run": [second, first]}, headers={**BROWSER, **mine})
        sides = {"left": first, "right": foreign}
        refused = client.get("/traces/compare", params=sides, headers={**BROWSER, **mine})
        few = client.get("/traces/compare", params={"run": first}, headers={**BROWSER, **mine})
    assert ticked.status_code == 200
    assert ticked.text.index(f"/traces/{first}") < ticked.text.index(f"/traces/{second}")
    assert "max_tool_calls <ins>3</ins>" in ticked.text  # a version that differs
    assert refused.status_code == 404
    assert (few.status_code, 'href="/traces"' in few.text) == (200, True)


@pytest.mark.parametrize("level", ["metadata", "full"])
def test_a_saved_run_opens_in_the_view_of_a_run_and_nothing_of_it_is_kept(asked: Site, level: str) -> None:
    with asked.client() as client:
        data = a_file(client, trace_level=level)
        before = client.get("/api/runs").json()
        status, page = opened(client, data)
        assert client.get("/api/runs").json() == before
    found = msgspec.json.decode(data, type=RunFile)
    assert status == 200
    assert WORDS["en"]["open_run"]["from_file"] in page
    assert found.record.answer.question in page
    assert found.record.answer.citations[0].quote in page
    assert "/api/blocks/" not in page  # of another library perhaps
    assert f"/api/runs/{found.record.answer.run_id}" not in page
    assert 'id="again"' not in page
    assert "saved it; this is" not in page


def test_a_file_of_another_version_of_citebound_says_so(asked: Site) -> None:
    with asked.client() as client:
        file = msgspec.json.decode(a_file(client), type=RunFile)
        other = opened(client, msgspec.json.encode(structs.replace(file, app_version="9.9.9")))
        newer = opened(client, b'{"format": "citebound-run-7", "app_version": "9.9.9"}')
    for status, page in (other, newer):
        assert status == 200
        assert "Citebound 9.9.9 saved it" in page


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "empty"),
        ("一封信".encode(), "no_json"),
        (b'{"spans": []}', "foreign"),
        (b'{"format": "citebound-run-1"}', "damaged"),
        (b'{"format": "citebound-run-0"}', "older"),
    ],
)
def test_a_file_that_is_none_says_what_is_wrong_and_what_helps(site: Site, data: bytes, why: str) -> None:
    with site.client() as client:
        status, page = opened(client, data, name=f"{HOSTILE}.json")
    assert status == 200  # a page with the form, as before
    assert WORDS["en"]["open_run"]["why"][why] in page
    assert str(escape(WORDS["en"]["open_run"]["help"][why])) in page
    assert "<script>alert" not in page


def test_a_form_without_a_file_and_one_that_is_too_large_are_told_in_words(site: Site) -> None:
    with site.client() as client:
        none = client.post("/traces/open", files={"file": ("", b"")}, headers=FORM)
        broken = client.post(
            "/traces/open", content=b"x", headers={**FORM, "Content-Type": "multipart/form-data; boundary=y"}
        )
        large = opened(client, b" " * (MAX_FILE_BYTES + 8_192))
    assert (none.status_code, WORDS["en"]["open_run"]["why"]["none"] in none.text) == (200, True)
    assert broken.status_code == 400
    assert large[0] == 413
    assert WORDS["en"]["open_run"]["why"]["too_large"] in large[1]


def test_whatever_texts_a_file_holds_they_are_only_text(asked: Site) -> None:
    """Every string of a real run's file at level full is replaced, but for the closed sets; and none becomes markup."""
    with asked.client() as client:
        file = msgspec.json.decode(a_file(client, trace_level="full"), type=RunFile)
        hostile = msgspec.json.encode(_poisoned(msgspec.to_builtins(file)))
        msgspec.json.decode(hostile, type=RunFile)
        status, page = opened(client, hostile)
    assert status == 200
    assert str(escape(HOSTILE)) in page
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "onerror=" not in page.replace(str(escape(HOSTILE)), "")
    assert "{{ 7*7 }}" in page


def test_a_file_of_other_times_and_of_spans_within_spans_opens_all_the_same(asked: Site) -> None:
    with asked.client() as client:
        file = msgspec.json.decode(a_file(client), type=RunFile)
        span = structs.replace(file.trace.spans[0], start_ns=-(2**62), end_ns=2**62)
        for _ in range(100):
            span = structs.replace(span, children=(span,))
        trace = structs.replace(file.trace, spans=(span,))
        for at_ms in (2**62, -(2**62)):
            answer = structs.replace(file.record.answer, started_at_ms=at_ms, duration_ms=-1)
            record = structs.replace(file.record, answer=answer)
            other = structs.replace(file, record=record, trace=trace)
            assert opened(client, msgspec.json.encode(other))[0] == 200


KEPT = frozenset(
    {"format", "status", "trust", "verdict", "tool", "extent", "path", "citation_mode", "prompt_bundle_origin", "state"}
    | {"name", "trace_id", "span_id", "parent_id", "stage", "code"}
)


def _poisoned(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _poisoned(inner, name) for name, inner in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, list | tuple):
        return [_poisoned(inner, key) for inner in value]  # pyright: ignore[reportUnknownVariableType]
    return HOSTILE if isinstance(value, str) and key not in KEPT and not key.startswith("citebound.artifact") else value


def test_every_reason_and_layer_has_words() -> None:
    def codes(kind: Any) -> set[str]:
        return {code for one in kind.__args__ for code in (codes(one) if hasattr(one, "__args__") else {one})}

    assert codes(Missing) == set(WORDS["zh"]["again"]["reason"])
    assert codes(Layer) == set(WORDS["zh"]["layers"])
    assert set(WORDS["zh"]["open_run"]["why"]) == set(WORDS["zh"]["open_run"]["help"])
