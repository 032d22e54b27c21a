"""A document over HTTP: its sections, its blocks a few at a time, and the file that it was made of."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from litestar import Litestar
from litestar.testing import TestClient

from api.routes.documents import DocumentBlocks, DocumentOutline
from api.routes.original_file import attachment
from shared.blobs import Blobs
from shared.types.documents import Block
from tests.contract.http.leaking import a_key
from tests.contract.http.site import LEAVE, Site
from tests.contract.http.test_reading import BROWSER, Page
from tests.factories import Published, a_document, keep_originals

LONG = a_document(
    "长文/手册.md", sections={"一、总则": ["甲。\n", "乙。\n", "丙。\n"], "二、附则": ["丁。\n", "戊。\n"]}
)
HTML = a_document("网页/<b>年报\u202e 2025.html", "<script>alert('标题')</script>\n", title="年报")


def with_originals(site: Site, *documents: object) -> Published:
    published = site.publish(*documents)  # pyright: ignore[reportArgumentType]
    keep_originals(site.layout, published)
    return published


def read_on(client: TestClient[Litestar], path: str, *, limit: int) -> tuple[list[list[Block]], set[str]]:
    """Pages, and the snapshots they are from."""
    pages: list[list[Block]] = []
    snapshots: set[str] = set()
    query: dict[str, str | int] = {"limit": limit}
    while True:
        page = msgspec.json.decode(client.get(path, params=query).content, type=DocumentBlocks)
        pages.append(list(page.blocks))
        snapshots.add(page.snapshot_id)
        if page.next is None:
            return pages, snapshots
        query |= {"first": page.next, "snapshot_id": page.snapshot_id}


def test_an_outline_tells_the_sections_and_where_their_blocks_begin(site: Site) -> None:
    published = site.publish(LONG)
    doc_id = published.doc_id(LONG.key)
    with site.client() as client:
        outline = msgspec.json.decode(client.get(f"/api/documents/{doc_id}/outline").content, type=DocumentOutline)
        unknown = client.get("/api/documents/zzzzzzzz/outline")
    assert (outline.snapshot_id, outline.document) == (published.snapshot_id, published.documents[0])
    assert outline.sections == published.contents[0].sections
    assert [(one.path, one.own_blocks) for one in outline.sections] == [("一、总则", 3), ("二、附则", 2)]
    assert (unknown.status_code, unknown.json()["ids"]) == (404, ["zzzzzzzz"])


@pytest.mark.parametrize("limit", [1, 2, 5, 6])
def test_blocks_are_read_a_few_at_a_time_each_once_on_one_snapshot(site: Site, limit: int) -> None:
    published = site.publish(LONG)
    path = f"/api/documents/{published.doc_id(LONG.key)}/blocks"
    with site.client() as client:
        pages, snapshots = read_on(client, path, limit=limit)
        beyond = msgspec.json.decode(client.get(path, params={"first": 5}).content, type=DocumentBlocks)
        refused = [
            client.get(path, params=query).status_code for query in ({"first": -1}, {"limit": 0}, {"limit": 501})
        ]
    assert [block for page in pages for block in page] == published.blocks()
    assert {len(page) for page in pages[:-1]} <= {limit}
    assert snapshots == {published.snapshot_id}
    assert (beyond.blocks, beyond.next) == ((), None)
    assert refused == [400, 400, 400]


def test_an_original_is_the_very_file_and_no_browser_opens_it_in_place(site: Site) -> None:
    published = with_originals(site, HTML)
    with site.client() as client:
        reply = client.get(f"/api/documents/{published.doc_id(HTML.key)}/original")
    assert reply.content == published.contents[0].text.encode()
    assert reply.headers["content-type"] == "application/octet-stream"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in reply.headers["content-security-policy"]
    assert reply.headers.get_list("content-disposition") == [
        "attachment; filename=\"_b___ 2025.html\"; filename*=UTF-8''_b_%E5%B9%B4%E6%8A%A5%202025.html"
    ]


def test_the_original_of_every_version_that_is_kept_can_be_had(site: Site) -> None:
    first = with_originals(site, LEAVE)
    second = with_originals(site, a_document(LEAVE.key, "改了。\n"))
    path = f"/api/documents/{first.doc_id(LEAVE.key)}/original"
    old, new = (one.contents[0].text for one in (first, second))
    with site.client() as client:
        for query, expected in (
            ({}, new),
            ({"version": 1}, old),
            ({"version": 2}, new),
            ({"snapshot_id": first.snapshot_id}, old),
            ({"snapshot_id": first.snapshot_id, "version": 1}, old),
        ):
            assert client.get(path, params=query).text == expected
        for query in (
            {"version": 3},
            {"snapshot_id": first.snapshot_id, "version": 2},
            {"snapshot_id": "snap_unknown"},
        ):
            assert client.get(path, params=query).json()["code"] == "not_found"
        assert client.get(path, params={"version": 0}).status_code == 400


@pytest.mark.parametrize("harm", ["missing", "changed"])
def test_an_original_that_is_not_there_any_more_says_so(site: Site, harm: str) -> None:
    published = with_originals(site, LEAVE)
    doc_id = published.doc_id(LEAVE.key)
    sha256 = Blobs(site.layout.originals).put(published.contents[0].text.encode())
    place = Blobs(site.layout.originals).path(sha256)
    place.unlink() if harm == "missing" else place.write_text("别的内容。\n")
    with site.client() as client:
        reply = client.get(f"/api/documents/{doc_id}/original")
    assert (reply.status_code, reply.json()["code"], reply.json()["ids"]) == (404, "not_found", [f"{doc_id}.v1"])
    assert "Import the file again" in reply.json()["detail"]


def test_labels_that_were_tightened_hold_for_older_originals(site: Site) -> None:
    site.with_api(api_key="owner")
    open_once = with_originals(site, LEAVE)
    with_originals(site, msgspec.structs.replace(LEAVE, access=("board",)))
    path = f"/api/documents/{open_once.doc_id(LEAVE.key)}/original"
    board, other = a_key(site, "board", ("board",)), a_key(site, "other", ())
    with site.client() as client:
        for query in ({}, {"version": 1}, {"version": 2}, {"snapshot_id": open_once.snapshot_id}):
            status = {
                key: client.get(path, params=query, headers={"Authorization": f"Bearer {key}"}).status_code
                for key in (board, other)
            }
            assert status == {board: 200, other: 404}, query


@given(st.text(max_size=300))
def test_a_name_is_one_quoted_word_whatever_the_document_is_called(key: str) -> None:
    header = attachment(key, otherwise="k3f9a2qd")
    kind, plain, spelled = header.split("; ")[0], header.split('"')[1], header.rpartition("''")[2]
    assert header == f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{spelled}"
    assert kind == "attachment"
    assert header.isascii()
    assert header.isprintable()
    assert not set('/\\"%') & set(plain)
    assert 1 <= len(plain) <= 200
    assert plain not in (".", "..")


def test_the_page_of_the_library_is_narrowed_down_to_a_part_of_a_title_or_of_a_file_name(site: Site) -> None:
    published = site.publish(LEAVE, HTML)
    both = {f"/documents/{published.doc_id(one.key)}" for one in (LEAVE, HTML)}
    with site.client() as client:
        shown = [
            both & set(Page(client.get("/library", params={"q": q}, headers=BROWSER).text).links)
            for q in ("", "年报", "2025.HTML", "没有")
        ]
    html = {f"/documents/{published.doc_id(HTML.key)}"}
    assert shown == [both, html, html, set()]
