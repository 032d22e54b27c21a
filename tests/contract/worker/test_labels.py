"""What an import says of its source, from there to the tools; kept by later imports, changed without embedding again."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec
import pytest

from api.retrieval.library import Library, Pinned
from api.tools.registry import Toolbox
from shared.access import OWNER, Access
from shared.blobs import Blobs
from shared.catalog.documents import get_version
from shared.catalog.snapshots import snapshot_documents
from shared.ids import DocId
from shared.types.imports import ImportMode, ImportRequest, SourceSpec, Upload
from shared.types.runs import Scope
from shared.types.snapshots import SnapshotDocument
from tests.contract.worker.workshop import Workshop

T = TypeVar("T")
ZH = "# 年假\n员工工作满一年享有五天年假。"
SAID = SourceSpec(
    label="人事手册",
    aliases=("HR", "人力资源"),
    trust="official",
    access=("staff",),
    lang_hint="ja",
    tags=("制度", "leave"),
)
STAFF, GUEST = Access(labels=frozenset({"staff"})), Access(labels=frozenset({"guest"}))


def documents(shop: Workshop) -> list[SnapshotDocument]:
    return snapshot_documents(shop.db, shop.active().snapshot_id)


def labels(document: SnapshotDocument) -> tuple[object, ...]:
    return (
        document.source_label,
        document.aliases,
        document.trust,
        document.access,
        document.lang,
        document.tags,
    )


EVERY = ("人事手册", ("HR", "人力资源"), "official", ("staff",), "ja", ("制度", "leave"))


def by_path(shop: Workshop, spec: SourceSpec | None = None, mode: ImportMode = "add") -> ImportRequest:
    return ImportRequest(mode=mode, paths=(str(shop.files),), source=spec or SourceSpec())


def by_upload(shop: Workshop, spec: SourceSpec) -> ImportRequest:
    sha256 = Blobs(shop.parts.layout.originals).put(ZH.encode())
    return ImportRequest(uploads=(Upload(name="请假.md", sha256=sha256, size_bytes=len(ZH.encode())),), source=spec)


def read(shop: Workshop, use: Callable[[Pinned], Awaitable[T]], *, access: Access = OWNER) -> T:
    async def scenario() -> T:
        library = Library(layout=shop.parts.layout, vectors=shop.vectors, embedder=shop.embedder)
        try:
            async with await library.pin(None, access) as pinned:
                return await use(pinned)
        finally:
            await library.close()

    return asyncio.run(scenario())


def call(shop: Workshop, tool: str, *, access: Access = OWNER, **arguments: object) -> dict[str, Any]:
    async def ask(pinned: Pinned) -> dict[str, Any]:
        return msgspec.json.decode((await Toolbox(pinned).call(tool, arguments)).payload)

    return read(shop, ask, access=access)


@pytest.mark.parametrize("way", ["path", "upload"])
def test_everything_that_is_said_of_a_source_arrives_in_the_snapshot(shop: Workshop, way: str) -> None:
    shop.write(请假=ZH)
    shop.run(by_path(shop, SAID) if way == "path" else by_upload(shop, SAID))
    assert [labels(document) for document in documents(shop)] == [EVERY]


def test_the_tools_tell_what_the_contract_says_they_tell(shop: Workshop) -> None:
    shop.write(请假=ZH)
    shop.run(by_path(shop, SAID))
    (listed,) = call(shop, "list_documents")["documents"]
    told = ("source_label", "aliases", "lang", "trust")
    assert [listed[name] for name in told] == ["人事手册", ["HR", "人力资源"], "ja", "official"]
    for source in ("人事手册", "hr", "人力资源"):
        assert call(shop, "list_documents", source=source)["total"] == 1
    assert call(shop, "list_documents", lang="ja")["total"] == 1
    (outline,) = call(shop, "get_outline", doc_ids=[listed["doc_id"]])["documents"]
    found = call(shop, "search_blocks", query="年假几天")["blocks"][0]
    scanned = call(shop, "scan_term", term="五天年假")["blocks"][0]
    for shown in (outline, found, scanned):
        assert (shown["source_label"], shown["trust"]) == ("人事手册", "official")
    for scope in (Scope(tags=("leave",)), Scope(sources=("HR",))):
        assert read(shop, lambda pinned, scope=scope: pinned.resolve_scope(scope)) == {DocId(listed["doc_id"])}


def test_whoever_has_not_the_label_finds_nothing_by_any_tool(shop: Workshop) -> None:
    shop.write(请假=ZH)
    shop.run(by_path(shop, SAID))
    doc_id = documents(shop)[0].doc_id
    assert call(shop, "search_blocks", access=STAFF, query="年假几天")["blocks"]
    assert call(shop, "list_documents", access=GUEST)["total"] == 0
    assert call(shop, "search_blocks", access=GUEST, query="年假几天")["empty_reason"]
    assert call(shop, "scan_term", access=GUEST, term="年假")["empty_reason"]
    assert call(shop, "list_blocks", access=GUEST, doc_id=doc_id)["error"]["code"] == "scope_not_found"


@pytest.mark.parametrize("way", ["path", "upload"])
def test_labels_that_an_import_does_not_mention_stay(shop: Workshop, way: str) -> None:
    shop.write(请假=ZH)
    if way == "upload":
        shop.run(by_upload(shop, SAID))
        again = by_upload(shop, SourceSpec(label="人事手册"))  # an upload is found by its source's name
    else:
        shop.run(by_path(shop, SAID))
        again = by_path(shop)
    first = shop.active().snapshot_id
    assert shop.run(again).snapshot_id == first
    shop.write(请假=ZH, 加班="# 加班\n加班须经批准。")
    for request in (
        by_path(shop),
        by_path(shop, mode="sync"),
        ImportRequest(paths=(str(shop.files / "加班.md"),)),
        ImportRequest(mode="reindex"),
    ):
        shop.run(request)
        kept = [labels(one) for one in documents(shop) if one.source_label == "人事手册"]
        assert kept == [EVERY] * len(kept) != []


@pytest.mark.parametrize(
    "change",
    [
        SourceSpec(label="员工手册"),
        SourceSpec(aliases=("规章",)),
        SourceSpec(trust="third_party"),
        SourceSpec(access=("board",)),
        SourceSpec(access=()),
        SourceSpec(tags=("旧",)),
    ],
)
def test_changed_labels_make_a_new_snapshot_of_the_same_versions_and_cost_nothing(
    shop: Workshop, change: SourceSpec
) -> None:
    shop.write(请假=ZH, 加班="# 加班\n加班须经批准。")
    shop.run(by_path(shop, SAID))
    first, before = shop.active().snapshot_id, documents(shop)
    bought, parsed = list(shop.bought()), list(shop.parser.parsed)
    shop.run(by_path(shop, change))
    after = documents(shop)
    assert shop.active().snapshot_id != first
    assert [(one.doc_id, one.version) for one in after] == [(one.doc_id, one.version) for one in before]
    assert all(labels(one) != EVERY for one in after)
    assert (shop.bought(), shop.parser.parsed) == (bought, parsed)
    reader = Access(labels=frozenset(after[0].access))
    assert call(shop, "search_blocks", access=reader, query="年假几天")["blocks"]
    if change.access == ("board",):
        assert call(shop, "search_blocks", access=STAFF, query="年假几天")["empty_reason"]


def test_another_language_hint_makes_a_new_version_and_buys_no_vector_twice(shop: Workshop) -> None:
    shop.write(请假=ZH)
    shop.run(by_path(shop))
    bought = list(shop.bought())
    shop.run(by_path(shop, SourceSpec(lang_hint="ja")))
    (document,) = documents(shop)
    assert (document.version, document.lang) == (2, "ja")
    assert get_version(shop.db, document.doc_id, 2).lang == "ja"
    assert shop.bought() == bought
    shop.run(by_path(shop))
    assert documents(shop) == [document]


def test_a_gap_follows_its_source_to_another_name_and_goes_when_it_is_filled(shop: Workshop) -> None:
    shop.write(请假=ZH, 坏的="#!broken")
    shop.run(by_path(shop, SourceSpec(label="旧名")))
    assert [gap.source_label for gap in shop.active().failed_documents] == ["旧名"]
    shop.write(坏的="# 好了\n现在可以读。")
    shop.run(by_path(shop, SourceSpec(label="新名")))
    assert shop.active().failed_documents == ()
    assert {one.source_label for one in documents(shop)} == {"新名"}
