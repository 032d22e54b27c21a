"""The list of runs: over HTTP and as a page, narrowed down, and to each his own."""

from collections.abc import Mapping

import pytest
from msgspec import structs

from shared.ids import RunId
from shared.types.runs import RunRecord
from tests.contract.http.leaking import BROWSER, OWNER_KEY, a_key
from tests.contract.http.site import LEAVE, Site
from tests.contract.telemetry.test_wanted import a_run
from tests.patience import PATIENCE_S

RUNS = tuple(structs.replace(a_run(n), asker=None) for n in range(12))


def kept(site: Site, *records: RunRecord) -> None:
    for record in records:
        site.telemetry.keep(record)
    assert site.telemetry.flush(timeout_s=PATIENCE_S)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"status": "refused"}, [7, 2]),
        ({"stopped_by": "brake_gain"}, [8, 1]),
        ({"min_tokens": "900", "max_tokens": "900"}, [10, 7, 4, 1]),
        ({"max_duration_ms": "3"}, [11, 10, 9, 2, 1, 0]),
        ({"snapshot_id": "snap_1"}, [11, 9, 7, 5, 3, 1]),
        ({"prompt_bundle": "default"}, [10, 9, 6, 5, 2, 1]),
        ({"doc_id": "k3f9a2q"}, [11, 8, 2]),
        ({"text": "BERTH"}, [9, 5, 1]),
        ({"before": "run_003", "limit": "2"}, [2, 1]),
    ],
)
def test_each_filter_holds_over_http(site: Site, query: Mapping[str, str], expected: list[int]) -> None:
    kept(site, *RUNS)
    with site.client() as client:
        found = client.get("/api/runs", params=dict(query)).json()
    assert [one["run_id"] for one in found] == [f"run_{n:03}" for n in expected]


@pytest.mark.parametrize(
    "query",
    [
        {"status": "maybe"},
        {"min_tokens": "-1"},
        {"max_tokens": "9" * 20},  # more than the store can count
        {"stopped_by": "x"},
        {"limit": "0"},
    ],
)
def test_a_filter_that_makes_no_sense_is_refused(site: Site, query: Mapping[str, str]) -> None:
    with site.client() as client:
        assert client.get("/api/runs", params=dict(query)).status_code == 400


def test_the_page_takes_the_same_and_leaves_out_what_makes_no_sense(site: Site) -> None:
    kept(site, *RUNS)
    with site.client() as client:
        query = {"text": "berth", "status": "", "stopped_by": "?", "min_tokens": "many", "max_s": "1e9"}
        page = client.get("/traces", params=query, headers=BROWSER)
        seconds = client.get("/traces", params={"max_s": "0.003"}, headers=BROWSER)
    assert page.status_code == 200
    assert [f"/traces/run_{n:03}" in page.text for n in (1, 5, 9, 0)] == [True, True, True, False]
    assert "/traces/run_009" in seconds.text
    assert "/traces/run_003" not in seconds.text


def test_a_part_of_a_title_finds_the_runs_that_cite_such_a_document(site: Site) -> None:
    published = site.publish()
    site.with_the_real_agent()
    with site.client() as client:
        answer = client.post("/api/runs", json={"question": "员工有几天年假？"}).json()
        [cited] = {one["title"] for one in answer["citations"]}
        shown = [
            answer["run_id"] in client.get("/traces", params={"document": said}, headers=BROWSER).text
            for said in (cited[:2], published.doc_id(LEAVE.key), "没有这样的标题")
        ]
    assert shown == [True, True, False]


def test_older_runs_are_a_page_further_with_the_same_filters(site: Site) -> None:
    record = a_run(1)
    runs = [
        structs.replace(record, asker=None, answer=structs.replace(record.answer, run_id=RunId(f"run_{n:03}")))
        for n in range(60)
    ]
    kept(site, *runs)
    with site.client() as client:
        first = client.get("/traces", params={"text": "berth"}, headers=BROWSER).text
        assert "/traces?text=berth&amp;before=run_010" in first
        second = client.get("/traces", params={"text": "berth", "before": "run_010"}, headers=BROWSER).text
    assert ("/traces/run_010" in first, "/traces/run_009" in first) == (True, False)
    assert ("/traces/run_010" in second, "/traces/run_009" in second) == (False, True)
    assert 'rel="next"' not in second


def test_a_reader_finds_his_own_runs_and_opens_no_others(site: Site) -> None:
    site.publish()
    site.with_api(api_key=OWNER_KEY)
    site.with_the_real_agent()
    readers = {name: {"Authorization": f"Bearer {a_key(site, name, ('team',))}"} for name in ("one", "other")}
    with site.client() as client:
        ids = {
            name: client.post("/api/runs", json={"question": "年假有几天？"}, headers=key).json()["run_id"]
            for name, key in readers.items()
        }
        page = client.get("/traces", params={"text": "年假"}, headers=readers["one"] | BROWSER)
        assert (ids["one"] in page.text, ids["other"] in page.text) == (True, False)
        assert client.get(f"/traces/{ids['one']}", headers=readers["one"] | BROWSER).status_code == 200
        assert client.get(f"/traces/{ids['other']}", headers=readers["one"] | BROWSER).status_code == 404
