"""A document the caller may not see does not exist for him: no title, count, snippet or difference in an error gives it away."""

from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from api.retrieval.library import Library, Pinned
from api.tools.registry import Toolbox, ToolResult
from shared.access import Access
from shared.catalog.db import open_database
from shared.catalog.snapshots import activate
from shared.errors import NotFound, ScopeNotFound
from shared.ids import DocId
from shared.types.runs import Scope
from tests.contract.tools.corpus import CORPUS, EXPENSES, LEAVE, SECRET
from tests.contract.tools.world import World
from tests.factories import NOW_MS, ADocument, Published, a_document

STAFF = Access(labels=frozenset({"staff"}))
BOARD = Access(labels=frozenset({"staff", "board"}))

ON_A_DOCUMENT: dict[str, Callable[[str], dict[str, Any]]] = {
    "get_outline": lambda doc_id: {"doc_ids": [doc_id]},
    "search_blocks": lambda doc_id: {"query": "海燕", "doc_ids": [doc_id]},
    "list_blocks": lambda doc_id: {"doc_id": doc_id},
    "scan_term": lambda doc_id: {"term": "海燕", "doc_ids": [doc_id]},
}


@pytest.mark.parametrize("tool", ON_A_DOCUMENT)
def test_a_forbidden_document_and_a_wrong_id_get_the_same_answer(world: World, tool: str) -> None:
    doc_id = world.publish(*CORPUS).doc_id(SECRET.key)

    forbidden = world.call(tool, ON_A_DOCUMENT[tool](doc_id), access=STAFF)
    unknown = world.call(tool, ON_A_DOCUMENT[tool]("zzzzzzzz"), access=STAFF)

    assert forbidden.error["code"] == "scope_not_found"
    assert forbidden.result.payload == unknown.result.payload.replace(b"zzzzzzzz", doc_id.encode())
    assert world.call(tool, ON_A_DOCUMENT[tool](doc_id), access=BOARD).result.error_code is None


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("list_documents", {}),
        ("list_documents", {"source": "board"}),
        ("list_documents", {"title_contains": "海燕"}),
        ("search_blocks", {"query": "海燕项目的报价是九亿元吗"}),
        ("scan_term", {"term": "海燕"}),
        ("scan_term", {"term": "年假"}),
    ],
)
def test_results_are_those_of_a_library_without_the_forbidden_document(
    world: World, tool: str, arguments: dict[str, Any]
) -> None:
    world.publish(*CORPUS)
    with_secret = world.call(tool, arguments, access=STAFF)
    world.publish(LEAVE, EXPENSES, now_ms=NOW_MS + 1)
    without = world.call(tool, arguments, access=STAFF)

    assert with_secret.result.payload.replace(b".v1#", b".v2#").replace(b'"version":1', b'"version":2') == (
        without.result.payload
    )
    assert "海燕" not in with_secret.result.payload.decode().replace('"term":"海燕"', "")


@pytest.mark.parametrize(
    "scope",
    [Scope(sources=("董事会",)), Scope(sources=("Board",)), Scope(tags=("机密",)), Scope(doc_ids=(DocId("SECRET"),))],
)
def test_a_forbidden_source_tag_or_document_is_no_scope(world: World, scope: Scope) -> None:
    published = world.publish(*CORPUS)
    if scope.doc_ids:
        scope = Scope(doc_ids=(published.doc_id(SECRET.key),))

    with pytest.raises(ScopeNotFound) as caught:
        world.pinned(lambda pinned: pinned.resolve_scope(scope), access=STAFF)

    assert caught.value.ids == (scope.sources or scope.tags or scope.doc_ids)
    assert world.pinned(lambda pinned: pinned.resolve_scope(scope), access=BOARD) == {published.doc_id(SECRET.key)}


def test_a_forbidden_block_has_no_page(world: World) -> None:
    [block] = world.publish(*CORPUS).blocks(SECRET.key)

    for wanted in (block.block_id, "zzzzzzzz.v1#0"):
        with pytest.raises(NotFound) as caught:
            world.run(lambda library, wanted=wanted: library.block(wanted, STAFF))
        assert caught.value.ids == (wanted,)

    assert world.run(lambda library: library.block(block.block_id, BOARD)).block == block


def test_labels_tightened_later_hold_for_old_versions_too(world: World) -> None:
    open_version = a_document("纪要.md", "会议纪要。", source="会议")
    [old] = world.publish(open_version).blocks()
    world.publish(a_document("纪要.md", "会议纪要，限董事会。", source="会议", access=("board",)), now_ms=NOW_MS + 1)

    with pytest.raises(NotFound):
        world.run(lambda library: library.block(old.block_id, STAFF))

    assert world.run(lambda library: library.block(old.block_id, BOARD)).block == old


def taken_out_again(world: World, other: ADocument, first: Published) -> None:
    world.publish(other, now_ms=NOW_MS + 2)


def rolled_back(world: World, other: ADocument, first: Published) -> None:
    with closing(open_database(world.layout.catalog)) as db:
        activate(db, first.snapshot_id, cause="activate", now_ms=NOW_MS + 2)


def left_as_it_is(world: World, other: ADocument, first: Published) -> None:
    pass


@pytest.mark.parametrize("then", [left_as_it_is, taken_out_again, rolled_back])
@pytest.mark.parametrize("tool", ON_A_DOCUMENT)
def test_labels_tightened_later_hold_on_an_older_snapshot_whatever_is_active(
    world: World, tool: str, then: Callable[[World, ADocument, Published], None]
) -> None:
    other = a_document("食堂.md", "海燕食堂的菜单。", source="食堂")
    first = world.publish(a_document("纪要.md", "海燕项目的纪要。", source="会议"), other)
    world.publish(a_document("纪要.md", "海燕项目的纪要。", source="会议", access=("board",)), other, now_ms=NOW_MS + 1)
    then(world, other, first)
    [minutes] = first.blocks("纪要.md")
    arguments = ON_A_DOCUMENT[tool](minutes.doc_id)

    async def call(pinned: Pinned) -> ToolResult:
        return await Toolbox(pinned).call(tool, arguments)

    async def search(pinned: Pinned) -> ToolResult:
        return await Toolbox(pinned).call("search_blocks", {"query": "海燕项目的纪要"})

    async def page(library: Library) -> str:
        return (await library.block(minutes.block_id, STAFF, snapshot_id=first.snapshot_id)).block.text

    assert world.pinned(call, access=STAFF, snapshot_id=first.snapshot_id).error_code == "scope_not_found"
    assert world.pinned(call, access=BOARD, snapshot_id=first.snapshot_id).error_code is None
    with pytest.raises(NotFound):
        world.run(page)
    seen = world.pinned(search, access=STAFF, snapshot_id=first.snapshot_id).seen
    assert {one.doc_id for one in seen} == {first.doc_id("食堂.md")}


def test_labels_loosened_later_open_no_older_snapshot(world: World) -> None:
    first = world.publish(a_document("纪要.md", "海燕项目。", source="会议", access=("board",)))
    world.publish(a_document("纪要.md", "海燕项目。", source="会议"), now_ms=NOW_MS + 1)

    async def documents(pinned: Pinned) -> int:
        return len(await pinned.read(lambda catalog: catalog.documents(pinned.within())))

    assert world.pinned(documents, access=STAFF, snapshot_id=first.snapshot_id) == 0
    assert world.pinned(documents, access=STAFF) == 1
