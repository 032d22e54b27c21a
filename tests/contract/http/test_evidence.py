"""A citation of the past opens the very block that was read, whatever became of the document since. As data and as a page."""

from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

import msgspec
import pytest
from litestar import Litestar
from litestar.testing import TestClient
from msgspec import structs

from api.retrieval.blocks import BlockView
from api.routes.block_page import place
from shared.catalog.db import open_database
from shared.types.runs import Answer, Citation, StoredQuote
from tests.contract.http.site import Site
from tests.contract.http.test_reading import BROWSER, Page, url
from tests.contract.http.test_snapshot_care import carried_out
from tests.factories import Published, a_document
from tests.promises import promise

TEXTS = [
    "第一条 员工出差住宿每晚三百元。\n",
    "第二条 市内交通实报实销。\n",
    "第三条 餐补每天一百元。\n",
    "第四条 十五日内报销。\n",
]
TRAVEL = a_document(
    "制度/差旅.md", title="差旅管理办法", source="财务制度", trust="official", page=4, sections={"费用标准": TEXTS}
)
OTHER = a_document("手册/泵.md", "启动前排气。\n", title="泵手册", source="设备")
QUESTION = "出差住宿每晚多少元？"

Becomes = Callable[[Site, Published, TestClient[Litestar]], None]


def nothing(site: Site, first: Published, client: TestClient[Litestar]) -> None: ...


def imported_again(site: Site, first: Published, client: TestClient[Litestar]) -> None:
    site.publish(structs.replace(TRAVEL, sections={"费用标准": ["全部废止。\n"]}), OTHER)


def relabelled(site: Site, first: Published, client: TestClient[Litestar]) -> None:
    """The source has another name, trust and tags now."""
    with closing(open_database(site.layout.catalog)) as db:
        db.conn.execute("update sources set label = '旧制度', trust = 'web' where label = '财务制度'")
    site.publish(structs.replace(TRAVEL, source="旧制度", trust="web"), OTHER)


def moved(site: Site, first: Published, client: TestClient[Litestar]) -> None:
    """The file has another name now: another document."""
    site.publish(structs.replace(TRAVEL, key="归档/差旅.md"), OTHER)


def taken_out(site: Site, first: Published, client: TestClient[Litestar]) -> None:
    site.publish(OTHER)


def switched_back(site: Site, first: Published, client: TestClient[Litestar]) -> None:
    older = site.publish(OTHER)
    site.publish(TRAVEL, OTHER)
    assert client.post(f"/api/snapshots/{older.snapshot_id}/activate").status_code == 200


def cited(client: TestClient[Litestar], text: str) -> Citation:
    answer = msgspec.json.decode(client.post("/api/runs", json={"question": QUESTION}).content, type=Answer)
    return next(one for one in answer.citations if text.strip() in one.quote)


def remove(site: Site, published: Published, client: TestClient[Litestar]) -> None:
    client.get("/api/documents")  # of the active one: the process lets go of the one before
    assert client.delete(f"/api/snapshots/{published.snapshot_id}").status_code == 202
    carried_out(site)


def facts(page: str) -> set[str]:
    return {text.strip() for text in Page(page).texts if text.strip()}


@promise("P6")
@pytest.mark.parametrize("becomes", [nothing, imported_again, relabelled, moved, taken_out, switched_back])
def test_a_citation_opens_what_was_read_with_its_surroundings_as_they_were(site: Site, becomes: Becomes) -> None:
    first = site.publish(TRAVEL, OTHER)
    site.with_the_real_agent()
    with site.client() as client:
        citation = cited(client, TEXTS[0])
        becomes(site, first, client)
        address, query = url(citation.block_id), {"snapshot": citation.snapshot_id}
        view = msgspec.json.decode(client.get(address, params=query).content, type=BlockView)
        pages = [client.get(address, params={**query, "lang": lang}, headers=BROWSER).text for lang in ("en", "zh")]
    blocks = first.blocks(TRAVEL.key)
    assert (view.block, view.before, view.after) == (blocks[0], (), tuple(blocks[1:3]))
    assert (view.block.page_first, view.block.span_start, view.block.span_end) == (4, 0, len(TEXTS[0]))
    assert (view.document, view.snapshot_id) == (first.documents[0], first.snapshot_id)
    assert (view.document.version, view.document.trust, view.section.path) == (1, "official", "费用标准")
    assert (citation.quote, citation.version) == (view.block.text, view.document.version)
    for page, trust, span in (
        (pages[0], "official", f"characters 1–{len(TEXTS[0])} of the text"),
        (pages[1], "官方", f"正文第 1–{len(TEXTS[0])} 个字符"),
    ):
        told = {"差旅管理办法", "财务制度", "制度/差旅.md", "费用标准", "4", "1", trust, span, first.snapshot_id}
        assert told <= facts(page)
        assert {text.strip() for text in TEXTS[:3]} <= facts(page)


