from tests.contract.tools.corpus import CORPUS, EXPENSES, LEAVE
from tests.contract.tools.world import World
from tests.factories import a_document


def test_sections_come_in_original_order_with_own_and_subtree_sizes(world: World) -> None:
    published = world.publish(LEAVE)
    blocks = published.blocks()

    outline = world.call("get_outline", {"doc_ids": [published.doc_id(LEAVE.key)]}).payload

    [document] = outline["documents"]
    assert (outline["total"], document["title"], document["source_label"], document["total"]) == (
        1,
        LEAVE.title,
        LEAVE.source,
        4,
    )
    assert document["sections"][1] == {
        "path": "年假",
        "ordinal": 1,
        "depth": 1,
        "own_blocks": 2,
        "own_tokens": sum(block.tokens for block in blocks[1:3]),
        "subtree_blocks": 3,
        "subtree_tokens": sum(block.tokens for block in blocks[1:4]),
        "first_sentence": blocks[1].text[:40],
    }
    assert [section["path"] for section in document["sections"]] == ["/", "年假", "年假 › 审批", "病假"]


def test_documents_come_in_the_order_asked_for_each_once(world: World) -> None:
    published = world.publish(*CORPUS)
    leave, expenses = published.doc_id(LEAVE.key), published.doc_id(EXPENSES.key)

    outline = world.call("get_outline", {"doc_ids": [expenses, leave, expenses]}).payload

    assert [document["doc_id"] for document in outline["documents"]] == [expenses, leave]


def test_a_document_without_headings_has_its_root_section(world: World) -> None:
    published = world.publish(a_document("便条.txt", "今天停电。"))

    outline = world.call("get_outline", {"doc_ids": [published.doc_id("便条.txt")]}).payload

    assert [section["path"] for section in outline["documents"][0]["sections"]] == ["/"]


def test_an_outline_holds_no_block_ids_and_no_evidence(world: World) -> None:
    published = world.publish(LEAVE)

    called = world.call("get_outline", {"doc_ids": [published.doc_id(LEAVE.key)]})

    assert b".v1#" not in called.result.payload
    assert called.result.seen == ()


def test_every_missing_document_is_named_and_none_is_outlined(world: World) -> None:
    published = world.publish(LEAVE)

    called = world.call("get_outline", {"doc_ids": ["zzzzzzzz", published.doc_id(LEAVE.key), "yyyyyyyy"]})

    assert called.error["code"] == "scope_not_found"
    assert called.error["missing"] == ["zzzzzzzz", "yyyyyyyy"]
    assert set(called.payload) == {"error"}
