"""The real agent behind the real routes, with no model configured."""

import httpx
import msgspec
from openai import OpenAI

from api.openai_compat.shapes import MODEL
from api.retrieval.blocks import BlockView
from shared.types.runs import Answer
from shared.types.traces import Trace
from tests.contract.http.site import Site
from tests.promises import promise

QUESTION = "员工工作满一年享有几天年假？"


@promise("P6")
@promise("P12")
def test_a_question_is_answered_without_any_key_and_each_citation_opens_the_block_that_was_read(site: Site) -> None:
    site.publish()
    site.with_the_real_agent()
    with site.client() as client:
        reply = client.post("/api/runs", json={"question": QUESTION})
        answer = msgspec.json.decode(reply.content, type=Answer)
        assert (answer.status, answer.extractive) == ("complete", True), answer.text
        assert answer.citations
        for citation in answer.citations:
            page = client.get(f"/api/blocks/{citation.block_id.replace('#', '%23')}")
            view = msgspec.json.decode(page.content, type=BlockView)
            assert citation.quote in view.block.text
            assert (view.document.version, view.snapshot_id) == (citation.version, citation.snapshot_id)
        kept = msgspec.json.decode(client.get(f"/api/runs/{answer.run_id}/trace").content, type=Trace)
    assert not kept.partial
    assert len(kept.spans) == 1


def test_the_links_under_an_answer_lead_to_its_blocks(site: Site) -> None:
    site.publish()
    site.with_the_real_agent()
    with site.live() as address, OpenAI(base_url=f"{address}/v1", api_key="none-is-set") as client:
        completion = client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": QUESTION}])
        ours = (completion.model_extra or {})["citebound"]
        pages: list[str] = [cited["url"] for cited in ours["citations"]]
        for page, cited in zip(pages, ours["citations"], strict=True):
            assert cited["quote"] in httpx.get(page).json()["block"]["text"]
    assert pages
    assert all(page in (completion.choices[0].message.content or "") for page in pages)
