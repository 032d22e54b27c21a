"""The real agent behind the real routes, with no model configured."""

import html
import re
from urllib.parse import urljoin

import httpx
import msgspec
from msgspec import structs
from openai import OpenAI

from api.links import BlockLinks
from api.openai_compat.shapes import MODEL
from api.retrieval.blocks import BlockView
from shared.access import OWNER
from shared.types.runs import Answer
from shared.types.traces import Trace
from tests.contract.http.site import LEAVE, Site
from tests.patience import PATIENCE_S
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
            page = client.get(BlockLinks(None, owner_key=None).path(citation.block_id, citation.snapshot_id, OWNER))
            view = msgspec.json.decode(page.content, type=BlockView)
            assert citation.quote in view.block.text
            assert (view.document.version, view.snapshot_id) == (citation.version, citation.snapshot_id)
        kept = msgspec.json.decode(client.get(f"/api/runs/{answer.run_id}/trace").content, type=Trace)
    assert not kept.partial
    assert len(kept.spans) == 1


@promise("P6")
def test_a_citation_keeps_opening_what_was_read_when_its_source_was_renamed_since(site: Site) -> None:
    site.publish()
    site.with_the_real_agent()
    with site.client() as client:
        answer = msgspec.json.decode(client.post("/api/runs", json={"question": QUESTION}).content, type=Answer)
        site.publish(structs.replace(LEAVE, title="旧制度（已废止）", trust="third_party"))
        assert answer.citations
        for citation in answer.citations:
            page = client.get(BlockLinks(None, owner_key=None).path(citation.block_id, citation.snapshot_id, OWNER))
            view = msgspec.json.decode(page.content, type=BlockView)
            assert (view.block.block_id, view.snapshot_id) == (citation.block_id, citation.snapshot_id)
            document = view.document
            assert (document.title, document.source_label, document.trust) == (
                citation.title,
                citation.source_label,
                citation.trust,
            )


@promise("P6")
def test_with_a_key_set_the_links_under_an_answer_open_without_it_and_nothing_else_does(site: Site) -> None:
    site.publish()
    site.with_the_real_agent()
    site.with_api(api_key="the-key-of-this-test")
    with site.client() as client:
        body = {"model": MODEL, "messages": [{"role": "user", "content": QUESTION}]}
        reply = client.post("/v1/chat/completions", json=body, headers={"Authorization": "Bearer the-key-of-this-test"})
        links = [cited["url"] for cited in reply.json()["citebound"]["citations"]]
        assert links
        for link in links:
            page = client.get(link, headers={"Accept": "text/html"})
            assert page.status_code == 200
            (switch,) = re.findall(r'href="([^"]*)"', page.text)  # the language; no neighbour can be walked to
            assert client.get(urljoin(link, html.unescape(switch)), headers={"Accept": "text/html"}).status_code == 200
            other = link.replace("%230", "%23x").replace("%231", "%230").replace("%23x", "%231")
            assert client.get(other).status_code == 401
            assert client.get(link.replace("snapshot=snap", "snapshot=snop")).status_code == 401
            assert client.get(link.partition("?")[0]).status_code == 401
            assert client.post(link).status_code in (401, 405)
            assert "Link" not in client.get(link, headers={"Accept": "application/json"}).headers  # no renewal for ever


def test_a_forwarded_link_tells_what_was_read_and_not_how_the_library_is_kept(site: Site) -> None:
    site.publish(structs.replace(LEAVE, access=("机密",), aliases=("人事部",), tags=("待裁",)))
    site.with_api(api_key="the-key-of-this-test")
    site.with_the_real_agent()
    with site.client() as client:
        owner = {"Authorization": "Bearer the-key-of-this-test"}
        body = {"model": MODEL, "messages": [{"role": "user", "content": QUESTION}]}
        link = client.post("/v1/chat/completions", json=body, headers=owner).json()["citebound"]["citations"][0]["url"]
        for accept in ("application/json", "text/html"):
            forwarded = client.get(link, headers={"Accept": accept})
            assert (forwarded.status_code, LEAVE.title in forwarded.text) == (200, True)
            for kept in ("机密", LEAVE.key, "人事部", "待裁"):
                assert kept not in forwarded.text
        assert "机密" in client.get(link, headers={"Accept": "application/json", **owner}).text


def test_the_links_under_an_answer_lead_to_its_blocks(site: Site) -> None:
    site.publish()
    site.with_the_real_agent()
    with site.live() as address, OpenAI(base_url=f"{address}/v1", api_key="none-is-set") as client:
        completion = client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": QUESTION}])
        ours = (completion.model_extra or {})["citebound"]
        pages: list[str] = [cited["url"] for cited in ours["citations"]]
        for page, cited in zip(pages, ours["citations"], strict=True):
            assert cited["quote"] in httpx.get(page, timeout=PATIENCE_S).json()["block"]["text"]
    assert pages
    assert all(page in (completion.choices[0].message.content or "") for page in pages)
