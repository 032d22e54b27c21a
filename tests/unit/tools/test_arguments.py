"""A wrong argument is answered by a sentence with the field, the problem and the remedy."""

from typing import Any

import msgspec
import pytest

from api.tools import get_outline, list_blocks, list_documents, scan_term, search_blocks
from api.tools.arguments import canonical, decode
from api.tools.contract import Tool
from api.tools.toolbox import DESCRIPTORS
from shared.errors import InvalidArgument

TOOLS: dict[str, Tool[Any]] = {
    tool.descriptor.name: tool
    for tool in (list_documents.TOOL, get_outline.TOOL, search_blocks.TOOL, list_blocks.TOOL, scan_term.TOOL)
}


def refused(tool: str, arguments: object) -> InvalidArgument:
    with pytest.raises(InvalidArgument) as caught:
        decode(arguments, TOOLS[tool].arguments, schema=TOOLS[tool].descriptor.schema)
    return caught.value


@pytest.mark.parametrize(
    ("tool", "arguments", "field", "told"),
    [
        ("search_blocks", {}, "query", "is missing"),
        ("search_blocks", {"query": None}, "query", "is null"),
        ("search_blocks", {"query": ""}, "query", "is blank"),
        ("search_blocks", {"query": " \n\u3000"}, "query", "is blank"),
        ("search_blocks", {"query": 7}, "query", "got int"),
        ("search_blocks", {"query": "年假", "doc_ids": []}, "doc_ids", "is an empty list"),
        ("search_blocks", {"query": "年假", "doc_ids": None}, "doc_ids", "is null"),
        ("search_blocks", {"query": "年假", "doc_ids": "k3f9a2qd"}, "doc_ids", "got str"),
        ("search_blocks", {"query": "年假", "doc_ids": ["k3f9a2qd", " "]}, "doc_ids", "blank entry"),
        ("search_blocks", {"query": "年假", "doc_ids": [3]}, "doc_ids", "got int"),
        ("search_blocks", {"query": "年假", "mode": "dense"}, "mode", "no field mode"),
        ("search_blocks", {"query": "年假", "doc_id": "k3f9a2qd"}, "doc_id", "Did you mean doc_ids?"),
        ("list_documents", {"source": ""}, "source", "is blank"),
        ("list_documents", {"source": None}, "source", "is null"),
        ("list_documents", {"title": "制度"}, "title", "title_contains"),
        ("get_outline", {"doc_ids": []}, "doc_ids", "is an empty list"),
        ("get_outline", {}, "doc_ids", "is missing"),
        ("list_blocks", {"section_paths": ["年假"]}, "doc_id", "is missing"),
        ("list_blocks", {"doc_id": "k3f9a2qd", "section_paths": None}, "section_paths", "is null"),
        ("list_blocks", {"doc_id": "k3f9a2qd", "section_paths": ["年假", ""]}, "section_paths", "blank entry"),
        ("list_blocks", {"doc_id": "k3f9a2qd", "section_paths": [["年假"]]}, "section_paths", "got array"),
        ("scan_term", {"term": "\t"}, "term", "is blank"),
        ("scan_term", {"term": ["年假"]}, "term", "got array"),
    ],
)
def test_the_field_and_the_problem_are_named(tool: str, arguments: object, field: str, told: str) -> None:
    error = refused(tool, arguments)

    assert error.field == field
    assert told in error.message


@pytest.mark.parametrize("arguments", [None, [], "年假", 3, [{"query": "年假"}]])
def test_arguments_that_are_no_object_are_told_the_fields(arguments: object) -> None:
    assert "query, doc_ids" in refused("search_blocks", arguments).message


def test_the_remedy_says_what_the_field_is_for() -> None:
    description = TOOLS["search_blocks"].descriptor.schema["properties"]["doc_ids"]["description"]

    assert refused("search_blocks", {"query": "年假", "doc_ids": []}).message.endswith(description)


def test_absent_is_not_said_and_an_empty_list_of_paths_is() -> None:
    args = list_blocks.ListBlocksArgs

    assert decode({"doc_id": "a"}, args, schema=list_blocks.TOOL.descriptor.schema).section_paths is msgspec.UNSET
    assert (
        decode({"doc_id": "a", "section_paths": []}, args, schema=list_blocks.TOOL.descriptor.schema).section_paths
        == ()
    )


def test_canonical_arguments_do_not_depend_on_the_order_of_fields() -> None:
    assert canonical({"b": [1], "a": "年假"}) == canonical({"a": "年假", "b": [1]}) == '{"a":"年假","b":[1]}'


def test_every_tool_is_described_in_both_languages_with_a_closed_schema() -> None:
    assert [descriptor.name for descriptor in DESCRIPTORS] == list(TOOLS)
    for descriptor in DESCRIPTORS:
        assert set(descriptor.description) == {"en", "zh"}
        assert "What it proves" in descriptor.description["en"]
        assert "能证明什么" in descriptor.description["zh"]
        assert descriptor.schema["additionalProperties"] is False
        assert all(field["description"] for field in descriptor.schema["properties"].values())


def test_the_schemas_say_what_is_required_and_what_may_be_left_out() -> None:
    assert {d.name: (d.schema.get("required", []), sorted(d.schema["properties"])) for d in DESCRIPTORS} == {
        "list_documents": ([], ["lang", "source", "title_contains"]),
        "get_outline": (["doc_ids"], ["doc_ids"]),
        "search_blocks": (["query"], ["doc_ids", "query"]),
        "list_blocks": (["doc_id"], ["doc_id", "section_paths"]),
        "scan_term": (["term"], ["doc_ids", "term"]),
    }
