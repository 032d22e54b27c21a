import pytest

from shared.access import Access
from tests.contract.tools.corpus import CORPUS, EXPENSES, LEAVE, SECRET
from tests.contract.tools.world import World
from tests.factories import NOW_MS, a_document


def test_every_block_with_the_term_is_returned_with_its_count(world: World) -> None:
    published = world.publish(LEAVE)
    blocks = published.blocks()

    payload = world.call("scan_term", {"term": "年假"}).payload

    assert (payload["term"], payload["total"], payload["total_count"]) == ("年假", 3, 4)
    assert [(block["block_id"], block["count"]) for block in payload["blocks"]] == [
        (blocks[1].block_id, 2),
        (blocks[2].block_id, 1),
        (blocks[3].block_id, 1),
    ]
    assert payload["blocks"][2] == {
        "block_id": blocks[3].block_id,
        "doc_id": published.doc_id(LEAVE.key),
        "title": LEAVE.title,
        "source_label": LEAVE.source,
        "section_path": "年假 › 审批",
        "page_first": 3,
        "page_last": 3,
        "version": 1,
        "updated_at": "2026-09-20T14:13:20Z",
        "trust": "official",
        "count": 1,
        "snippet": "审批\n年假申请由部门经理在系统 v2.1.3 中审批。\n",
    }


def test_hits_come_by_document_then_block_number(world: World) -> None:
    published = world.publish(
        *(a_document(key, *(f"第{number}条 术语。" for number in range(12))) for key in ("甲", "乙", "丙"))
    )

    assert world.call("scan_term", {"term": "术语"}).block_ids() == [block.block_id for block in published.blocks()]


def test_thousands_of_hits_come_in_the_same_order_as_few_and_from_this_snapshot_only(world: World) -> None:
    open_to_all = [a_document(f"{name}.md", *["术语表，Grease。"] * 700) for name in "甲乙丙"]
    secret = a_document("丁.md", *["术语表，Grease。"] * 700, access=("board",))
    world.publish(*open_to_all, secret)
    published = world.publish(a_document("甲.md", *["术语。"] * 700), *open_to_all[1:], secret, now_ms=NOW_MS + 1)
    access = Access(labels=frozenset({"staff"}))

    found = {
        term: world.call("scan_term", {"term": term}, access=access).block_ids() for term in ("术语", "GREASE", "gr")
    }

    visible = [block for block in published.blocks() if block.doc_id != published.doc_id(secret.key)]
    assert found["术语"] == [block.block_id for block in visible]
    assert found["GREASE"] == found["gr"] == [block.block_id for block in visible if "Grease" in block.text]


@pytest.mark.parametrize("term", ["err_timeout", "ERR_TIMEOUT", "  ERR_timeout\n"])
def test_case_and_outer_space_do_not_matter(world: World, term: str) -> None:
    world.publish(*CORPUS)

    payload = world.call("scan_term", {"term": term}).payload

    assert (payload["total"], payload["term"]) == (1, term.strip())


@pytest.mark.parametrize("term", ["%", "_", "v2_1_3", "v2.1", "150 EUR", "。\n"])
def test_a_term_is_never_a_pattern(world: World, term: str) -> None:
    published = world.publish(*CORPUS)
    expected = [block.block_id for block in published.blocks() if term.strip().lower() in block.text.lower()]

    assert world.call("scan_term", {"term": term}).block_ids() == expected


def test_a_snippet_is_verbatim_text_of_its_span(world: World) -> None:
    text = "前情。" * 40 + "Maßnahme Cafe\u0301 见附件" + "后续。" * 40
    published = world.publish(a_document("长文.md", "开头一块。", text))
    canonical = published.contents[0].text

    [seen] = world.call("scan_term", {"term": "MASSNAHME CAFÉ"}).result.seen

    assert (seen.extent, seen.seen) == ("snippet", canonical[seen.span_start : seen.span_end])
    assert seen.seen == text[60 : 60 + 60 + len("Maßnahme Cafe\u0301") + 60]


def test_documents_named_narrow_the_scan(world: World) -> None:
    published = world.publish(*CORPUS)

    payload = world.call("scan_term", {"term": "年假", "doc_ids": [published.doc_id(SECRET.key)]}).payload

    assert (payload["total"], payload["total_count"]) == (1, 1)


def test_zero_hits_in_a_scope_with_text_is_no_match(world: World) -> None:
    published = world.publish(*CORPUS)

    called = world.call("scan_term", {"term": "年假", "doc_ids": [published.doc_id(EXPENSES.key)]})

    assert called.payload == {"term": "年假", "total": 0, "total_count": 0, "blocks": [], "empty_reason": "no_match"}


def test_a_scope_without_text_and_a_library_without_text_are_told_apart(world: World) -> None:
    empty = a_document("空.md", sections={"无": []})
    published = world.publish(empty, LEAVE)
    in_scope = world.call("scan_term", {"term": "年假", "doc_ids": [published.doc_id("空.md")]})
    world.publish(empty, now_ms=empty.updated_at_ms + 1)
    in_library = world.call("scan_term", {"term": "年假"})

    assert (in_scope.payload["empty_reason"], in_library.payload["empty_reason"]) == ("scope_empty", "collection_empty")
