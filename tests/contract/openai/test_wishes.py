"""What is ours alone can be asked for over /v1 as over /api/runs, and what can't be had is refused there too."""

from typing import Any

import pytest

from api.openai_compat.shapes import MODEL
from shared.types.runs import Limits, Scope
from tests.contract.http.site import Site


def asking(**more: object) -> dict[str, Any]:
    return {"model": MODEL, "messages": [{"role": "user", "content": "年假有几天？"}], **more}


@pytest.mark.parametrize(
    ("wish", "field", "code"),
    [
        ({"prompt_bundle": "no-such/9"}, "prompt_bundle", "invalid_argument"),
        ({"path": "nonsense"}, "path", "invalid_argument"),
        ({"scope": {"doc_ids": ["nope"]}}, None, "scope_not_found"),
        ({"scope": {"documents": []}}, "scope", "invalid_argument"),
        ({"snapshot_id": "snap_x"}, None, "not_found"),
        ({"budgets": {"max_tool_calls": -1}}, "budgets.max_tool_calls", "invalid_argument"),
        ({"budgets": {"max_context_tokens": 10**9}}, "budgets.max_context_tokens", "invalid_argument"),
        ({"trace_level": "everything"}, "trace_level", "invalid_argument"),
        ({"conversation_id": "new"}, "conversation_id", "invalid_argument"),
    ],
)
def test_a_wish_that_cannot_be_had_is_refused(site: Site, wish: dict[str, Any], field: str | None, code: str) -> None:
    site.publish()
    with site.client() as client:
        reply = client.post("/v1/chat/completions", json=asking(**wish))
    error = reply.json()["error"]
    assert (400 <= reply.status_code < 500, error["code"]) == (True, code)
    assert field is None or error["param"] == field


def test_what_is_asked_for_reaches_the_agent_and_what_others_invent_does_not_matter(site: Site) -> None:
    published = site.publish()
    doc_id = published.documents[0].doc_id
    wishes = {
        "scope": {"doc_ids": [doc_id]},
        "snapshot_id": published.snapshot_id,
        "budgets": {"max_tool_calls": 2},
        "path": "pipeline",
        "protocol": "tools",
        "citation_mode": "strict",
    }
    with site.client() as client:
        reply = client.post("/v1/chat/completions", json=asking(**wishes, temperature=0.3, top_k=4, chat_id="某个"))
    assert reply.status_code == 200, reply.text
    (request,) = site.requests
    assert request.scope == Scope(doc_ids=(doc_id,))
    assert request.limits == Limits(max_tool_calls=2)
    assert (request.path, request.protocol, request.citation_mode) == ("pipeline", "tools", "strict")
