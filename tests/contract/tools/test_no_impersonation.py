"""Search gives candidates; the scan and the listing are complete. Neither passes for the other."""

from tests.contract.tools.world import World
from tests.factories import a_document
from tests.promises import promise

TERM = "报销"
MANY = a_document("清单.md", *(f"第{number}项 {TERM}规定。" for number in range(12)))


@promise("P3")
def test_the_scan_and_the_listing_are_complete_where_search_stops_at_its_candidates(world: World) -> None:
    published = world.publish(MANY)
    every = [block.block_id for block in published.blocks()]

    searched = world.call("search_blocks", {"query": TERM})
    scanned = world.call("scan_term", {"term": TERM})
    listed = world.call("list_blocks", {"doc_id": published.doc_id(MANY.key)})

    assert scanned.block_ids() == listed.block_ids() == every
    assert (scanned.payload["total"], listed.payload["total"]) == (len(every), len(every))
    assert len(searched.block_ids()) == 5
    assert "total" not in searched.payload  # nothing that reads like a count of all there is


@promise("P3")
def test_the_scan_finds_no_near_thing_and_search_does(world: World) -> None:
    world.publish(a_document("差旅.md", "出差费用可以报账。"))

    searched = world.call("search_blocks", {"query": "出差费用报销"})
    scanned = world.call("scan_term", {"term": "费用报销"})

    assert len(searched.block_ids()) == 1
    assert scanned.payload["empty_reason"] == "no_match"


@promise("P3")
def test_only_a_search_buys_an_embedding(world: World) -> None:
    doc_id = world.publish(MANY).doc_id(MANY.key)

    for tool, arguments in (
        ("list_documents", {}),
        ("get_outline", {"doc_ids": [doc_id]}),
        ("list_blocks", {"doc_id": doc_id}),
        ("scan_term", {"term": TERM}),
    ):
        assert world.call(tool, arguments).result.embedding_tokens == 0
    assert world.embedder.queries == []
