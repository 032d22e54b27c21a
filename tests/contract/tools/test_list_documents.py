from typing import Any

import pytest

from shared.access import Access
from tests.contract.tools.corpus import CORPUS, EXPENSES, LEAVE, SECRET
from tests.contract.tools.world import World
from tests.factories import a_document


def keys(world: World, **arguments: Any) -> list[str]:
    return [document["title"] for document in world.call("list_documents", arguments).payload["documents"]]


def test_a_document_is_shown_with_what_helps_to_choose_it(world: World) -> None:
    published = world.publish(LEAVE)

    assert world.call("list_documents", {}).payload == {
        "total": 1,
        "documents": [
            {
                "doc_id": published.doc_id("制度/请假.md"),
                "title": "请假管理制度",
                "source_label": "人事手册",
                "aliases": ["HR", "Personnel"],
                "lang": "zh",
                "version": 1,
                "updated_at": "2026-09-20T14:13:20Z",
                "trust": "official",
                "sections": 4,
                "blocks": 5,
            }
        ],
    }


def test_documents_come_by_source_then_title_then_id(world: World) -> None:
    documents = [
        a_document("1", "甲", title="b", source="Z"),
        a_document("2", "乙", title="a", source="Z"),
        a_document("3", "丙", title="z", source="A"),
        a_document("4", "丁", title="a", source="Z"),
    ]
    published = world.publish(*documents)

    listed = [one["doc_id"] for one in world.call("list_documents", {}).payload["documents"]]

    same = sorted([published.doc_id("2"), published.doc_id("4")])
    assert listed == [published.doc_id("3"), *same, published.doc_id("1")]


@pytest.mark.parametrize("source", ["人事手册", "hr", "HR", " personnel "])
def test_a_source_is_known_by_its_name_and_its_aliases_in_any_case(world: World, source: str) -> None:
    world.publish(*CORPUS)

    assert keys(world, source=source) == [LEAVE.title]


def test_a_title_matches_in_part_and_in_any_case_but_never_by_an_alias(world: World) -> None:
    world.publish(*CORPUS)

    assert keys(world, title_contains="POLICY") == [EXPENSES.title]
    assert keys(world, title_contains="管理") == [LEAVE.title]
    assert keys(world, title_contains="Personnel") == []


def test_conditions_hold_together(world: World) -> None:
    world.publish(*CORPUS)

    assert keys(world, lang="EN", title_contains="expense") == [EXPENSES.title]
    assert keys(world, lang="zh", title_contains="expense") == []


def test_no_hit_in_a_library_with_documents_is_no_match(world: World) -> None:
    world.publish(*CORPUS)

    called = world.call("list_documents", {"source": "没有这个来源"})

    assert called.payload == {"total": 0, "documents": [], "empty_reason": "no_match"}
    assert called.result.error_code is None
    assert called.result.empty_reason == "no_match"


def test_a_run_sees_only_the_documents_of_its_scope(world: World) -> None:
    published = world.publish(*CORPUS)

    called = world.call("list_documents", {}, scope=[published.doc_id(EXPENSES.key)])

    assert [one["title"] for one in called.payload["documents"]] == [EXPENSES.title]


def test_a_caller_who_may_see_nothing_has_an_empty_collection(world: World) -> None:
    world.publish(SECRET)

    called = world.call("list_documents", {}, access=Access(labels=frozenset()))

    assert called.payload == {"total": 0, "documents": [], "empty_reason": "collection_empty"}
