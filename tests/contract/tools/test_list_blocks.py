from itertools import accumulate

from api.tools.registry import SeenBlock
from tests.contract.tools.corpus import CORPUS, EXPENSES, LEAVE
from tests.contract.tools.world import World
from tests.factories import a_document


def test_a_document_is_read_whole_in_original_order(world: World) -> None:
    published = world.publish(*CORPUS)
    blocks = published.blocks(LEAVE.key)

    payload = world.call("list_blocks", {"doc_id": published.doc_id(LEAVE.key)}).payload

    assert payload == {
        "doc_id": published.doc_id(LEAVE.key),
        "title": LEAVE.title,
        "source_label": LEAVE.source,
        "version": 1,
        "updated_at": "2026-09-20T14:13:20Z",
        "trust": "official",
        "total": 5,
        "blocks": [
            {
                "block_id": block.block_id,
                "section_path": block.section_path,
                "page_first": 3,
                "page_last": 3,
                "text": block.text,
            }
            for block in blocks
        ],
    }


def test_an_empty_list_of_paths_is_the_whole_document(world: World) -> None:
    published = world.publish(LEAVE)
    doc_id = published.doc_id(LEAVE.key)

    whole, listed = (
        world.call("list_blocks", {"doc_id": doc_id}),
        world.call("list_blocks", {"doc_id": doc_id, "section_paths": []}),
    )

    assert listed.result == whole.result


def test_a_path_includes_its_descendants_and_paths_are_united(world: World) -> None:
    published = world.publish(LEAVE)
    doc_id = published.doc_id(LEAVE.key)
    blocks = [block.block_id for block in published.blocks()]

    one = world.call("list_blocks", {"doc_id": doc_id, "section_paths": ["年假"]})
    both = world.call("list_blocks", {"doc_id": doc_id, "section_paths": ["病假", "年假 › 审批", "年假", "年假"]})

    assert one.block_ids() == blocks[1:4]
    assert both.block_ids() == blocks[1:5]
    assert (one.payload["total"], both.payload["total"]) == (3, 4)


def test_one_unknown_path_fails_the_call_and_every_unknown_path_is_named(world: World) -> None:
    published = world.publish(LEAVE)

    called = world.call(
        "list_blocks", {"doc_id": published.doc_id(LEAVE.key), "section_paths": ["年假", "产假", "病", "产假"]}
    )

    assert (called.error["code"], called.error["field"], called.error["missing"]) == (
        "scope_not_found",
        "section_paths",
        ["产假", "病"],
    )
    assert called.result.seen == ()


def test_a_section_without_text_is_an_empty_scope(world: World) -> None:
    published = world.publish(a_document("空章.md", sections={"有": ["有内容。"], "无": []}))

    payload = world.call("list_blocks", {"doc_id": published.doc_id("空章.md"), "section_paths": ["无"]}).payload

    assert (payload["total"], payload["blocks"], payload["empty_reason"]) == (0, [], "scope_empty")


def test_a_table_block_shows_its_header_beside_its_text(world: World) -> None:
    published = world.publish(
        a_document("价目.md", "| 住宿 | 150 |\n", table_header="| 项目 | 上限 |\n", flags=("table",))
    )

    [block] = world.call("list_blocks", {"doc_id": published.doc_id("价目.md")}).payload["blocks"]

    assert (block["table_header"], block["text"], block["flags"]) == (
        "| 项目 | 上限 |\n",
        "| 住宿 | 150 |\n",
        ["table"],
    )


def test_what_was_seen_is_what_the_ledger_needs(world: World) -> None:
    published = world.publish(*CORPUS)
    doc_id = published.doc_id(EXPENSES.key)
    blocks = published.blocks(EXPENSES.key)
    ends = list(accumulate(len(block.text) for block in blocks))

    seen = world.call("list_blocks", {"doc_id": doc_id, "section_paths": ["Travel › Hotels", "Meals"]}).result.seen

    assert seen == tuple(
        SeenBlock(
            block_id=block.block_id,
            doc_id=doc_id,
            version=1,
            title=EXPENSES.title,
            source_label=EXPENSES.source,
            section_path=block.section_path,
            page_first=None,
            page_last=None,
            trust="internal",
            updated_at_ms=EXPENSES.updated_at_ms,
            extent="block",
            seen=block.text,
            span_start=ends[block.index - 1],
            span_end=ends[block.index],
            rank=rank,
        )
        for rank, block in enumerate(blocks[1:], 1)
    )
