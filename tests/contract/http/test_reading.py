"""Snapshots, documents, blocks and tools, read as a program and as a person."""

from html.parser import HTMLParser

import msgspec
import pytest

from api.retrieval.blocks import BlockView
from shared.embeddings.fake import FakeEmbedder
from shared.errors import UpstreamError
from shared.llm.scripted import ScriptedChat
from shared.types.snapshots import Snapshot, SnapshotDocument
from tests.contract.http.site import LEAVE, Site
from tests.factories import a_document

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
HOSTILE = a_document(
    "web/<b>evil</b>.html",
    "上文\n",
    '<script>alert(1)</script><img src=x onerror="alert(2)"> & {{ 7*7 }} </div></mark>\n',
    "下文\n",
    title='<script>alert("标题")</script>',
    table_header="<th>头</th>\n",
    flags=("injection_suspected",),
)


def url(block_id: str) -> str:
    return f"/api/blocks/{block_id.replace('#', '%23')}"


class Page(HTMLParser):
    """The elements and the visible text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.texts: list[str] = []
        self.attributes: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.update(name for name, _ in attrs)
        self.links += [value or "" for name, value in attrs if name == "href"]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_snapshots_are_listed_newest_first_and_another_may_be_made_active(site: Site) -> None:
    first, second = site.publish(), site.publish()
    with site.client() as client:
        listed = client.get("/api/snapshots").json()
        assert listed["active"] == second.snapshot_id
        assert [one["snapshot_id"] for one in listed["snapshots"]] == sorted(
            [first.snapshot_id, second.snapshot_id], reverse=True
        )
        moved = client.post(f"/api/snapshots/{first.snapshot_id}/activate")
        assert msgspec.json.decode(moved.content, type=Snapshot).snapshot_id == first.snapshot_id
        assert client.get("/api/snapshots").json()["active"] == first.snapshot_id


def test_a_snapshot_that_does_not_open_is_not_made_active(site: Site) -> None:
    broken, sound = site.publish(), site.publish()
    site.vectors.drop(broken.snapshot_id)
    with site.client() as client:
        reply = client.post(f"/api/snapshots/{broken.snapshot_id}/activate")
        assert (reply.status_code, reply.json()["code"]) == (503, "collection_unavailable")
        assert client.get("/api/snapshots").json()["active"] == sound.snapshot_id
        assert client.post("/api/snapshots/snap_unknown/activate").status_code == 404


def test_documents_are_those_of_the_active_snapshot_or_of_the_one_named(site: Site) -> None:
    old = site.publish()
    new = site.publish(LEAVE, a_document("policies/leave.md", "Managers approve leave.\n", lang="en"))
    with site.client() as client:
        listed = msgspec.json.decode(client.get("/api/documents").content, type=list[SnapshotDocument])
        assert {one.key for one in listed} == {"制度/请假.md", "policies/leave.md"}
        earlier = client.get("/api/documents", params={"snapshot_id": old.snapshot_id}).json()
        assert [one["key"] for one in earlier] == ["制度/请假.md"]
        doc_id = new.doc_id("policies/leave.md")
        assert client.get(f"/api/documents/{doc_id}").json()["title"] == "policies/leave.md"
        gone = client.get(f"/api/documents/{doc_id}", params={"snapshot_id": old.snapshot_id})
        assert (gone.status_code, gone.json()["ids"]) == (404, [doc_id])


def test_a_block_is_told_with_its_place_and_neighbours(site: Site) -> None:
    published = site.publish()
    first, second = published.blocks()
    with site.client() as client:
        view = msgspec.json.decode(client.get(url(first.block_id)).content, type=BlockView)
    assert (view.block, view.before, view.after) == (first, (), (second,))
    assert (view.document.title, view.section.path, view.in_active_snapshot) == ("请假管理制度", "年假", True)


def test_a_browser_gets_a_page_in_the_reader_s_language(site: Site) -> None:
    block = site.publish().blocks()[0]
    with site.client() as client:
        english = client.get(url(block.block_id), headers=BROWSER)
        chinese = client.get(url(block.block_id), headers={**BROWSER, "Accept-Language": "fr;q=0.9, zh-CN, en;q=0.1"})
        asked = client.get(url(block.block_id) + "?lang=zh", headers={**BROWSER, "Accept-Language": "en"})
    assert english.headers["content-type"] == "text/html; charset=utf-8"
    assert 'lang="en"' in english.text
    assert "Section" in Page(english.text).texts
    assert {"章节", "页码", "文件", "制度/请假.md"} <= set(Page(chinese.text).texts)
    assert asked.text == chinese.text
    assert block.text in Page(english.text).texts


def test_a_wrong_address_of_a_block_shows_a_browser_a_page_in_its_language_and_a_program_a_problem(site: Site) -> None:
    site.publish()
    for address in ("/api/blocks/h23batqj.v1%2399", "/api/blocks/nonsense"):
        with site.client() as client:
            page = client.get(address, headers={**BROWSER, "Accept-Language": "zh-CN"})
            told = client.get(address)
        assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
        assert any("没有找到" in text for text in Page(page.text).texts)
        assert (told.status_code, told.json()["code"]) == (404, "not_found")


def test_a_document_s_text_is_shown_and_never_run(site: Site) -> None:
    block = site.publish(HOSTILE).blocks()[1]
    with site.client() as client:
        reply = client.get(url(block.block_id), headers=BROWSER)
    page = Page(reply.text)
    assert not {"script", "img", "b", "th"} & set(page.tags)
    assert not {name for name in page.attributes if name.startswith("on")}
    assert "".join(page.texts).count(block.text) == 1
    assert all(link.startswith(("/api/blocks/", "?lang=")) for link in page.links)
    policy = reply.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "unsafe-inline" not in policy
    assert "'sha256-" in policy


def test_the_page_says_when_a_newer_version_is_active(site: Site) -> None:
    block = site.publish().blocks()[0]
    site.publish(a_document("制度/请假.md", "改了。\n", title="请假管理制度"))
    with site.client() as client:
        assert "is active: version 2" in client.get(url(block.block_id), headers=BROWSER).text
        assert "第 2 版" in client.get(url(block.block_id) + "?lang=zh", headers=BROWSER).text


def test_neighbours_link_to_their_own_pages(site: Site) -> None:
    published = site.publish()
    first, second = published.blocks()
    with site.client() as client:
        links = Page(client.get(url(first.block_id), headers=BROWSER).text).links
        assert f"{url(second.block_id)}?snapshot={published.snapshot_id}&lang=en" in links
        assert client.get(links[-1], headers=BROWSER).status_code == 200


def test_a_tool_answers_with_the_payload_that_a_model_would_read(site: Site) -> None:
    block = site.publish().blocks()[0]
    with site.client() as client:
        reply = client.post("/api/tools/search_blocks", json={"query": "年假几天"}).json()
        nothing = client.post("/api/tools/scan_term", json={"term": "火星"}).json()
        described = client.get("/api/tools").json()
    assert reply["seen"] == [one["block_id"] for one in reply["payload"]["blocks"]]
    assert block.text in [one["text"] for one in reply["payload"]["blocks"]]
    assert nothing["empty_reason"] == "no_match"
    assert {one["name"] for one in described} == {
        "list_documents",
        "get_outline",
        "search_blocks",
        "list_blocks",
        "scan_term",
    }


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("search_blocks", {}, (400, "invalid_argument")),
        ("search_blocks", {"query": "年假", "doc_ids": ["aaaaaaaa"]}, (404, "scope_not_found")),
        ("explode", {}, (404, "not_found")),
    ],
)
def test_a_tool_s_error_is_a_problem_with_its_own_code(
    site: Site, tool: str, arguments: dict[str, object], expected: tuple[int, str]
) -> None:
    site.publish()
    with site.client() as client:
        reply = client.post(f"/api/tools/{tool}", json=arguments)
    assert (reply.status_code, reply.json()["code"]) == expected
    assert reply.headers["content-type"] == "application/problem+json"
    if tool == "search_blocks":
        assert reply.json()["payload"]["error"]["code"] == expected[1]


def test_the_server_is_ready_on_an_empty_machine_and_says_what_is_missing(site: Site) -> None:
    with site.client() as client:
        reply = client.get("/readyz")
    assert reply.status_code == 200
    states = {name: part["state"] for name, part in reply.json()["parts"].items()}
    assert states == {
        "catalog": "ok",
        "broker": "ok",
        "embedder": "ok",
        "snapshot": "none",
        "chat_model": "none",
        "traces": "ok",
    }
    assert (reply.json()["runs"], reply.json()["traces_dropped"]) == (0, 0)


def test_whoever_brings_no_key_is_told_whether_the_server_is_ready_and_nothing_of_the_inside(site: Site) -> None:
    snapshot_id = site.publish().snapshot_id
    site.chat = ScriptedChat(model="internal.example/model-x")
    site.with_api(api_key="the-key-of-this-test")
    with site.client() as client:
        stranger = client.get("/readyz")
        wrong = client.get("/readyz", headers={"Authorization": "Bearer wrong"})
        owner = client.get("/readyz", headers={"Authorization": "Bearer the-key-of-this-test"}).json()
    parts = {name: {"state": "ok"} for name in ("catalog", "broker", "embedder", "snapshot", "chat_model", "traces")}
    assert stranger.json() == {"ready": True, "parts": parts}
    assert wrong.json() == stranger.json()
    assert (owner["parts"]["snapshot"]["detail"], owner["parts"]["chat_model"]["detail"], owner["runs"]) == (
        snapshot_id,
        "internal.example/model-x",
        0,
    )


def test_the_server_is_not_ready_when_no_search_can_succeed(site: Site) -> None:
    site.publish()
    site.embedder = FakeEmbedder(version="another-model")
    with site.client() as client:
        reply = client.get("/readyz")
        assert (reply.status_code, reply.json()["parts"]["snapshot"]["state"]) == (503, "failed")
        assert "another-model" in reply.json()["parts"]["snapshot"]["detail"]
        assert client.post("/api/tools/search_blocks", json={"query": "年假"}).status_code == 503


def test_the_server_is_not_ready_while_a_part_is_loading_or_broken(site: Site) -> None:
    site.publish()
    with site.client() as client:
        assert client.get("/readyz").json()["parts"]["snapshot"]["state"] == "ok"
        site.warmth.state = "loading"
        loading = client.get("/readyz")
        site.warmth.state = "ready"
        site.bell.broken = True
        broken = client.get("/readyz")
    assert (loading.status_code, loading.json()["parts"]["embedder"]["state"]) == (503, "loading")
    assert (broken.status_code, broken.json()["parts"]["broker"]["state"]) == (503, "failed")
    assert "can't be reached" in broken.json()["parts"]["broker"]["detail"]


def test_a_snapshot_that_can_not_be_opened_is_told_with_the_reason(site: Site) -> None:
    published = site.publish()
    site.vectors.drop(published.snapshot_id)
    with site.client() as client:
        part = client.get("/readyz").json()["parts"]["snapshot"]
        reply = client.post("/api/runs", json={"question": "年假？"})
    assert part["state"] == "failed"
    assert (reply.status_code, reply.json()["code"]) == (503, "collection_unavailable")


def test_a_provider_that_fails_a_tool_is_an_upstream_problem(site: Site) -> None:
    site.publish()
    site.embedder.faults.append(UpstreamError("provider_quota", "The embedding account is empty."))
    with site.client() as client:
        reply = client.post("/api/tools/search_blocks", json={"query": "年假"})
    assert (reply.status_code, reply.json()["code"]) == (502, "upstream_unavailable")


def test_the_api_describes_itself(site: Site) -> None:
    with site.client() as client:
        paths = client.get("/openapi/openapi.json").json()["paths"]
    assert {"/api/runs", "/api/imports", "/api/blocks/{block_id}", "/v1/chat/completions"} <= set(paths)