@pytest.mark.parametrize(
    ("becomes", "current"), [(nothing, (True, 1)), (imported_again, (False, 2)), (taken_out, (False, None))]
)
def test_it_says_whether_that_is_still_what_is_active(
    site: Site, becomes: Becomes, current: tuple[bool, int | None]
) -> None:
    first = site.publish(TRAVEL, OTHER)
    with site.client() as client:
        becomes(site, first, client)
        address = url(first.blocks(TRAVEL.key)[0].block_id)
        view = msgspec.json.decode(client.get(address).content, type=BlockView)
        page = client.get(address, headers=BROWSER).text
    assert (view.in_active_snapshot, view.active_version) == current
    assert ("is active: version 2" in page, "not in the active snapshot" in page) == (
        current == (False, 2),
        current == (False, None),
    )


def test_a_block_in_the_middle_has_two_before_and_two_after(site: Site) -> None:
    blocks = site.publish(TRAVEL).blocks()
    with site.client() as client:
        view = msgspec.json.decode(client.get(url(blocks[2].block_id)).content, type=BlockView)
    assert (view.before, view.after) == (tuple(blocks[:2]), (blocks[3],))


def test_when_its_snapshot_is_gone_another_that_holds_the_version_shows_it(site: Site) -> None:
    first = site.publish(TRAVEL, OTHER)
    site.with_the_real_agent()
    with site.client() as client:
        citation = cited(client, TEXTS[0])
        with closing(open_database(site.layout.catalog)) as db:  # unchanged documents are shared by snapshots
            second = site.publish(OTHER)
            db.conn.execute(
                "insert into snapshot_documents select ?, doc_id, version, title, source_id, source_label, key, aliases, lang, trust,"
                " access, tags, media_type, updated_at_ms, sections, blocks, tokens, artifact_sha256 from snapshot_documents"
                " where snapshot_id = ? and doc_id = ?",
                [second.snapshot_id, first.snapshot_id, citation.doc_id],
            )
        remove(site, first, client)
        reply = client.get(url(citation.block_id), params={"snapshot": citation.snapshot_id})
    view = msgspec.json.decode(reply.content, type=BlockView)
    assert (view.block.text, view.snapshot_id, view.source) == (citation.quote, second.snapshot_id, "snapshot")


def test_when_every_snapshot_that_held_it_is_gone_the_answer_s_quote_is_left_with_its_place(site: Site) -> None:
    first = site.publish(TRAVEL, OTHER)
    site.with_the_real_agent()
    with site.client() as client:
        citation = cited(client, TEXTS[0])
        imported_again(site, first, client)
        remove(site, first, client)
        query: Mapping[str, Any] = {"snapshot": citation.snapshot_id}
        reply = client.get(url(citation.block_id), params=query)
        page = client.get(url(citation.block_id), params={**query, "lang": "zh"}, headers=BROWSER).text
    quote = msgspec.json.decode(reply.content, type=StoredQuote)
    shared = (
        "block_id",
        "doc_id",
        "version",
        "snapshot_id",
        "title",
        "source_label",
        "section_path",
        "page_first",
        "page_last",
    )
    for name in (*shared, "span_start", "span_end", "trust", "quote"):
        assert getattr(quote, name) == getattr(citation, name), name
    assert quote.active_version == 2
    place_told = place(citation.span_start, citation.span_end, lang="zh")
    assert {"差旅管理办法", "财务制度", "费用标准", "官方", place_told, citation.quote.strip()} <= facts(page)
