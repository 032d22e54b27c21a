"""A result that is too large is refused whole, and a large one is nobody else's burden."""

import asyncio
import time

import msgspec
import pytest

from api.retrieval.library import Pinned
from api.tools.registry import Toolbox, ToolResult
from shared.access import Access
from tests.contract.tools.corpus import CORPUS, LEAVE
from tests.contract.tools.world import World
from tests.factories import NOW_MS, a_document

MANY = [a_document(f"{name}.md", *["年假 and Annual leave。"] * 700) for name in "甲乙"]


@pytest.mark.parametrize(
    "tool",
    ["list_documents", "get_outline", "search_blocks", "list_blocks", "scan_term"],
)
def test_what_is_one_byte_too_large_is_refused_and_what_fits_comes_whole(world: World, tool: str) -> None:
    published = world.publish(*CORPUS)
    doc_id = published.doc_id(LEAVE.key)
    arguments = {
        "get_outline": {"doc_ids": [doc_id]},
        "search_blocks": {"query": "年假"},
        "list_blocks": {"doc_id": doc_id},
        "scan_term": {"term": "年假"},
    }.get(tool, {})
    whole = world.call(tool, arguments).result

    world.most_result_bytes = len(whole.payload)
    assert world.call(tool, arguments).result == whole
    world.most_result_bytes -= 1
    refused = world.call(tool, arguments)

    assert set(refused.payload) == {"error"}
    assert refused.error["code"] == refused.result.error_code == "too_large"
    assert (refused.result.seen, refused.result.retryable) == ((), False)


TOLD = {
    "年假": ": 1,400 blocks have the term",  # one gram: the index says how many
    "年": ": 1,400 blocks have the term",
    "annual leave": "of up to 1,400 blocks with the term",
    "ve": "of up to 1,400 blocks with the term",
    "v": "and there are more",  # read through
}


def test_a_scan_that_is_refused_says_how_much_there_is_and_what_helps(world: World) -> None:
    world.publish(*MANY)
    world.most_result_bytes = 100_000

    refused = {term: world.call("scan_term", {"term": term}).error for term in TOLD}

    for term, error in refused.items():
        assert (error["code"], error["field"]) == ("too_large", "term")
        assert all(said in error["message"] for said in (TOLD[term], "100,000 bytes", "max_result_bytes", "doc_ids"))


def test_what_is_advised_narrows_the_very_call_that_was_refused(world: World) -> None:
    handbook = a_document("手册.md", sections={"休假": ["年假。" * 60, "病假。" * 60], "报销": ["Hotels. " * 40]})
    published = world.publish(handbook, LEAVE)
    doc_id, other = (published.doc_id(one.key) for one in (handbook, LEAVE))
    world.most_result_bytes = 300
    calls: list[tuple[str, dict[str, object], str, str, str]] = [
        ("get_outline", {"doc_ids": [doc_id, other]}, "2 outlines with", "fewer documents", "doc_ids"),
        ("get_outline", {"doc_ids": [doc_id]}, "1 outline with", "search_blocks", "doc_ids"),
        ("list_blocks", {"doc_id": doc_id}, "blocks with", "(section_paths)", "doc_id"),
        (
            "list_blocks",
            {"doc_id": doc_id, "section_paths": ["休假"]},
            "blocks with",
            "fewer sections",
            "section_paths",
        ),
    ]

    for tool, arguments, what, remedy, field in calls:
        error = world.call(tool, arguments).error
        assert (error["code"], error["field"]) == ("too_large", field)
        assert what in error["message"]
        assert remedy in error["message"]


def test_a_refusal_counts_nothing_that_its_caller_may_not_see(world: World) -> None:
    reader = Access(labels=frozenset({"team"}))
    shown = a_document("食堂.md", *["年假 and Annual leave。"] * 300)
    hidden = a_document("董事会.md", *["年假 and Annual leave。"] * 300, access=("board",))
    world.most_result_bytes = 20_000

    def refusals() -> list[str]:
        return [world.call("scan_term", {"term": term}, access=reader).error["message"] for term in TOLD]

    world.publish(shown)
    alone = refusals()
    world.publish(shown, hidden, now_ms=NOW_MS + 1)

    assert refusals() == alone


def test_a_scope_makes_of_a_refused_scan_one_that_answers(world: World) -> None:
    published = world.publish(*MANY, LEAVE)
    world.most_result_bytes = 100_000

    found = world.call("scan_term", {"term": "年假", "doc_ids": [published.doc_id(LEAVE.key)]})

    assert found.payload["total"] == 3


def test_other_requests_are_served_while_a_large_result_is_made(world: World) -> None:
    """No step of the event loop works as long as writing the result down once takes; in processor time, of the loop's thread.

    The least of several times: now and then a step carries the collector's work or a busy machine's.
    """
    world.publish(a_document("甲.md", *["年假。"] * 1_000, title="员工手册 " * 150))

    async def scan(pinned: Pinned) -> tuple[ToolResult, float]:
        scanning = asyncio.create_task(Toolbox(pinned).call("scan_term", {"term": "年假"}))
        longest_s = 0.0
        while not scanning.done():
            at_s = time.thread_time()
            await asyncio.sleep(0)
            longest_s = max(longest_s, time.thread_time() - at_s)
        return scanning.result(), longest_s

    scanned = [world.pinned(scan) for _ in range(5)]
    result, longest_s = min(scanned, key=lambda one: one[1])
    payload = msgspec.json.decode(result.payload)
    at_s = time.thread_time()
    msgspec.json.encode(payload)
    encoding_s = time.thread_time() - at_s

    assert payload["total"] == 1_000
    assert longest_s < encoding_s / 2
