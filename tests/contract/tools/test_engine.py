"""Search through the engine that ships: same blocks, same order as the exact reference, at ties too."""

from pathlib import Path

import pytest

from shared.access import OWNER, Access
from shared.vectors.edge import EdgeVectors
from shared.vectors.memory import MemoryVectors
from tests.contract.tools.corpus import CORPUS, EXPENSES, LEAVE
from tests.contract.tools.world import World
from tests.factories import a_document

TWINS = [a_document(f"副本{number}.md", *["同一句话，出现多次。"] * 8) for number in range(4)]


@pytest.mark.parametrize("access", [OWNER, Access(labels=frozenset({"staff"}))], ids=["owner", "staff"])
@pytest.mark.parametrize("query", ["年假 economy", "同一句话", "ERR_TIMEOUT", "？！"])
def test_the_embedded_engine_finds_what_the_reference_finds(tmp_path: Path, query: str, access: Access) -> None:
    answers: list[object] = []
    for vectors in (MemoryVectors(), EdgeVectors(tmp_path / "engine")):
        world = World(tmp_path / type(vectors).__name__, vectors)
        published = world.publish(*CORPUS, *TWINS)
        scope = [published.doc_id(one.key) for one in (LEAVE, EXPENSES, *TWINS)]
        answers.append(
            [
                world.call("search_blocks", {"query": query}, access=access).block_ids(),
                world.call("search_blocks", {"query": query, "doc_ids": scope}, access=access).block_ids(),
            ]
        )

    assert answers[0] == answers[1]
