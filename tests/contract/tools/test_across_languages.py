"""A question in one language and the documents in another, in a library of both."""

import json

import pytest
from msgspec import structs

from shared.access import OWNER, Access
from shared.embeddings.fake import FakeEmbedder, word_vectors
from shared.telemetry import names
from tests.contract.tools.world import World, attributes, recorded_spans
from tests.factories import ADocument, Published, a_document

CHINESE = tuple(
    a_document(f"手册{number}.md", sections={"章": [f"这是第{number}本手册的说明，的的的的。\n"]})
    for number in range(6)
)
ENGLISH = a_document("manual.md", lang="en", sections={"Pump": ["The pump P-1042 is greased weekly.\n"]})
QUESTION = "这是的说明 pump"  # four words of the language, one of the matter


def embedder_with_an_axis() -> FakeEmbedder:
    """Whose vectors say "Chinese" along one line, as the Chinese documents' common words do."""
    chinese = word_vectors(["这是第本手册的说明，的的的的。"], 256)[0]
    return FakeEmbedder(language_axis=chinese)


def nearest(world: World, published: Published) -> tuple[str, bool]:
    """Whose block is nearest by meaning, and whether the question's language was taken out."""
    with recorded_spans() as spans:
        world.call("search_blocks", {"query": QUESTION})
    by_name = {span.name: attributes(span) for span in spans}
    block_id = json.loads(by_name[names.SEARCH_DENSE][names.CANDIDATES])[0]["block_id"]
    (key,) = [one.key for one in published.documents if block_id.startswith(one.doc_id)]
    return key, by_name[names.SEARCH][names.ACROSS_LANGUAGES]


def test_in_a_library_of_both_languages_a_chinese_question_finds_the_english_document(world: World) -> None:
    world.embedder = embedder_with_an_axis()
    published = world.publish(*CHINESE, ENGLISH)

    assert nearest(world, published) == ("manual.md", True)


@pytest.mark.parametrize(
    "documents",
    [CHINESE, (*CHINESE, a_document("manuel.md", lang="fr", sections={"Pompe": ["La pompe est graissée.\n"]}))],
)
def test_where_there_is_nothing_to_reach_across_the_query_stays_as_it_is(
    world: World, documents: tuple[ADocument, ...]
) -> None:
    world.embedder = embedder_with_an_axis()
    published = world.publish(*documents)

    assert nearest(world, published)[1] is False


def test_documents_that_are_hidden_make_no_search_reach_across(world: World) -> None:
    world.embedder = embedder_with_an_axis()
    world.publish(ENGLISH, *(structs.replace(one, source="财务", access=("finance",)) for one in CHINESE))

    def ways(access: Access) -> set[bool]:
        with recorded_spans() as spans:
            world.call("search_blocks", {"query": QUESTION}, access=access)
        found = (attributes(span).get(names.ACROSS_LANGUAGES) for span in spans)
        return {one for one in found if one is not None}

    assert ways(Access(labels=frozenset({"staff"}))) == {False}
    assert ways(Access(labels=frozenset({"finance"}))) == {True}
    assert ways(OWNER) == {True}


def test_an_embedder_without_a_known_axis_searches_as_before(world: World) -> None:
    published = world.publish(*CHINESE, ENGLISH)

    key, across_languages = nearest(world, published)

    assert key != "manual.md"
    assert not across_languages
