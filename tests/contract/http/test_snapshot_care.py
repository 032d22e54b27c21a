"""Snapshots over HTTP: kept, compared, verified, removed; and what is left of a citation when its snapshot is gone."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import httpx
import msgspec
import pytest
from litestar import Litestar
from litestar.testing import TestClient
from msgspec import structs

from api.stored_quotes import stored_quote
from shared.access import OWNER, Access
from shared.catalog.db import open_database
from shared.catalog.imports import create_import
from shared.catalog.retention import finish_removal, forget_members, removing, set_frozen
from shared.errors import NotFound
from shared.ids import BlockId, KeyId, SnapshotId
from shared.types.imports import ImportRequest
from shared.types.runs import RunRecord, StoredQuote
from shared.types.snapshots import Snapshot, SnapshotDiff, Verification
from tests.contract.http.site import LEAVE, Held, Site, until
from tests.contract.http.test_reading import BROWSER, Page, url
from tests.contract.http.test_runs import STREAM
from tests.factories import Published, a_document
from tests.patience import PATIENCE_S
from tests.promises import promise
from tests.unit.telemetry.factories import A_CITATION, a_record

TRAVEL = a_document("制度/差旅.md", "出差住宿每晚三百元。\n", title="差旅管理办法", source="财务", access=("finance",))
MANUAL = a_document("manual.md", "Vent the pump before start.\n", title="Pump manual", source="Manuals", lang="en")


def carried_out(site: Site) -> None:
    """What the worker does after a removal was decided."""
    with closing(open_database(site.layout.catalog)) as db:
        for snapshot_id in removing(db):
            site.vectors.drop(snapshot_id)
            while forget_members(db, snapshot_id, now_ms=site.now_ms()):
                pass
            finish_removal(db, snapshot_id)


def test_a_snapshot_that_nothing_holds_is_removed_and_afterwards_unknown_with_the_day_it_went(site: Site) -> None:
    first, second = site.publish(), site.publish(MANUAL)
    with site.client() as client:
        gone = client.delete(f"/api/snapshots/{first.snapshot_id}")
        assert (gone.status_code, gone.json()) == (202, {"snapshot_id": first.snapshot_id, "state": "removing"})
        for reply in (
            client.get(f"/api/snapshots/{first.snapshot_id}"),
            client.delete(f"/api/snapshots/{first.snapshot_id}"),
            client.post(f"/api/snapshots/{first.snapshot_id}/activate"),
            client.post(f"/api/snapshots/{first.snapshot_id}/verify"),
            client.post(f"/api/snapshots/{first.snapshot_id}/pin"),
            client.get(f"/api/snapshots/{first.snapshot_id}/diff/{second.snapshot_id}"),
            client.get("/api/documents", params={"snapshot_id": first.snapshot_id}),
            client.post("/api/runs", json={"question": "年假？", "snapshot_id": first.snapshot_id}),
        ):
            assert (reply.status_code, reply.json()["code"]) == (404, "not_found"), reply.url
            assert "removed" in reply.json()["detail"]
        assert [one["snapshot_id"] for one in client.get("/api/snapshots").json()["snapshots"]] == [second.snapshot_id]
    carried_out(site)
    with site.client() as client:
        assert "removed" in client.get(f"/api/snapshots/{first.snapshot_id}").json()["detail"]
        assert client.get("/api/snapshots/snap_unknown").json()["ids"] == ["snap_unknown"]


def frozen(site: Site, _client: TestClient[Litestar], snapshot_id: SnapshotId) -> None:
    with closing(open_database(site.layout.catalog)) as db:
        set_frozen(db, snapshot_id, frozen=True)


def pinned(_site: Site, client: TestClient[Litestar], snapshot_id: SnapshotId) -> None:
    assert msgspec.json.decode(client.post(f"/api/snapshots/{snapshot_id}/pin").content, type=Snapshot).pinned


def active(_site: Site, client: TestClient[Litestar], snapshot_id: SnapshotId) -> None:
    assert client.post(f"/api/snapshots/{snapshot_id}/activate").status_code == 200


def import_base(site: Site, _client: TestClient[Litestar], snapshot_id: SnapshotId) -> None:
    with closing(open_database(site.layout.catalog)) as db:
        import_id = create_import(db, ImportRequest(paths=("/资料",)), now_ms=1)
        db.conn.execute("update imports set base_snapshot_id = ? where import_id = ?", [snapshot_id, import_id])


HOLDS: dict[str, Callable[[Site, TestClient[Litestar], SnapshotId], None]] = {
    "frozen": frozen,
    "pinned": pinned,
    "active": active,
    "import_base": import_base,
}


@pytest.mark.parametrize("hold", HOLDS)
def test_a_held_snapshot_is_not_removed_and_the_reply_says_what_holds_it(site: Site, hold: str) -> None:
    first, _ = site.publish(), site.publish(MANUAL)
    with site.client() as client:
        HOLDS[hold](site, client, first.snapshot_id)
        reply = client.delete(f"/api/snapshots/{first.snapshot_id}")
        assert (reply.status_code, reply.json()["code"]) == (409, "conflict")
        assert reply.json()["ids"] == [first.snapshot_id, hold]
        assert client.get(f"/api/snapshots/{first.snapshot_id}").status_code == 200


def test_a_snapshot_that_a_run_reads_can_be_removed_when_the_run_is_over(site: Site) -> None:
    first = site.publish()
    site.work = Held()
    with site.live() as address:
        snapshot = f"{address}/api/snapshots/{first.snapshot_id}"
        with httpx.stream(
            "POST", f"{address}/api/runs", json={"question": "?"}, headers=STREAM, timeout=PATIENCE_S
        ) as reply:
            lines = reply.iter_lines()  # one that is let go closes the connection, which ends the run
            next(lines)
            site.publish(MANUAL)
            refused = httpx.delete(snapshot, timeout=PATIENCE_S)
            assert (refused.status_code, refused.json()["ids"]) == (409, [first.snapshot_id, "in_use"])
        assert httpx.get(f"{address}/api/documents", timeout=PATIENCE_S).status_code == 200
        until(lambda: httpx.delete(snapshot, timeout=PATIENCE_S).status_code == 202)


def test_a_snapshot_that_was_read_and_then_superseded_can_be_removed_at_once(site: Site) -> None:
    first = site.publish()
    with site.client() as client:
        assert client.get("/api/documents").status_code == 200
        site.publish(MANUAL)  # and nobody asks for anything in between
        assert client.delete(f"/api/snapshots/{first.snapshot_id}").status_code == 202


def test_a_pin_is_taken_away_again_and_only_what_was_published_takes_one(site: Site) -> None:
    first, _ = site.publish(), site.publish(MANUAL)
    with site.client() as client:
        address = f"/api/snapshots/{first.snapshot_id}"
        assert [client.post(f"{address}/{verb}").json()["pinned"] for verb in ("pin", "pin", "unpin")] == [
            True,
            True,
            False,
        ]
        assert client.delete(address).status_code == 202
        with closing(open_database(site.layout.catalog)) as db:
            db.conn.execute("update snapshots set state = 'failed' where state = 'ready'")
        (failed,) = client.get("/api/snapshots").json()["snapshots"]
        assert client.post(f"/api/snapshots/{failed['snapshot_id']}/pin").status_code == 409


def test_a_difference_names_each_document_once_under_what_became_of_it(site: Site) -> None:
    relabelled = a_document("标签.md", "换了标签。\n", source="资料")
    before = site.publish(LEAVE, relabelled, MANUAL)
    changed = structs.replace(LEAVE, sections={"年假": ["员工工作满一年享有十天年假。\n"]})
    after = site.publish(changed, TRAVEL)
    with closing(open_database(site.layout.catalog)) as db:  # as an import carries a document over under new labels
        db.conn.execute(
            "insert into snapshot_documents select ?, doc_id, version, title, source_id, source_label, key, aliases, lang, trust,"
            " '[\"hr\"]', tags, media_type, updated_at_ms, sections, blocks, tokens, artifact_sha256"
            " from snapshot_documents where key = '标签.md'",
            [after.snapshot_id],
        )
    with site.client() as client:
        reply = client.get(f"/api/snapshots/{before.snapshot_id}/diff/{after.snapshot_id}")
        back = client.get(f"/api/snapshots/{after.snapshot_id}/diff/{before.snapshot_id}")
        same = client.get(f"/api/snapshots/{before.snapshot_id}/diff/{before.snapshot_id}").json()
    found = msgspec.json.decode(reply.content, type=SnapshotDiff)
    assert [one.key for one in found.added] == [TRAVEL.key]
    assert [one.key for one in found.removed] == [MANUAL.key]
    assert [(one.before.version, one.after.version) for one in found.changed] == [(1, 2)]
    assert [(one.before.access, one.after.access) for one in found.relabelled] == [((), ("hr",))]
    assert (found.unchanged, found.counts_before.documents, found.counts_after.documents) == (0, 3, 3)
    turned = msgspec.json.decode(back.content, type=SnapshotDiff)
    assert (turned.added, turned.removed) == (found.removed, found.added)
    assert (same["unchanged"], same["changed"], same["relabelled"]) == (3, [], [])


def test_verifying_tells_each_check_and_what_was_found_is_not_forgotten(site: Site) -> None:
    published = site.publish()
    with site.client() as client:
        address = f"/api/snapshots/{published.snapshot_id}/verify"
        sound = msgspec.json.decode(client.post(address).content, type=Verification)
        with closing(open_database(site.layout.catalog)) as db:
            db.conn.execute("update blocks set page_first = 9 where block_index = 1")
        broken = msgspec.json.decode(client.post(address).content, type=Verification)
        run = client.post("/api/runs", json={"question": "年假？"})
    assert (sound.sound, broken.sound) == (True, False)
    assert {check.name for check in broken.checks if check.state == "broken"} == {"contents"}
    assert (run.status_code, run.json()["code"]) == (503, "collection_unavailable")


# citations into what is gone


def cite(site: Site, published: Published, key: str, **more: Any) -> RunRecord:
    """A run that quotes the first block of a document is kept."""
    block = published.blocks(key)[0]
    document = next(one for one in published.documents if one.key == key)
    citation = structs.replace(
        A_CITATION,
        block_id=block.block_id,
        doc_id=block.doc_id,
        version=block.version,
        snapshot_id=published.snapshot_id,
        title=document.title,
        source_label=document.source_label,
        quote=more.pop("quote", block.text),
    )
    asker = more.pop("asker", None)
    record = a_record(**more)
    record = structs.replace(record, asker=asker, answer=structs.replace(record.answer, citations=(citation,)))
    site.telemetry.keep(record)
    assert site.telemetry.flush(timeout_s=PATIENCE_S)
    return record


def removed(site: Site, published: Published) -> None:
    with site.client() as client:
        assert client.delete(f"/api/snapshots/{published.snapshot_id}").status_code == 202
    carried_out(site)


@promise("P6")
def test_a_citation_into_a_removed_snapshot_still_shows_its_quote_and_says_that_the_snapshot_is_gone(
    site: Site,
) -> None:
    first = site.publish()
    record = cite(site, first, LEAVE.key)
    (citation,) = record.answer.citations
    site.publish(structs.replace(LEAVE, sections={"年假": ["十天年假。\n"]}))
    with site.client() as client:
        assert client.get(url(citation.block_id)).json()["source"] == "snapshot"
    removed(site, first)
    site.telemetry.close()
    site.reopen_telemetry()  # what is on the disk has to do
    with site.client() as client:
        quote = msgspec.json.decode(client.get(url(citation.block_id)).content, type=StoredQuote)
        page = client.get(url(citation.block_id), headers=BROWSER)
        chinese = client.get(url(citation.block_id) + "?lang=zh", headers=BROWSER)
    assert (quote.source, quote.quote, quote.snapshot_id, quote.run_id) == (
        "stored_quote",
        citation.quote,
        first.snapshot_id,
        record.answer.run_id,
    )
    assert quote.snapshot_removed_at_ms is not None
    assert quote.active_version == 2
    assert citation.quote in Page(page.text).texts
    assert "is gone" in page.text
    assert "原来的快照已不存在" in chinese.text
    assert "default-src 'none'" in page.headers["content-security-policy"]


def test_what_nobody_ever_cited_is_unknown(site: Site) -> None:
    first = site.publish()
    cited, other = first.blocks()
    cite(site, first, LEAVE.key)
    site.publish(MANUAL)
    removed(site, first)
    with site.client() as client:
        assert client.get(url(cited.block_id)).status_code == 200
        for wanted in (other.block_id, "zzzzzzzz.v1#0"):
            reply = client.get(url(wanted))
            assert (reply.status_code, reply.json()["code"], reply.json()["ids"]) == (404, "not_found", [wanted])


def test_the_longest_of_several_quotes_is_shown(site: Site) -> None:
    first = site.publish()
    block = first.blocks()[0]
    cite(site, first, LEAVE.key, run_id="run_1", quote=block.text)
    cite(site, first, LEAVE.key, run_id="run_2", quote=block.text[:5])
    site.publish(MANUAL)
    removed(site, first)
    with site.client() as client:
        assert client.get(url(block.block_id)).json()["quote"] == block.text


def test_a_quote_is_shown_as_text_and_never_run(site: Site) -> None:
    first = site.publish()
    cite(site, first, LEAVE.key, quote="<script>alert(1)</script> & {{ 7*7 }}")
    site.publish(MANUAL)
    removed(site, first)
    with site.client() as client:
        page = Page(client.get(url(first.blocks()[0].block_id), headers=BROWSER).text)
    assert "script" not in page.tags
    assert "<script>alert(1)</script> & {{ 7*7 }}" in "".join(page.texts)


def quote_for(site: Site, block_id: BlockId, access: Access) -> StoredQuote | None:
    async def look() -> StoredQuote | None:
        library = site.library()
        try:
            return await stored_quote(library, site.telemetry, block_id, access)
        except NotFound:
            return None
        finally:
            await library.close()

    return asyncio.run(look())


def may_see(site: Site, block_id: BlockId, labels: frozenset[str] | None) -> bool:
    return quote_for(site, block_id, Access(labels=labels)) is not None


FINANCE, HR = frozenset({"finance"}), frozenset({"hr"})


def test_a_quote_is_for_those_who_could_have_made_the_run_and_read_the_document(site: Site) -> None:
    first = site.publish(TRAVEL)
    block = first.blocks()[0].block_id
    cite(site, first, TRAVEL.key, access=("finance",))
    site.publish(MANUAL)
    removed(site, first)
    assert [may_see(site, block, labels) for labels in (None, FINANCE, FINANCE | HR, HR, frozenset[str]())] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_a_quote_names_its_run_to_whoever_asked_and_to_admins_only(site: Site) -> None:
    first = site.publish(TRAVEL)
    block = first.blocks()[0].block_id
    asker = Access(labels=FINANCE, key_id=KeyId("key_aaaaaaaa"))
    record = cite(site, first, TRAVEL.key, access=("finance",), asker=asker.key_id)
    site.publish(MANUAL)
    removed(site, first)
    told = [quote_for(site, block, one) for one in (asker, OWNER, structs.replace(asker, key_id=KeyId("key_bbbbbbbb")))]
    named = (record.answer.run_id, record.answer.started_at_ms)
    assert [one and (one.run_id, one.cited_at_ms) for one in told] == [named, named, (None, None)]


def test_a_run_of_the_owner_opens_its_quotes_to_nobody_else(site: Site) -> None:
    first = site.publish(TRAVEL)
    cite(site, first, TRAVEL.key, access=None)
    site.publish(MANUAL)
    removed(site, first)
    assert not may_see(site, first.blocks()[0].block_id, FINANCE)


@pytest.mark.parametrize("first_to_go", [0, 1])
def test_a_quote_goes_by_the_labels_known_last_whichever_snapshot_went_last(site: Site, first_to_go: int) -> None:
    is_open = structs.replace(TRAVEL, access=())
    published = [site.publish(is_open), site.publish(structs.replace(TRAVEL, access=("board",)))]
    site.publish(MANUAL)
    for one in published:
        cite(site, one, TRAVEL.key, run_id=f"run_of_{one.snapshot_id}", access=("finance",))
    for one in (published[first_to_go], published[1 - first_to_go]):
        removed(site, one)
    for one in published:
        block = one.blocks()[0].block_id
        assert [may_see(site, block, labels) for labels in (FINANCE, FINANCE | {"board"})] == [False, True]


def test_labels_tightened_since_hold_for_quotes_too(site: Site) -> None:
    first = site.publish(TRAVEL)
    cite(site, first, TRAVEL.key, access=("finance",))
    site.publish(structs.replace(TRAVEL, access=("board",), sections={"/": ["五百元。\n"]}))
    removed(site, first)
    assert not may_see(site, first.blocks()[0].block_id, FINANCE)
    assert may_see(site, first.blocks()[0].block_id, FINANCE | {"board"})


def test_a_block_that_is_there_but_hidden_gives_nothing_away_through_a_quote(site: Site) -> None:
    first = site.publish(TRAVEL)
    cite(site, first, TRAVEL.key, access=("finance",))
    assert not may_see(site, first.blocks()[0].block_id, HR)
    assert not may_see(site, first.blocks()[0].block_id, FINANCE)  # it opens as a block


TRACES_OF_VERSION_1 = ("spans", "runs", "artifacts", "losses", "counters")


def test_quotes_of_runs_that_were_kept_before_are_found_after_an_update(site: Site) -> None:
    first = site.publish()
    record = cite(site, first, LEAVE.key)
    site.telemetry.close()
    with closing(sqlite3.connect(site.layout.traces)) as traces, traces:
        later = "select name from sqlite_master where type = 'table' and name not in" + str(TRACES_OF_VERSION_1)
        for (table,) in traces.execute(later).fetchall():
            traces.execute(f"drop table {table}")
        for index in ("runs_conversation", "runs_asker"):
            traces.execute(f"drop index {index}")
        for column in ("asker", "conversation_id"):
            traces.execute(f"alter table runs drop column {column}")
        traces.execute("pragma user_version = 1")
    site.reopen_telemetry()
    found = site.telemetry.store.citing(record.answer.citations[0].block_id, OWNER, limit=9)
    assert found == [record]
