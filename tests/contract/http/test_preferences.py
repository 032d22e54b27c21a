"""Which documents a search prefers is the caller's choice, said in the manifest, and refused when there is no such thing."""

from typing import Any

import pytest

from tests.contract.http.site import Site
from tests.factories import NOW_MS, a_document

DAY_MS = 86_400_000
OLD = a_document("制度2021.md", "年假可以跨年累计，最多五天。", updated_at_ms=NOW_MS - 900 * DAY_MS, source="旧")
NEW = a_document("制度2024.md", "年假可以跨年累计，最多三天。", updated_at_ms=NOW_MS, source="新")
QUESTION = "年假可以跨年累计吗？"


@pytest.mark.parametrize(
    ("body", "profile"),
    [
        ({}, "hybrid-scores-v2"),
        ({"prefer": None}, "hybrid-scores-v2"),
        ({"prefer": "newer"}, "hybrid-scores-v2+newer-v1"),
        ({"prefer": "trusted"}, "hybrid-scores-v2+trusted-v1"),
    ],
)
def test_a_run_says_by_which_profile_it_searched(site: Site, body: dict[str, Any], profile: str) -> None:
    site.publish(OLD, NEW)
    site.with_the_real_agent()
    with site.client() as client:
        answer = client.post("/api/runs", json={"question": QUESTION, **body}).json()
        chat = {"model": "citebound", "messages": [{"role": "user", "content": QUESTION}], **body}
        run_id = client.post("/v1/chat/completions", json=chat).json()["citebound"]["run_id"]
        compatible = client.get(f"/api/runs/{run_id}").json()
    assert answer["manifest"]["retrieval_profile"] == profile
    assert compatible["manifest"]["retrieval_profile"] == profile


def test_a_tool_is_called_by_the_callers_preference(site: Site) -> None:
    published = site.publish(OLD, NEW)
    with site.client() as client:
        reply = client.post("/api/tools/search_blocks?prefer=newer", json={"query": QUESTION}).json()
    assert reply["retrieval_profile"] == "hybrid-scores-v2+newer-v1"
    assert [block["doc_id"] for block in reply["payload"]["blocks"]] == [
        published.doc_id(NEW.key),
        published.doc_id(OLD.key),
    ]


def test_a_preference_is_no_argument_of_the_tool(site: Site) -> None:
    site.publish(OLD, NEW)
    with site.client() as client:
        reply = client.post("/api/tools/search_blocks", json={"query": QUESTION, "prefer": "newer"})
    assert (reply.status_code, reply.json()["field"]) == (400, "prefer")


@pytest.mark.parametrize("path", ["/api/runs", "/api/tools/search_blocks?prefer=latest", "/v1/chat/completions"])
def test_a_preference_that_does_not_exist_is_refused_with_those_that_do(site: Site, path: str) -> None:
    site.publish(OLD, NEW)
    bodies: dict[str, Any] = {
        "/api/runs": {"question": QUESTION, "prefer": "latest"},
        "/v1/chat/completions": {
            "model": "citebound",
            "messages": [{"role": "user", "content": QUESTION}],
            "prefer": "latest",
        },
    }
    with site.client() as client:
        reply = client.post(path, json=bodies.get(path, {"query": QUESTION}))
    assert reply.status_code == 400
    assert "newer, trusted" in reply.text
